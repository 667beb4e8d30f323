"""Whole runs of many shapes, played to a real kube-scheduler and to ours, and compared step by step."""
