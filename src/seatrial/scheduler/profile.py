"""Builds the profiles of a configuration: their plugins, the gates and hints of the queue, and its order."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cmp_to_key

from seatrial.scheduler.config import Configuration
from seatrial.scheduler.framework.events import Registration, registrations, requeues_of
from seatrial.scheduler.framework.extension_points import QueueSortPlugin
from seatrial.scheduler.framework.interface import Action, Handle, Plugin, Requeue, default_requeues
from seatrial.scheduler.framework.runtime import Framework
from seatrial.scheduler.plugins.registry import Registry, is_in_tree
from seatrial.scheduler.queue import QueuedPod
from seatrial.scheduler.queue.heap import Order
from seatrial.scheduler.queue.queued_pod_info import priority_order
from seatrial.scheduler.queue.scheduling_queue import Gate
from seatrial.scheduler.schedule_one.schedule_one import EXTENDER

NO_NODES_PLUGIN = "no nodes"
"""The rejector if the cluster has no nodes: upstream retries such pods for ever, here they wait for a node."""
_FIT = "NodeResourcesFit"
_ANYTHING = Plugin()


@dataclass(frozen=True, slots=True)
class Profiles:
    """All profiles of one scheduler."""

    frameworks: Mapping[str, Framework]
    gates: Mapping[str, Sequence[tuple[str, Gate]]]
    hints: Mapping[str, Mapping[str, Sequence[Registration]]]
    order: Order
    in_tree: frozenset[str]
    """The profiles whose plugins are all in-tree."""


def build_profiles(configuration: Configuration, registry: Registry, handle: Handle) -> Profiles:
    """Make the plugins of every profile."""
    ignored = [name for extender in configuration.extenders for name in extender.ignored_resources]
    frameworks = {}
    for profile in configuration.profiles:
        if ignored and _FIT in profile.args:
            fit = {**profile.args[_FIT], "ignoredResources": ignored}
            profile = replace(profile, args={**profile.args, _FIT: fit})
        frameworks[profile.name] = Framework.build(profile, registry, handle)
    return Profiles(
        frameworks,
        {name: framework.pre_enqueuers for name, framework in frameworks.items()},
        {name: _hints(f, bool(configuration.extenders)) for name, f in frameworks.items()},
        order_of(next(iter(frameworks.values())).points["queueSort"][0]),
        frozenset(name for name, framework in frameworks.items() if _is_all_in_tree(framework)),
    )


def _is_all_in_tree(framework: Framework) -> bool:
    return all(is_in_tree(type(plugin)) for plugins in framework.points.values() for plugin in plugins)


def _hints(framework: Framework, has_extenders: bool) -> dict[str, Sequence[Registration]]:
    points: dict[str, list[str]] = {}
    plugins: dict[str, Plugin] = {}
    for point, listed in framework.points.items():
        for plugin in listed:
            plugins[plugin.name] = plugin
            points.setdefault(plugin.name, []).append(point)
    hints: dict[str, Sequence[Registration]] = {
        name: registrations(plugin, requeues_of(plugin, points[name])) for name, plugin in plugins.items()
    }
    hints[NO_NODES_PLUGIN] = registrations(_ANYTHING, (Requeue("Node", Action.ADD),))
    if has_extenders:
        hints[EXTENDER] = registrations(_ANYTHING, default_requeues())
    return hints


def order_of(plugin: Plugin) -> Order:
    """The order in which a QueueSort plugin lets pods leave the queue."""
    if plugin.name == "PrioritySort":
        return priority_order
    assert isinstance(plugin, QueueSortPlugin)
    less = plugin.less

    def compare(first: QueuedPod, second: QueuedPod) -> int:
        if less(first, second):
            return -1
        return 1 if less(second, first) else first.sequence - second.sequence

    key = cmp_to_key(compare)
    # A copy, since a pod may change while an entry of its earlier place is still in the heap.
    return lambda queued: key(copy(queued))
