"""Writes to objects: create, update, patch, delete, subresources, and the strategy of each kind."""
