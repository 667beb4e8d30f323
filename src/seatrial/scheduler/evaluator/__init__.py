"""Evaluators: which nodes pass the filters, and what they score."""
