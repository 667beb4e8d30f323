"""Warnings about users' plugins: methods that are nearly extension points, and plugins that no profile enables."""

from collections.abc import Iterable

from seatrial.scheduler.config import Configuration
from seatrial.scheduler.framework.interface import Plugin
from seatrial.scheduler.plugins.out_of_tree import is_installed
from seatrial.scheduler.plugins.registry import near_misses


def plugin_warnings(plugins: Iterable[type[Plugin]], configuration: Configuration) -> list[str]:
    """What is probably a mistake in users' plugins and their configuration."""
    enabled = {ref.name for profile in configuration.profiles for refs in profile.plugins.values() for ref in refs}
    found = []
    for plugin in plugins:
        found += [
            f"plugin {plugin.__name__}: {name} is no extension point; did you mean {wanted}?"
            for name, wanted in near_misses(plugin)
        ]
        if plugin.__name__ not in enabled and not is_installed(plugin):
            found.append(
                f"plugin {plugin.__name__} is loaded, but no profile enables it: add it to "
                "profiles[].plugins.multiPoint.enabled of the scheduler configuration"
            )
    return found
