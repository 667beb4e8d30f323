"""Volcano's configuration file: actions, tiers of plugins with their flags and arguments.

Upstream: pkg/scheduler/conf/scheduler_conf.go, pkg/scheduler/util.go, pkg/scheduler/plugins/defaults.go.
"""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from seatrial.model import yaml_reader
from seatrial.model.errors import ConfigError, SeatrialError
from seatrial.volcano.config.arguments import Arguments
from seatrial.volcano.versions import DEFAULT, Version

ACTIONS = ("enqueue", "allocate", "backfill", "preempt", "reclaim", "gangpreempt", "gangreclaim", "shuffle")
FLAGS = (
    "enableJobOrder",
    "enableJobReady",
    "enableJobPipelined",
    "enableJobEnqueued",
    "enableTaskOrder",
    "enablePreemptable",
    "enableReclaimable",
    "enablePreemptive",
    "enableQueueOrder",
    "enablePredicate",
    "enableBestNode",
    "enableNodeOrder",
    "enableTargetJob",
    "enableReservedNodes",
    "enabledVictim",
    "enableJobStarving",
    "enabledOverused",
    "enabledAllocatable",
    "enabledHyperNodeOrder",
    "enabledSubJobReady",
    "enabledSubJobPipelined",
    "enabledSubJobOrder",
    "enabledHyperNodeGradient",
)
"""The flags of a plugin, all true unless the file says otherwise."""
HIERARCHY, CLUSTER_ORDER = "enableHierarchy", "enabledClusterOrder"
"""Flags that are false unless the file says otherwise."""
_FIELDS = ("actions", "tiers", "configurations", "metrics")
_OPTION_FIELDS = ("name", "arguments", *FLAGS, HIERARCHY, CLUSTER_ORDER)
_SECOND_TIER = ("overcommit", "drf", "predicates", "proportion", "nodeorder")

log = logging.getLogger("seatrial.volcano")


@dataclass(frozen=True, slots=True)
class PluginOption:
    """One plugin of a tier: what it may do, and its arguments."""

    name: str
    disabled: frozenset[str] = frozenset()
    hierarchy: bool = False
    arguments: Arguments = field(default_factory=Arguments)

    def enables(self, flag: str) -> bool:
        """Whether a flag is on; points without a flag are."""
        return not flag or flag not in self.disabled


@dataclass(frozen=True, slots=True)
class SchedulerConf:
    """A whole configuration."""

    actions: tuple[str, ...]
    tiers: tuple[tuple[PluginOption, ...], ...]
    configurations: Mapping[str, Arguments] = field(default_factory=dict)
    metrics: Mapping[str, str] = field(default_factory=dict)
    version: Version = DEFAULT

    def arguments_of(self, action: str) -> Arguments:
        return self.configurations.get(action) or Arguments()

    def hierarchy_enabled(self, plugin: str) -> bool:
        """Whether the first entry of a plugin asks for hierarchical queues."""
        return next((option.hierarchy for tier in self.tiers for option in tier if option.name == plugin), False)


def helm_conf() -> SchedulerConf:
    """What Volcano's chart and manifests install: gang and drf do not choose victims, and binpack scores too."""
    no_victims = frozenset(("enablePreemptable",))
    first = (PluginOption("priority"), PluginOption("gang", no_victims), PluginOption("conformance"))
    second = [PluginOption(name, no_victims if name == "drf" else frozenset()) for name in _SECOND_TIER]
    return SchedulerConf(("enqueue", "allocate", "backfill"), (first, (*second, PluginOption("binpack"))))


class Checked(Protocol):
    """A plugin as far as its arguments are checked."""

    def faults(self, arguments: Arguments) -> Iterable[tuple[str, str]]:
        """Arguments that the plugin cannot work with, and why."""


