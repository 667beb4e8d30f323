"""The PodTopologySpread plugin, its constraints and queueing hints."""
