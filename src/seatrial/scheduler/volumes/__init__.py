"""Persistent volumes: which claim is bound to which volume, where, and how many fit on a node.

Upstream: pkg/scheduler/framework/plugins/volumebinding and pkg/controller/volume/persistentvolume/util (v1.36.3).
"""
