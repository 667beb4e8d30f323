"""Devices of nodes that pods share, and their allocations. Upstream: pkg/scheduler/api/devices."""
