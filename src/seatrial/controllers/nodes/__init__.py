"""Nodes: how they are, what that means for pods, and pods whose node is gone.

Upstream: pkg/controller/nodelifecycle, pkg/controller/podgc (v1.36).
"""
