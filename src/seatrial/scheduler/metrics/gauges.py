"""Metrics that are counted when they are read. Upstream keeps them up to date with every change."""

from collections import Counter

from seatrial.scheduler.cache.event_handlers import EventHandlers
from seatrial.scheduler.cache.node_table import NodeTable
from seatrial.scheduler.queue import SchedulingQueue

Gauges = dict[str, dict[tuple[str, ...], int]]


def gauges_of(queue: SchedulingQueue, table: NodeTable, watcher: EventHandlers) -> Gauges:
    """The sizes of queues and caches, and the pods that each plugin rejects."""
    gated = sum(1 for queued in queue.unschedulable if queued.is_gated)
    rejected: Counter[tuple[str, ...]] = Counter(
        (plugin, queued.pod.shape.scheduler_name) for queued in queue.pending() for plugin in queued.rejectors
    )
    bound = [pod.node for pod in watcher.pods.values() if pod.node]
    # A node that is gone is kept as long as it has pods.
    known = {*table.row_of, *bound, *(pod.node for pod in watcher.assumed.values())}
    return {
        "pending_pods": {
            ("active",): len(queue.active),
            ("backoff",): sum(1 for _ in queue.backoff),
            ("gated",): gated,
            ("unschedulable",): len(queue.unschedulable) - gated,
        },
        "cache_size": {
            ("assumed_pods",): len(watcher.assumed),
            ("nodes",): len(known),
            ("pods",): len(bound) + len(watcher.assumed),
        },
        "inflight_events": {(label,): count for label, count in queue.in_flight.counts().items()},
        "unschedulable_pods": dict(rejected),
    }
