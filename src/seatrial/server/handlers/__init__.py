"""Request handlers: the verbs, subresources, discovery, reviews, and the simulator API."""
