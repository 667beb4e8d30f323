"""A configuration written down: as --write-config-to does, and with every extension point spelled out.

Upstream: cmd/kube-scheduler/app/options/configfile.go.
"""

from seatrial.model.documents import Document
from seatrial.model.yaml_reader import dump
from seatrial.scheduler.config.configuration import Configuration, Profile
from seatrial.scheduler.config.shapes import write
from seatrial.scheduler.config.types import CYCLE_POINTS, configuration_type
from seatrial.scheduler.plugins.registry import in_tree_arguments

_SPELLED_OUT = CYCLE_POINTS
"""The points of gates that are off (pod groups and placements) are left out."""


def written_document(configuration: Configuration) -> Document:
    """The configuration with all its defaults, as kube-scheduler writes it."""
    document = dict(configuration.document)
    document["profiles"] = [
        profile | {"plugins": _weighted(profile["plugins"]), "pluginConfig": _plugin_config(resolved, configuration)}
        for profile, resolved in zip(document["profiles"], configuration.profiles, strict=True)
    ]
    result: Document = write(configuration_type(configuration.version.group_points), document)
    return result


def write_config(configuration: Configuration) -> str:
    """The YAML that `kube-scheduler --write-config-to` writes."""
    return dump(written_document(configuration))


def expanded_document(configuration: Configuration) -> Document:
    """A v1 configuration that means the same, with every extension point spelled out."""
    document = written_document(configuration)
    for profile, resolved in zip(document["profiles"], configuration.profiles, strict=True):
        # MultiPoint is left to its defaults, none of which finds an open point; arguments of plugins that run nowhere
        # go, so that expanding again changes nothing.
        running = {ref.name for point in _SPELLED_OUT for ref in resolved.plugins[point]}
        profile["pluginConfig"] = [c for c in profile.get("pluginConfig", ()) if c["name"] in running]
        profile["plugins"] = {
            point: {
                "enabled": [
                    {"name": ref.name} | ({"weight": ref.weight} if ref.weight else {})
                    for ref in resolved.plugins[point]
                ],
                "disabled": [{"name": "*"}],
            }
            for point in _SPELLED_OUT
        }
    return document


def _weighted(plugins: Document) -> Document:
    return {
        point: {
            key: [{"name": plugin["name"], "weight": plugin.get("weight") or 0} for plugin in listed[key]]
            for key in ("enabled", "disabled")
        }
        for point, listed in plugins.items()
    }


def _plugin_config(profile: Profile, configuration: Configuration) -> list[Document]:
    known = in_tree_arguments(configuration.version)
    return [
        {"name": name, "args": write(known[name].type, args) if name in known else args}
        for name, args in sorted(profile.args.items())
    ]
