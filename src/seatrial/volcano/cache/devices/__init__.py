"""Devices of nodes that pods share, and who holds what of them. Upstream: pkg/scheduler/api/devices."""
