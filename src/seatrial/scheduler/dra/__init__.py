"""Dynamic Resource Allocation: which devices a claim gets on a node.

Upstream: k8s.io/dynamic-resource-allocation v0.36.3, the "incubating" allocator, which v1.36.3 picks with its default
feature gates. Everything here is pure: documents in, allocation or refusal out.
"""
