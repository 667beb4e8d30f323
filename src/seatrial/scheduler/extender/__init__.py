"""Extenders over HTTP. Upstream: pkg/scheduler/extender.go."""
