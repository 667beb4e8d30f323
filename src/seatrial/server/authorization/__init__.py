"""Decides whether a user may do what a request asks: RBAC, or everything."""
