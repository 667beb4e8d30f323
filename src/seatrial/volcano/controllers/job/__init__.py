"""The controller of Volcano Jobs.

Upstream: pkg/controllers/job and pkg/controllers/cache.
"""
