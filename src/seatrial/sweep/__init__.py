"""Runs one scenario many times with other values: a search over configurations, seeds, scenarios and cluster sizes."""
