"""One scheduling attempt, from the queue to the bind. Upstream: pkg/scheduler/schedule_one.go."""
