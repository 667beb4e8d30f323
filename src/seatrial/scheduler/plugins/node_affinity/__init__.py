"""NodeAffinity: filter, scores and queueing hint, and the arguments it takes."""
