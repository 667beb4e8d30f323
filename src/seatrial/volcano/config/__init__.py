"""Volcano's scheduler configuration: actions, tiers of plugins and their arguments. Upstream: pkg/scheduler/conf."""
