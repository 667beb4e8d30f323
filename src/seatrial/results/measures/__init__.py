"""Seatrial's own measures, one file each; the docstring of each is its definition."""
