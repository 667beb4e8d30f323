"""DaemonSets: where their pods belong, and what is on each node.

Upstream: pkg/controller/daemon (v1.36).
"""
