"""Defaulting: what a KubeSchedulerConfiguration means where it says nothing.

Upstream: pkg/scheduler/apis/config/v1/defaults.go and default_plugins.go.
"""

from collections.abc import Mapping

from seatrial.model.documents import Document
from seatrial.scheduler.config.types import CYCLE_POINTS
from seatrial.scheduler.plugins.registry import in_tree_arguments
from seatrial.scheduler.versions import Version

_LEADER_ELECTION = {
    "leaderElect": True,
    "leaseDuration": "15s",
    "renewDeadline": "10s",
    "retryPeriod": "2s",
    "resourceLock": "leases",
    "resourceName": "kube-scheduler",
    "resourceNamespace": "kube-system",
}
_CLIENT_CONNECTION = {"contentType": "application/vnd.kubernetes.protobuf", "qps": 50, "burst": 100}
_TOP_LEVEL = {
    "parallelism": 16,
    "percentageOfNodesToScore": 0,
    "podInitialBackoffSeconds": 1,
    "podMaxBackoffSeconds": 10,
    "enableProfiling": True,
}


def apply_configuration_defaults(document: Document, version: Version, gates: Mapping[str, bool]) -> None:
    """Fill in everything a decoded v1 configuration leaves out; `document` is changed."""
    for name, value in _TOP_LEVEL.items():
        document.setdefault(name, value)
    document.setdefault("enableContentionProfiling", document["enableProfiling"])
    _fill_zeroes(document.setdefault("clientConnection", {}), _CLIENT_CONNECTION)
    election = document.setdefault("leaderElection", {})
    elects = election.get("leaderElect")
    _fill_zeroes(election, _LEADER_ELECTION)
    election["leaderElect"] = True if elects is None else elects
    profiles = document["profiles"] = document.get("profiles") or [{}]
    if len(profiles) == 1:
        profiles[0].setdefault("schedulerName", "default-scheduler")
    for profile in profiles:
        _default_profile(profile, version, gates)


def _fill_zeroes(section: Document, defaults: Document) -> None:
    for name, value in defaults.items():
        if section.get(name) in (None, "", "0s", 0):
            section[name] = value


def _default_profile(profile: Document, version: Version, gates: Mapping[str, bool]) -> None:
    profile["plugins"] = merge_plugins(profile.get("plugins"), version, gates)
    configs = profile.setdefault("pluginConfig", [])
    known = in_tree_arguments(version)
    for config in configs:
        if config.get("name", "") in known:
            config["args"] = config.get("args") or {}
            known[config["name"]].set_defaults(config["args"], gates)
    given = {config.get("name", "") for config in configs}
    for name in enabled_names(profile["plugins"]):
        if name in known and name not in given:
            args: Document = {}
            known[name].set_defaults(args, gates)
            configs.append({"name": name, "args": args})


def enabled_names(plugins: Document) -> list[str]:
    """Every plugin enabled at any point or through MultiPoint, by name."""
    return sorted({plugin.get("name", "") for point in plugins.values() for plugin in point.get("enabled", ())})


def merge_plugins(custom: Document | None, version: Version, gates: Mapping[str, bool]) -> Document:
    """The default plugins with a profile's own sets laid over them."""
    default = [
        {"name": name} | ({} if weight is None else {"weight": weight})
        for name, weight in version.default_plugins
        if gates.get(version.gated_plugins.get(name, ""), True)
    ]
    points = (*CYCLE_POINTS, *version.group_points)
    plugins = {point: _merge_set([], (custom or {}).get(point, {})) for point in points}
    plugins["multiPoint"] = _merge_set(default, (custom or {}).get("multiPoint", {}))
    return plugins


def _merge_set(default: list[Document], custom: Document) -> Document:
    disabled = [{"name": plugin.get("name", "")} for plugin in custom.get("disabled", ())]
    off = {plugin["name"] for plugin in disabled}
    own = custom.get("enabled", [])
    by_name = {plugin.get("name", ""): index for index, plugin in enumerate(own)}
    enabled: list[Document] = []
    replaced = set()
    if "*" not in off:
        for plugin in default:
            if plugin["name"] in off:
                continue
            index = by_name.get(plugin["name"])
            if index is not None:
                replaced.add(index)
            enabled.append(plugin if index is None else own[index])
    enabled.extend(plugin for index, plugin in enumerate(own) if index not in replaced)
    return {"enabled": enabled, "disabled": disabled}
