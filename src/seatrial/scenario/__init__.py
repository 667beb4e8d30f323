"""Scenarios: operations, steps, waiters and the run."""
