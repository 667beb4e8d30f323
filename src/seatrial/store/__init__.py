"""The object store: revisions, watch, admission, snapshots, durable log."""
