"""Seatrial: what a Kubernetes scheduler will do, before it does it."""

__version__ = "0.1.0"
