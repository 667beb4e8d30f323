"""Kubernetes' own end-to-end tests against `seatrial serve`."""
