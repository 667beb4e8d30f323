"""Deployments: templates, their ReplicaSets, and the way from one to the next.

Upstream: pkg/controller/deployment (v1.36).
"""
