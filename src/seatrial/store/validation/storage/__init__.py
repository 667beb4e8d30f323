"""Validation of storage kinds: volumes, claims, classes."""
