"""The HorizontalPodAutoscaler controller. Upstream: pkg/controller/podautoscaler (v1.36)."""
