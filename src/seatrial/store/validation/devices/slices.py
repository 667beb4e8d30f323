"""ResourceSlices: which devices a driver offers, and on which nodes.

Upstream: ValidateResourceSlice of pkg/apis/resource/validation/validation.go.
"""

import re
from collections.abc import Iterator
from math import inf

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import duplicate, forbidden, invalid, required, too_long, too_many
from seatrial.store.object_meta import IMMUTABLE
from seatrial.store.validation.devices.device_names import attribute_name, pool_name
from seatrial.store.validation.devices.devices import EFFECT
from seatrial.store.validation.formats import label, label_value, qualified, subdomain
from seatrial.store.validation.pods.volume_sources import driver_name
from seatrial.store.validation.rules import always, capped, given, need, present, ranged, rules, unchanged
from seatrial.store.validation.selectors import node_selector

_ONE_PLACE = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
_ONE_DEVICE_PLACE = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to "
    "true in the ResourceSlice spec"
)
_NO_DEVICE_PLACE = (
    "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the "
    "ResourceSlice spec"
)
_VALUES = ("bool", "int", "string", "version", "bools", "ints", "strings", "versions")
_PART = "(0|[1-9][0-9]*)"
_PRE = "(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)"
_VERSION = re.compile(rf"{_PART}\.{_PART}\.{_PART}(-{_PRE}(\.{_PRE})*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?")


def create_causes(document: Document) -> Iterator[Cause]:
    """Validation errors of a new ResourceSlice."""
    return _slice(document.get("spec") or {}, None)


def update_causes(document: Document, old: Document, subresource: str) -> Iterator[Cause]:
    """Validation errors of an update of a ResourceSlice."""
    spec, before = document.get("spec") or {}, old.get("spec") or {}
    if spec != before:
        yield from _slice(spec, before)


def _slice(spec: Document, old: Document | None) -> Iterator[Cause]:
    pool = spec.get("pool") or {}
    yield from _POOL(spec, "spec")
    if old is not None:
        before = (old.get("pool") or {}).get("name", "")
        if pool.get("name", "") != before:
            yield invalid("spec.pool.name", pool.get("name", ""), IMMUTABLE)
        yield from unchanged(spec, old, "driver", "nodeName")
    yield from _place(spec)
    if spec.get("sharedCounters") and spec.get("devices"):
        yield invalid("spec", "", "only one of `sharedCounters` or `devices` is allowed")
    devices = spec.get("devices") or ()
    advanced = any(each.get("taints") or each.get("consumesCounters") for each in devices)
    apart = bool(spec.get("perDeviceNodeSelection"))
    check = capped(64 if advanced else 128, lambda device, path: _device(device, path, apart), unique="name")
    yield from check(devices, "spec.devices")
    yield from _SHARED(spec, "spec")


def _place(spec: Document) -> Iterator[Cause]:
    given = []
    if (name := spec.get("nodeName")) is not None:
        if name:
            given.append("`nodeName`")
            yield from subdomain(name, "spec.nodeName")
        else:
            yield invalid("spec.nodeName", name, "must be either unset or set to a non-empty string")
    if (selector := spec.get("nodeSelector")) is not None:
        given.append("`nodeSelector`")
        yield from node_selector(selector, "spec.nodeSelector")
        terms = selector.get("nodeSelectorTerms")
        if len(terms or ()) != 1:
            yield invalid("spec.nodeSelector.nodeSelectorTerms", terms, "must have exactly one node selector term")
    for key in ("allNodes", "perDeviceNodeSelection"):
        if spec.get(key):
            given.append(f"`{key}`")
        elif spec.get(key) is not None:
            yield invalid(f"spec.{key}", False, "must be either unset or set to true")
    if not given:
        yield required("spec", _ONE_PLACE)
    elif len(given) > 1:
        yield invalid("spec", f"{{{', '.join(given)}}}", f"{_ONE_PLACE}, but multiple fields are set")


