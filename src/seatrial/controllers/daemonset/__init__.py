"""The DaemonSet controller. Upstream: pkg/controller/daemon (v1.36)."""
