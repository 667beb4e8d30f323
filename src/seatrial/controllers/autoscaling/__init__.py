"""Horizontal autoscaling.

Upstream: pkg/controller/podautoscaler (v1.36).
"""
