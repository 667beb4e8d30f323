"""Validation of a defaulted configuration: every problem at once, with upstream's paths, texts and order.

Upstream: pkg/scheduler/apis/config/validation/validation.go (v1.36.3).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from seatrial.model.documents import Document
from seatrial.model.durations import parse_duration
from seatrial.model.label_selectors import label_key_faults
from seatrial.scheduler.config.field_errors import duplicate, forbidden, invalid, required
from seatrial.scheduler.config.resource_names import is_extended_resource
from seatrial.scheduler.config.types import CYCLE_POINTS, V1
from seatrial.scheduler.plugins.registry import in_tree_arguments
from seatrial.scheduler.versions import Version

_REMOVED = ("AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits")
_MISNAMED = "NodeResourcesFitArgs"
"""Upstream registers its check of NodeResourcesFit under this name, so a plugin called so never has fitting args."""


def validation_problems(document: Document, version: Version, gates: Mapping[str, bool]) -> Iterator[str]:
    """What is wrong with a defaulted configuration."""
    yield from _connection_problems(document)
    if document["parallelism"] <= 0:
        yield invalid("parallelism", document["parallelism"], "should be an integer value greater than zero")
    first: dict[str, int] = {}
    for index, profile in enumerate(document["profiles"]):
        yield from _profile_problems(profile, f"profiles[{index}]", version, gates)
        name = profile.get("schedulerName", "")
        if name in first:
            yield duplicate(f"profiles[{index}].schedulerName", {})
        first[name] = index
    yield from _queue_sort_problems(document["profiles"])
    yield from _percentage_problems(document, "")
    initial, longest = document["podInitialBackoffSeconds"], document["podMaxBackoffSeconds"]
    if initial <= 0:
        yield invalid("podInitialBackoffSeconds", initial, "must be greater than 0")
    if longest < initial:
        yield invalid("podMaxBackoffSeconds", longest, "must be greater than or equal to PodInitialBackoffSeconds")
    yield from _extender_problems(document.get("extenders", []))


def _connection_problems(document: Document) -> Iterator[str]:
    if document["clientConnection"]["burst"] < 0:
        yield invalid("clientConnection.burst", document["clientConnection"]["burst"], "must be non-negative")
    election = document["leaderElection"]
    if not election["leaderElect"]:
        return
    durations = {name: election[name] for name in ("leaseDuration", "renewDeadline", "retryPeriod")}
    for name, duration in durations.items():
        if parse_duration(duration) <= 0:
            yield invalid(f"leaderElection.{name}", duration, "must be greater than zero")
    if parse_duration(durations["leaseDuration"]) <= parse_duration(durations["renewDeadline"]):
        detail = "must be greater than `RenewDeadline`"
        yield invalid("leaderElection.leaseDuration", durations["renewDeadline"], detail)
    if election["resourceLock"] != "leases":
        detail = 'resourceLock value must be "leases"'
        yield invalid("leaderElection.resourceLock", election["resourceLock"], detail)


def _percentage_problems(section: Document, prefix: str) -> Iterator[str]:
    percentage = section.get("percentageOfNodesToScore")
    if percentage is not None and not 0 <= percentage <= 100:
        yield invalid(f"{prefix}percentageOfNodesToScore", percentage, "not in valid range [0-100]")


def _profile_problems(profile: Document, path: str, version: Version, gates: Mapping[str, bool]) -> Iterator[str]:
    if not profile.get("schedulerName"):
        yield required(f"{path}.schedulerName")
    yield from _percentage_problems(profile, f"{path}.")
    for point in CYCLE_POINTS:
        for index, plugin in enumerate(profile["plugins"][point]["enabled"]):
            yield from _removed(f"{path}.plugins.{point}.enabled[{index}]", plugin.get("name", ""))
    seen = set()
    for index, config in enumerate(profile["pluginConfig"]):
        where, name = f"{path}.pluginConfig[{index}]", config.get("name", "")
        if name in seen:
            yield duplicate(where, name)
        seen.add(name)
        if name in _REMOVED:
            yield from _removed(where, name)
        elif name == _MISNAMED:
            yield invalid(f"{where}.args", config.get("args"), "has to match plugin args")
        elif (arguments := in_tree_arguments(version).get(name)) is not None:
            yield from arguments.problems(config["args"], f"{where}.args", gates)
            yield from (
                forbidden(f"{where}.args.{one}", why)
                for one, (needed, why) in arguments.gated.items()
                if config["args"].get(one) is not None and not all(gates.get(gate, True) for gate in needed)
            )


def _removed(path: str, name: str) -> Iterator[str]:
    if name in _REMOVED:
        yield invalid(path, name, f'was invalid in version "v1" (KubeSchedulerConfiguration is version "{V1}")')


def _queue_sort_problems(profiles: list[Document]) -> Iterator[str]:
    canon = _internal_set(profiles[0]["plugins"]["queueSort"])
    enabled = canon["Enabled"] or []
    if len(enabled) > 1:
        detail = "only one queue sort plugin can be enabled"
        yield invalid("profiles[0].plugins.queueSort.Enabled", len(enabled), detail)
    name = enabled[0]["Name"] if enabled else ""
    args = None
    for config in profiles[0]["pluginConfig"]:
        if name and config.get("name", "") == name:
            args = config.get("args")
    for index, profile in enumerate(profiles[1:], 1):
        own = _internal_set(profile["plugins"]["queueSort"])
        if own != canon:
            yield invalid(f"profiles[{index}].plugins.queueSort", own, "must be the same for all profiles")
        for config in profile["pluginConfig"]:
            if config.get("name", "") == name and config.get("args") != args:
                detail = "queueSort must be the same for all profiles"
                yield invalid(f"profiles[{index}].pluginConfig.args", config.get("args"), detail)


def _internal_set(plugins: Document) -> dict[str, Any]:
    """A plugin set as the internal type prints itself."""

    def listed(key: str) -> list[Document] | None:
        return [{"Name": p.get("name", ""), "Weight": p.get("weight", 0)} for p in plugins[key]] or None

    return {"Enabled": listed("enabled"), "Disabled": listed("disabled")}


def _extender_problems(extenders: list[Document]) -> Iterator[str]:
    managed = set()
    for index, extender in enumerate(extenders):
        path = f"extenders[{index}]"
        if extender.get("prioritizeVerb") and extender.get("weight", 0) <= 0:
            yield invalid(f"{path}.weight", extender.get("weight", 0), "must have a positive weight applied to it")
        for number, resource in enumerate(extender.get("managedResources", ())):
            where, name = f"{path}.managedResources[{number}].name", resource.get("name", "")
            why_not = label_key_faults(name)
            yield from (invalid(where, name, why) for why in why_not)
            if not why_not and not is_extended_resource(name):
                yield invalid(where, name, "is an invalid extended resource name")
            if name in managed:
                yield invalid(where, name, "duplicate extender managed resource name")
            managed.add(name)
    binders = sum(1 for extender in extenders if extender.get("bindVerb"))
    if binders > 1:
        found = f"found {binders} extenders implementing bind"
        yield invalid("extenders", found, "only one extender can implement bind")
