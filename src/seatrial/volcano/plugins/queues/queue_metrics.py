"""The gauges Volcano exports about queues, by the names it exports them under. Upstream: metrics/queue.go."""

from seatrial.volcano.cache.resource import Resource


def amounts(**resources: Resource) -> dict[str, float]:
    """cpu and memory of some amounts, each under its own name."""
    found: dict[str, float] = {}
    for name, resource in resources.items():
        found[f"{name}_milli_cpu"] = resource.cpu
        found[f"{name}_memory_bytes"] = resource.memory
    return found
