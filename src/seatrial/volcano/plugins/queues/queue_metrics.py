"""The gauges Volcano exports about queues, by the names it exports them under. Upstream: metrics/queue.go."""

from seatrial.volcano.cache.resource import Resource


def amounts(**resources: Resource) -> dict[str, float]:
    """cpu, memory and scalar resources of some amounts, each under its own name.

    A scalar resource that one of the amounts has is in all of them.
    """
    found: dict[str, float] = {}
    scalars = sorted({name for resource in resources.values() for name in resource.scalars or ()})
    for name, resource in resources.items():
        found[f"{name}_milli_cpu"] = resource.cpu
        found[f"{name}_memory_bytes"] = resource.memory
        for scalar in scalars:
            found[f"{name}_scalar_resources[{scalar}]"] = resource.get(scalar)
    return found
