"""What is compared of a run: pods, attempts and events, with what cannot be equal replaced by what it stands for.

Left out or replaced, in full:
- `uid` and `metadata.resourceVersion` of events, the hexadecimal time in the names of events: identities;
- times: only whether they are set;
- `reportingInstance`: the name of the host is replaced;
- managedFields: the bookkeeping of the API server, which the store in this process does not keep;
- `kind` and `apiVersion` of events, which the items of a list do not have;
- resourceVersion of an event's object: which version of the object it was, counted from its creation;
- the random end of the name of a claim that a scheduler makes.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.outside.whole_runs.shape import Document

_IDENTITIES = ("name", "uid", "resourceVersion", "creationTimestamp", "managedFields")
_TIMES = ("lastTransitionTime", "lastProbeTime", "startTime", "lastObservedTime", "eventTime")


@dataclass
class Versions:
    """The versions that objects have had, by uid, in order."""

    seen: dict[str, list[str]] = field(default_factory=dict)

    def add(self, document: Document) -> None:
        metadata = document["metadata"]
        versions = self.seen.setdefault(metadata["uid"], [])
        if metadata["resourceVersion"] not in versions:
            versions.append(metadata["resourceVersion"])

    def number(self, uid: str, version: str) -> str:
        versions = self.seen.get(uid, [])
        return f"version {versions.index(version) + 1}" if version in versions else f"unknown version {version}"


@dataclass(frozen=True)
class Observation:
    """A run as it is after a step."""

    pods: Mapping[str, Document]
    """By name: node, nomination, conditions, phase, whether it is being deleted, how often it was written."""
    attempts: Mapping[str, int]
    events: Mapping[str, list[Document]]
    """By name of the pod."""

    def differences(self, other: "Observation") -> list[str]:
        """Where two runs differ, one line each; the other one is the real scheduler's."""
        lines = []
        for part in ("pods", "attempts", "events"):
            mine, real = getattr(self, part), getattr(other, part)
            for name in sorted({*mine, *real}):
                lines += _unequal(f"{part}:{name}:", mine.get(name), real.get(name))
        return lines


def observe(
    pods: Iterable[Document], events: Iterable[Document], attempts: Mapping[str, int], versions: Versions
) -> Observation:
    """The comparable part of what a server holds."""
    by_pod: dict[str, list[Document]] = {}
    for event in events:
        by_pod.setdefault(event["involvedObject"]["name"], []).append(_event(event, versions))
    for listed in by_pod.values():
        listed.sort(key=lambda event: json.dumps(event, sort_keys=True))
    return Observation({pod["metadata"]["name"]: _pod(pod, versions) for pod in pods}, attempts, by_pod)


def _pod(pod: Document, versions: Versions) -> Document:
    status = {key: value for key, value in pod.get("status", {}).items() if key not in ("conditions", "qosClass")}
    made = status.get("extendedResourceClaimStatus")
    if made is not None:
        name = re.sub(r"-[a-z0-9]{5}$", "-RANDOM", made["resourceClaimName"])
        status["extendedResourceClaimStatus"] = {**made, "resourceClaimName": name}
    conditions = [_timeless(condition) for condition in pod.get("status", {}).get("conditions", ())]
    return {
        "node": pod["spec"].get("nodeName", ""),
        "deleting": "deletionTimestamp" in pod["metadata"],
        "generation": pod["metadata"].get("generation"),
        "written": len(versions.seen.get(pod["metadata"]["uid"], ())),
        "conditions": sorted(conditions, key=lambda condition: str(condition["type"])),
        **_timeless(status),
    }


def _event(event: Document, versions: Versions) -> Document:
    found: Document = {
        key: value
        for key, value in event.items()
        if key not in ("kind", "apiVersion", "metadata", "involvedObject", "reportingInstance", "series")
    }
    found = _timeless(found)
    name, _, time = event["metadata"]["name"].rpartition(".")
    found["name"] = f"{name}.TIME" if re.fullmatch(r"[0-9a-f]{16}", time) else event["metadata"]["name"]
    found["metadata"] = {key: value for key, value in event["metadata"].items() if key not in _IDENTITIES}
    for part in ("involvedObject", "related"):
        if event.get(part) is not None:
            named = event[part]
            found[part] = {**named, "resourceVersion": versions.number(named["uid"], named.get("resourceVersion", ""))}
    found["reportingInstance"] = re.sub(r"-[^-]*$", "-HOST", event["reportingInstance"])
    found["series"] = _timeless(event["series"]) if event.get("series") else None
    return found


def _timeless(value: Any) -> Any:
    """A copy with times replaced by whether they are set."""
    if isinstance(value, dict):
        return {
            key: ("a time" if entry else entry) if key in _TIMES else _timeless(entry) for key, entry in value.items()
        }
    return [_timeless(entry) for entry in value] if isinstance(value, list) else value


def _unequal(path: str, ours: Any, real: Any) -> list[str]:
    """One line for each innermost value that differs."""
    if ours == real:
        return []
    if isinstance(ours, dict) and isinstance(real, dict):
        keys = sorted({*ours, *real})
        return [line for key in keys for line in _unequal(f"{path} {key}", ours.get(key), real.get(key))]
    if isinstance(ours, list) and isinstance(real, list) and len(ours) == len(real):
        pairs = enumerate(zip(ours, real, strict=True))
        return [line for place, pair in pairs for line in _unequal(f"{path} [{place}]", *pair)]
    return [f"{path}\n    ours {ours!r}\n    real {real!r}"]
