"""Volcano: its kinds, admission, controllers and scheduler, laid out like volcano-sh/volcano."""
