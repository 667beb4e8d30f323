"""Validation of the other core kinds: nodes, services, quotas, policies, data."""