def _device(device: Document, path: str, apart: bool) -> Iterator[Cause]:
    attributes, capacity = device.get("attributes") or {}, device.get("capacity") or {}
    yield from label(device.get("name", ""), f"{path}.name")
    if len(attributes) + len(capacity) > 32:
        why = "the total number of attributes and capacities must not exceed 32"
        yield invalid(path, len(attributes) + len(capacity), why)
    for name, value in attributes.items():
        yield from attribute_name(name, f"{path}.attributes")
        yield from _attribute(value, f"{path}.attributes[{name}]")
    for name, value in capacity.items():
        yield from attribute_name(name, f"{path}.capacity")
        if value.get("requestPolicy") is not None and not device.get("allowMultipleAllocations"):
            yield forbidden(f"{path}.capacity[{name}].requestPolicy", "allowMultipleAllocations must be true")
    yield from _OF_DEVICE(device, path)
    yield from _device_place(device, path, apart)
    yield from _binding(device, path)


def _attribute(attribute: Document, path: str) -> Iterator[Cause]:
    given = [key for key in _VALUES if attribute.get(key) is not None]
    for key in ("string", "version"):
        value = attribute.get(key)
        if value is None:
            continue
        if key == "version" and not _VERSION.fullmatch(value):
            yield invalid(f"{path}.version", value, "must be a string compatible with semver.org spec 2.0.0")
        if len(value.encode()) > 64:
            yield too_long(f"{path}.{key}", 64)
    if not given:
        yield invalid(path, "", "exactly one value must be specified")
    elif len(given) > 1:
        yield invalid(path, attribute, "exactly one value must be specified")


def _counter_names(counters: Document, path: str) -> Iterator[Cause]:
    if len(counters) > 32:
        yield too_many(path, len(counters), 32)
    else:
        for name in counters:
            yield from label(name, path)


_TAINT = rules(always("key", qualified), given("value", label_value), need("effect", EFFECT))
_COUNTERS = need("counters", _counter_names)
_SHARED = rules(given("sharedCounters", capped(8, rules(need("name", label), _COUNTERS), unique="name")))
_OF_DEVICE = rules(
    given("taints", capped(16, _TAINT)),
    given("consumesCounters", capped(2, rules(need("counterSet", label), _COUNTERS), unique="counterSet")),
)
_POOL = rules(
    always("driver", driver_name),
    always("pool.name", pool_name),
    always("pool.resourceSliceCount", ranged(1, inf, "must be greater than zero"), zero=0),
    present("pool.generation", ranged(0, inf, "must be greater than or equal to zero")),
)


def _device_place(device: Document, path: str, apart: bool) -> Iterator[Cause]:
    keys = [key for key in ("nodeName", "nodeSelector", "allNodes") if device.get(key) is not None]
    if not apart:
        if keys:
            yield invalid(path, None, _NO_DEVICE_PLACE)
        return
    given = [f"`{key}`" for key in keys if device[key]]
    if device.get("nodeName"):
        yield from subdomain(device["nodeName"], f"{path}.nodeName")
    elif device.get("nodeName") is not None:
        yield invalid(f"{path}.nodeName", "", "must not be empty")
    if device.get("nodeSelector") is not None:
        yield from node_selector(device["nodeSelector"], f"{path}.nodeSelector")
    if device.get("allNodes") is False:
        yield invalid(f"{path}.allNodes", False, "must be either unset or set to true")
    if not given:
        yield required(path, _ONE_DEVICE_PLACE)
    elif len(given) > 1:
        yield invalid(path, f"{{{', '.join(given)}}}", _ONE_DEVICE_PLACE)


def _binding(device: Document, path: str) -> Iterator[Cause]:
    """Conditions that a binding waits for, and those that end the wait, come together and differ."""
    awaited, fatal = device.get("bindingConditions") or [], device.get("bindingFailureConditions") or []
    for key, listed in (("bindingConditions", awaited), ("bindingFailureConditions", fatal)):
        if len(listed) > 4:
            yield too_many(f"{path}.{key}", len(listed), 4)
        for index, name in enumerate(listed):
            yield from qualified(name, f"{path}.{key}[{index}]")
            if name in listed[:index]:
                yield duplicate(f"{path}.{key}[{index}]", name)
            if listed is fatal and name in awaited:
                why = "bindingFailureConditions must not overlap with bindingConditions"
                yield invalid(f"{path}.{key}[{index}]", name, why)
    if fatal and not awaited:
        why = "bindingConditions are required to use bindingFailureConditions"
        yield invalid(f"{path}.bindingConditions", None, why)
    if awaited and not fatal:
        why = "bindingFailureConditions are required to use bindingConditions"
        yield invalid(f"{path}.bindingFailureConditions", None, why)