def load_conf(
    text: str,
    source: str = "volcano-scheduler.conf",
    plugins: Mapping[str, Checked] | None = None,
    version: Version = DEFAULT,
) -> SchedulerConf:
    """Reads a configuration file. `plugins`: those there are, by name; None leaves names and arguments unchecked."""
    try:
        document = yaml_reader.load(text, strict=False)
    except SeatrialError as error:
        raise ConfigError(source, "", str(error)) from error
    if not isinstance(document, Mapping):
        raise ConfigError(source, "", "expected a mapping with `actions` and `tiers`")
    _report_unknown(document, _FIELDS, "", source)
    actions = tuple(name.strip() for name in str(document.get("actions") or "").split(","))
    for name in actions:
        if name not in ACTIONS:
            raise ConfigError(source, "actions", f"failed to find Action {name}; known: {', '.join(ACTIONS)}")
    tiers = tuple(
        tuple(_option(entry, path, source, plugins) for path, entry in _mappings(tier, "plugins", f"{where}.", source))
        for where, tier in _mappings(document, "tiers", "", source)
    )
    for place, tier in enumerate(tiers):
        if any(o.name == "proportion" for o in tier) and any(o.name == "drf" and o.hierarchy for o in tier):
            raise ConfigError(source, f"tiers[{place}]", "proportion and drf with hierarchy enabled conflicts")
    for option in (option for tier in tiers for option in tier):
        if option.name in version.left_out:
            raise ConfigError(
                source, "tiers", f"plugin {option.name} is not simulated as Volcano {version.minor} has it"
            )
    configurations = {
        str(entry.get("name")): _arguments(entry, path, source)
        for path, entry in _mappings(document, "configurations", "", source)
    }
    return SchedulerConf(actions, tiers, configurations, document.get("metrics") or {}, version)


def _mappings(parent: Mapping[str, Any], field: str, prefix: str, source: str) -> list[tuple[str, Mapping[str, Any]]]:
    """The entries of a list of mappings, each with its place in the file."""
    entries = parent.get(field) or []
    if not isinstance(entries, list):
        raise ConfigError(source, f"{prefix}{field}", f"expected a list, got {entries!r}")
    found = [(f"{prefix}{field}[{index}]", entry) for index, entry in enumerate(entries)]
    for path, entry in found:
        if not isinstance(entry, Mapping):
            raise ConfigError(source, path, f"expected a mapping, got {entry!r}")
    return found


def _arguments(entry: Mapping[str, Any], path: str, source: str) -> Arguments:
    values = entry.get("arguments") or {}
    if not isinstance(values, Mapping):
        raise ConfigError(source, f"{path}.arguments", f"expected a mapping, got {values!r}")
    return Arguments(values)


def _report_unknown(entry: Mapping[str, Any], known: Iterable[str], prefix: str, source: str) -> None:
    """Name the fields that upstream ignores silently: most are misspelt."""
    for key in entry:
        if key not in known:
            log.warning("%s: %s%s: unknown field, ignored as Volcano does", source, prefix, key)


def _option(entry: Mapping[str, Any], path: str, source: str, plugins: Mapping[str, Checked] | None) -> PluginOption:
    name = entry.get("name")
    if not isinstance(name, str) or not name:
        raise ConfigError(source, f"{path}.name", "expected the name of a plugin")
    if plugins is not None and name not in plugins:
        raise ConfigError(source, f"{path}.name", f"unknown plugin {name}; known: {', '.join(plugins)}")
    for key, value in entry.items():
        if key in (*FLAGS, HIERARCHY, CLUSTER_ORDER) and not isinstance(value, bool):
            raise ConfigError(source, f"{path}.{key}", f"expected true or false, got {value!r}")
    _report_unknown(entry, _OPTION_FIELDS, f"{path}.", source)
    arguments = _arguments(entry, path, source)
    for key, why in plugins[name].faults(arguments) if plugins is not None else ():
        raise ConfigError(source, f"{path}.arguments.{key}", why)
    disabled = frozenset(flag for flag in FLAGS if entry.get(flag) is False)
    return PluginOption(name, disabled, entry.get(HIERARCHY) is True, arguments)
