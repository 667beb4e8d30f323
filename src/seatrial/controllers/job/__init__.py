"""The Job controller. Upstream: pkg/controller/job (v1.36)."""
