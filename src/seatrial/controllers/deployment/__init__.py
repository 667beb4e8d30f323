"""The Deployment controller. Upstream: pkg/controller/deployment (v1.36)."""
