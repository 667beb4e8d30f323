"""Metrics of the scheduler."""
