"""The DynamicResources plugin and its queueing hints."""
