"""Volumes and claims: bound to each other, provisioned, protected while in use, made for pods' own volumes.

Upstream: pkg/controller/volume (v1.36).
"""
