"""Where objects LIVE: revisions, watch, admission, snapshots, durable log."""
