"""Plugins that filter and score nodes. Upstream: pkg/scheduler/plugins."""
