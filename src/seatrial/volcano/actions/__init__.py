"""The actions of a scheduling cycle, one file each. Upstream: pkg/scheduler/actions."""
