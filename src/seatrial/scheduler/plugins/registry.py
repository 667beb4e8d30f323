"""All in-tree plugins by name, and what a plugin class implements. The only place that imports every plugin."""

from collections.abc import Iterable, Mapping
from importlib import import_module
from inspect import Parameter, signature

from seatrial.model.errors import ConfigError
from seatrial.scheduler.framework.interface import Plugin

IN_TREE: Mapping[str, str] = {
    "SchedulingGates": "scheduling_gates",
    "PrioritySort": "priority_sort",
    "NodeUnschedulable": "node_unschedulable",
    "NodeName": "node_name",
    "TaintToleration": "taint_toleration",
    "NodeAffinity": "node_affinity",
    "NodePorts": "node_ports",
    "NodeResourcesFit": "node_resources.fit",
    "VolumeRestrictions": "volume_restrictions",
    "NodeVolumeLimits": "node_volume_limits",
    "VolumeBinding": "volume_binding",
    "VolumeZone": "volume_zone",
    "PodTopologySpread": "pod_topology_spread.plugin",
    "InterPodAffinity": "inter_pod_affinity.plugin",
    "DynamicResources": "dynamic_resources.plugin",
    "DefaultPreemption": "default_preemption",
    "NodeResourcesBalancedAllocation": "node_resources.balanced_allocation",
    "ImageLocality": "image_locality",
    "DefaultBinder": "default_binder",
    "NodeDeclaredFeatures": "node_declared_features.plugin",
}
"""Plugin name -> module in scheduler/plugins; the class has the plugin's name."""

POINTS: Mapping[str, tuple[str, ...]] = {
    "preEnqueue": ("pre_enqueue",),
    "queueSort": ("less",),
    "preFilter": ("pre_filter",),
    "filter": ("filter", "filter_one"),
    "postFilter": ("post_filter",),
    "preScore": ("pre_score",),
    "score": ("score", "score_one"),
    "reserve": ("reserve", "unreserve"),
    "permit": ("permit",),
    "preBind": ("pre_bind",),
    "bind": ("bind",),
    "postBind": ("post_bind",),
}
"""Extension point -> the methods that make a plugin one of it."""

_FEWEST_ARGUMENTS = {
    "pre_enqueue": 1,
    "less": 2,
    "pre_filter": 2,
    "filter": 2,
    "filter_one": 2,
    "post_filter": 3,
    "pre_score": 2,
    "score": 2,
    "score_one": 2,
    "normalize": 3,
}


def points_of(plugin: type[Plugin]) -> tuple[str, ...]:
    """The extension points a plugin class implements."""
    return tuple(point for point, methods in POINTS.items() if any(hasattr(plugin, method) for method in methods))


def load(name: str) -> type[Plugin] | None:
    """An in-tree plugin class by its name."""
    module = IN_TREE.get(name)
    if module is None:
        return None
    found: type[Plugin] = getattr(import_module(f"seatrial.scheduler.plugins.{module}"), name)
    return found


class Registry:
    """Plugin classes by name: the in-tree ones and the user's.

    `tolerant`: a user's plugin that fails is an Error of the pod it failed on, and not the end of the run.
    """

    def __init__(self, extra: Iterable[type[Plugin]] = (), *, tolerant: bool = False) -> None:
        self.tolerant = tolerant
        self._extra: dict[str, type[Plugin]] = {}
        for plugin in extra:
            self.register(plugin)

    def register(self, plugin: type[Plugin]) -> None:
        """Adds a user's plugin; what it implements is checked here, so that the loop can trust it."""
        name = plugin.__name__
        if name in IN_TREE or name in self._extra:
            raise ConfigError("plugins", name, f"a plugin named {name} is registered already")
        if not points_of(plugin):
            raise ConfigError("plugins", name, "implements no extension point (filter_one, score, ...)")
        for method, fewest in _FEWEST_ARGUMENTS.items():
            if hasattr(plugin, method) and not _takes(getattr(plugin, method), fewest):
                raise ConfigError("plugins", f"{name}.{method}", f"expected at least {fewest} arguments after self")
        self._extra[name] = plugin

    def get(self, name: str) -> type[Plugin] | None:
        """A plugin class, None where there is none of that name."""
        return self._extra.get(name) or load(name)

    def is_own(self, name: str) -> bool:
        """Whether a plugin is a user's."""
        return name in self._extra

    def names(self) -> tuple[str, ...]:
        return (*IN_TREE, *self._extra)

    def points(self, name: str) -> tuple[str, ...]:
        """The extension points of a plugin by name."""
        plugin = self.get(name)
        return points_of(plugin) if plugin else ()


def _takes(method: object, fewest: int) -> bool:
    parameters = list(signature(method).parameters.values())[1:]  # type: ignore[arg-type]
    if any(p.kind is Parameter.VAR_POSITIONAL for p in parameters):
        return True
    return len([p for p in parameters if p.kind is not Parameter.KEYWORD_ONLY]) >= fewest
