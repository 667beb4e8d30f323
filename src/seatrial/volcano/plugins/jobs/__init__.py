"""Plugins that order jobs, hold gangs together and choose victims. Upstream: pkg/scheduler/plugins."""
