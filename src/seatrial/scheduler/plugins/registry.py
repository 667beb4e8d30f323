"""All in-tree plugins by name: finds them in this folder, and the extension points that each implements.

A plugin declares everything about itself (extension points, queueing hints, arguments), so that a new one is one more
file or folder here. What a version enables by default, and what of a plugin it lacks, is in `scheduler/versions`.
Upstream: pkg/scheduler/framework/plugins/registry.go.
"""

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from inspect import Parameter, signature
from pkgutil import walk_packages
from types import ModuleType
from typing import TYPE_CHECKING

from seatrial.model.errors import ConfigError
from seatrial.scheduler.framework.interface import Plugin
from seatrial.scheduler.framework.plugin_errors import METHODS
from seatrial.scheduler.versions import DEFAULT, Version

if TYPE_CHECKING:
    from seatrial.scheduler.config.arguments import Arguments

FOLDER = "seatrial.scheduler.plugins"

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

SIMILARITY = 0.75
"""From which ratio on (difflib) a name is taken for a misspelt one."""
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


@cache
def in_tree() -> Mapping[str, type[Plugin]]:
    """Every plugin class in this folder by name, in the order of their names."""
    package = import_module(FOLDER)
    modules = (import_module(found.name) for found in walk_packages(package.__path__, f"{FOLDER}."))
    kinds = sorted((kind for module in modules for kind in plugins_in(module)), key=lambda kind: kind.__name__)
    return {kind.__name__: kind for kind in kinds}


def plugins_in(module: ModuleType) -> list[type[Plugin]]:
    """The plugin classes a module defines, in the order it defines them."""
    return [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Plugin) and value.__module__ == module.__name__
    ]


def is_in_tree(kind: type[Plugin]) -> bool:
    """Whether a plugin class is one of this folder."""
    return kind.__module__.startswith(f"{FOLDER}.")


@cache
def in_tree_points(version: Version = DEFAULT) -> Mapping[str, tuple[str, ...]]:
    """The extension points of the in-tree plugins of a version, those that are off by a feature gate included."""
    found = dict(version.idle_points)
    for name, kind in in_tree().items():
        if name not in version.missing_plugins:
            lacks = version.missing_points.get(name, ())
            found[name] = (*(point for point in points_of(kind) if point not in lacks), *found.get(name, ()))
    return found


@cache
def in_tree_arguments(version: Version = DEFAULT) -> Mapping[str, "Arguments"]:
    """The arguments of the in-tree plugins of a version that take some."""
    return {
        name: kind.arguments.for_version(version)
        for name, kind in in_tree().items()
        if kind.arguments is not None and name not in version.missing_plugins
    }


def load(name: str) -> type[Plugin] | None:
    """An in-tree plugin class by its name."""
    return in_tree().get(name)


class Registry:
    """Plugin classes by name: the in-tree ones and the user's."""

    def __init__(self, extra: Iterable[type[Plugin]] = ()) -> None:
        self._extra: dict[str, type[Plugin]] = {}
        for plugin in extra:
            self.register(plugin)

    def register(self, plugin: type[Plugin]) -> None:
        """Adds a user's plugin; what it implements is checked here, so that the loop can trust it."""
        name = plugin.__name__
        if name in in_tree() or name in self._extra:
            raise ConfigError("plugins", name, f"a plugin named {name} is registered already")
        if not points_of(plugin):
            close = "".join(f"; did you mean {wanted} by {given}?" for given, wanted in near_misses(plugin))
            raise ConfigError("plugins", name, f"implements no extension point (filter_one, score, ...){close}")
        for method, fewest in _FEWEST_ARGUMENTS.items():
            if hasattr(plugin, method) and not _takes(getattr(plugin, method), fewest):
                raise ConfigError("plugins", f"{name}.{method}", f"expected at least {fewest} arguments after self")
        self._extra[name] = plugin

    def get(self, name: str) -> type[Plugin] | None:
        """A plugin class; None if no plugin has that name."""
        return self._extra.get(name) or load(name)

    def is_own(self, name: str) -> bool:
        """Whether a plugin is a user's."""
        return name in self._extra

    def names(self) -> tuple[str, ...]:
        return (*in_tree(), *self._extra)

    def points(self, name: str) -> tuple[str, ...]:
        """The extension points of a plugin by name."""
        plugin = self.get(name)
        return points_of(plugin) if plugin else ()


def near_misses(plugin: type) -> Iterator[tuple[str, str]]:
    """Public methods of a class that are spelt nearly like a method of the framework, with that method."""
    for name in dir(plugin):
        if name.startswith("_") or hasattr(Plugin, name) or name in METHODS or not callable(getattr(plugin, name)):
            continue
        if close := get_close_matches(name, METHODS, 1, SIMILARITY):
            yield name, close[0]


def _takes(method: object, fewest: int) -> bool:
    parameters = list(signature(method).parameters.values())[1:]  # type: ignore[arg-type]
    if any(p.kind is Parameter.VAR_POSITIONAL for p in parameters):
        return True
    return len([p for p in parameters if p.kind is not Parameter.KEYWORD_ONLY]) >= fewest
