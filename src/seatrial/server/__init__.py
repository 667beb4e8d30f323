"""The Kubernetes API server: the store over HTTP."""
