"""Printer columns of the built-in kinds, as `kubectl get` shows them. Upstream: pkg/printers/internalversion."""
