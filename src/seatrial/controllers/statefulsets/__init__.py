"""StatefulSets: numbered pods and the claims that belong to them.

Upstream: pkg/controller/statefulset (v1.36).
"""
