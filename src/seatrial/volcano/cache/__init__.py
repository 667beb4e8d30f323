"""The cluster as Volcano's scheduler sees it: jobs, tasks, nodes and queues. Upstream: pkg/scheduler/api and cache."""
