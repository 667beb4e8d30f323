"""Node controllers: lifecycle stages, taints by condition, zones, and pod garbage collection."""
