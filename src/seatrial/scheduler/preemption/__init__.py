"""Preemption: candidates, victims, and the executor. Upstream: pkg/scheduler/framework/preemption."""
