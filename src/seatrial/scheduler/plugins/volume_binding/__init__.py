"""VolumeBinding: the plugin, its queueing hints and the arguments it takes."""
