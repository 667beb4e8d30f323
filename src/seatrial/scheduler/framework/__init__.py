"""The scheduling framework: plugin interfaces, runtime, statuses, cluster events. Upstream: pkg/scheduler/framework."""
