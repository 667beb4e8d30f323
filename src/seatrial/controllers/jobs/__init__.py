"""Job: pods that run to completion.

Upstream: pkg/controller/job (v1.36).
"""
