"""The StatefulSet controller. Upstream: pkg/controller/statefulset (v1.36)."""
