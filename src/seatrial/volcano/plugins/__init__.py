"""The plugins of Volcano's scheduler, one file each. Upstream: pkg/scheduler/plugins."""
