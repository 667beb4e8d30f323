"""Session, statement, tiers of plugins and the search for nodes. Upstream: pkg/scheduler/framework and util."""
