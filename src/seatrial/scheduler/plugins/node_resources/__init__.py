"""NodeResourcesFit and NodeResourcesBalancedAllocation: the filter, the scoring strategies, the queueing hints."""
