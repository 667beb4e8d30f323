"""The plugins of Volcano's scheduler, one file each, by what they decide. Upstream: pkg/scheduler/plugins."""
