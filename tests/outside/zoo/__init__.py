"""Programs of others, at pinned versions from the Go module proxy, installed by their own manifests on `serve`."""
