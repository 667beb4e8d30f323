"""Plugins that order, share and limit queues. Upstream: pkg/scheduler/plugins."""
