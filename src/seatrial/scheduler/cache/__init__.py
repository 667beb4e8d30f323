"""The scheduler's cache of nodes and pods. Upstream: pkg/scheduler/backend/cache and eventhandlers.go."""
