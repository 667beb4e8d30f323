"""MultiPoint expansion (KEP-2891): from the plugin sets of a profile to the plugins that run at each point.

A point's order is: plugins enabled there that MultiPoint enables too, in the point's order; then the rest of
MultiPoint; then the point's own. What does not implement a point is passed over where MultiPoint asks, and is an error
where the point itself does. Upstream: pkg/scheduler/framework/runtime/framework.go (v1.36.3).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from seatrial.model.documents import Document
from seatrial.scheduler.config.defaulting import enabled_names
from seatrial.scheduler.config.field_errors import aggregate
from seatrial.scheduler.config.types import BUILD_ORDER, CYCLE_POINTS
from seatrial.scheduler.plugins.registry import in_tree_arguments
from seatrial.scheduler.versions import Rules, Version

_MAX_SCORE = 100
_MAX_TOTAL = (1 << 63) - 1
Points = Mapping[str, tuple[str, ...]]
"""Which extension points each known plugin implements."""


class CannotBuild(Exception):
    """Why the framework of a profile cannot be made; the plugin that is missing, where that is why."""

    def __init__(self, why: str, unknown_plugin: str = "") -> None:
        super().__init__(why)
        self.unknown_plugin = unknown_plugin


@dataclass(frozen=True, slots=True)
class PluginRef:
    """One plugin at one extension point; the weight is 0 where points have none."""

    name: str
    weight: int = 0


def expand(profile: Document, known: Points, version: Version) -> dict[str, tuple[PluginRef, ...]]:
    """The plugins of a defaulted profile at every point, in the order they run; CannotBuild says why not."""
    plugins: Document = profile["plugins"]
    args = {config.get("name", ""): config.get("args") for config in profile["pluginConfig"]}
    arguments = in_tree_arguments(version)
    order = (*BUILD_ORDER, *version.group_points)
    for name in enabled_names(plugins):
        problems = list(arguments[name].build_problems(args[name], version.rules)) if name in arguments else []
        if problems:
            raise CannotBuild(f'initializing plugin "{name}": {aggregate(problems)}')
    lists = {point: _listed(point, plugins[point], known) for point in order}
    multi = [plugin.get("name", "") for plugin in plugins["multiPoint"]["enabled"]]
    if multi:
        lists = {point: _expanded(point, plugins[point], lists[point], multi, known) for point in order}
    _check_required(profile.get("schedulerName", ""), lists)
    weights: dict[str, dict[str, int]] = {
        point: _weights(point, plugins[point]["enabled"] + plugins["multiPoint"]["enabled"], known, version.rules)
        for point in ("score", "placementScore")
        if point in lists
    }
    return {
        point: tuple(PluginRef(name, weights.get(point, {}).get(name, 0)) for name in lists[point])
        for point in (*CYCLE_POINTS, *version.group_points)
    }


def _interface(point: str) -> str:
    return f"{point[0].upper()}{point[1:]}Plugin"


def _listed(point: str, plugins: Document, known: Points) -> list[str]:
    """The plugins a point names itself."""
    names: list[str] = []
    for plugin in plugins["enabled"]:
        name = plugin.get("name", "")
        if name not in known:
            raise CannotBuild(f'{_interface(point)} "{name}" does not exist', unknown_plugin=name)
        if point not in known[name]:
            raise CannotBuild(f'plugin "{name}" does not extend {_interface(point)} plugin')
        if name in names:
            raise CannotBuild(f'plugin "{name}" already registered as "{_interface(point)}"')
        names.append(name)
    return names


def _expanded(point: str, plugins: Document, own: list[str], multi: list[str], known: Points) -> list[str]:
    disabled = {plugin["name"] for plugin in plugins["disabled"]}
    if "*" in disabled:
        return own
    from_multi: list[str] = []
    overriding = set()
    for name in multi:
        if name not in known:
            raise CannotBuild(f'{_interface(point)} "{name}" does not exist', unknown_plugin=name)
        if point not in known[name] or name in disabled:
            continue
        if name in own:
            overriding.add(name)
        elif name in from_multi:
            raise CannotBuild(f'plugin "{name}" already registered as "{_interface(point)}"')
        else:
            from_multi.append(name)
    return [
        *(name for name in own if name in overriding),
        *from_multi,
        *(name for name in own if name not in overriding),
    ]


def _check_required(scheduler: str, lists: Mapping[str, list[str]]) -> None:
    profile = f'profile with scheduler name "{scheduler}"'
    if len(lists["queueSort"]) != 1:
        raise CannotBuild(f"only one queue sort plugin required for {profile}, but got {len(lists['queueSort'])}")
    if not lists["bind"]:
        raise CannotBuild(f"at least one bind plugin is needed for {profile}")
    if len(lists.get("placementGenerate", ())) > 1:
        raise CannotBuild(f"at most one placement generate plugin is allowed for {profile}")


def _weights(point: str, plugins: list[Document], known: Points, rules: Rules) -> dict[str, int]:
    """Weights by name: the point's own win over MultiPoint's, and none or 0 is 1."""
    weights: dict[str, int] = {}
    total = 0
    for plugin in plugins:
        name = plugin.get("name", "")
        if point not in known[name] or name in weights:
            continue
        weights[name] = plugin.get("weight") or 1
        # As upstream's 64-bit check does, a negative total makes the room left wrap around.
        room = _wrapped(_MAX_TOTAL - total)
        if weights[name] * _MAX_SCORE > room:
            what = "score plugins: " if point == "score" else "placement score plugins: "
            raise CannotBuild(f"{what if rules.names_score_weights else ''}total score of Score plugins could overflow")
        total += weights[name] * _MAX_SCORE
    return weights


def _wrapped(value: int) -> int:
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)
