"""Draining nodes as `kubectl drain` does, and replacing them as managed node pools do."""
