"""Volcano's controllers: Job, PodGroup and Queue.

Upstream: pkg/controllers.
"""
