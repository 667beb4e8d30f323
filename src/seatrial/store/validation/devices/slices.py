"""ResourceSlices: which devices a driver offers, and on which nodes.

Upstream: ValidateResourceSlice of pkg/apis/resource/validation/validation.go.
"""

import re
from collections.abc import Iterator

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import duplicate, forbidden, invalid, required, too_long, too_many, unsupported
from seatrial.store.object_meta import IMMUTABLE
from seatrial.store.validation.devices.device_names import attribute_name, pool_name
from seatrial.store.validation.devices.devices import EFFECTS, each_of
from seatrial.store.validation.formats import label, label_value, qualified, subdomain
from seatrial.store.validation.pods.volume_sources import driver_name
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
    yield from driver_name(spec.get("driver", ""), "spec.driver")
    yield from pool_name(pool.get("name", ""), "spec.pool.name")
    if pool.get("resourceSliceCount", 0) <= 0:
        yield invalid("spec.pool.resourceSliceCount", pool.get("resourceSliceCount", 0), "must be greater than zero")
    if pool.get("generation", 0) < 0:
        yield invalid("spec.pool.generation", pool["generation"], "must be greater than or equal to zero")
    if old is not None:
        before = (old.get("pool") or {}).get("name", "")
        if pool.get("name", "") != before:
            yield invalid("spec.pool.name", pool.get("name", ""), IMMUTABLE)
        for key in ("driver", "nodeName"):
            if spec.get(key) != old.get(key):
                yield invalid(f"spec.{key}", spec.get(key), IMMUTABLE)
    yield from _place(spec)
    if spec.get("sharedCounters") and spec.get("devices"):
        yield invalid("spec", "", "only one of `sharedCounters` or `devices` is allowed")
    devices = spec.get("devices") or ()
    advanced = any(each.get("taints") or each.get("consumesCounters") for each in devices)
    apart = bool(spec.get("perDeviceNodeSelection"))
    check = lambda device, path: _device(device, path, apart)  # noqa: E731
    yield from each_of(devices, 64 if advanced else 128, check, "spec.devices", key="name")
    yield from each_of(spec.get("sharedCounters") or (), 8, _counters, "spec.sharedCounters", key="name")


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
    yield from each_of(device.get("taints") or (), 16, _taint, f"{path}.taints")
    yield from each_of(device.get("consumesCounters") or (), 2, _consumed, f"{path}.consumesCounters", key="counterSet")
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


def _taint(taint: Document, path: str) -> Iterator[Cause]:
    yield from qualified(taint.get("key", ""), f"{path}.key")
    if taint.get("value"):
        yield from label_value(taint["value"], f"{path}.value")
    effect = taint.get("effect", "")
    if not effect:
        yield required(f"{path}.effect")
    elif effect not in EFFECTS:
        yield unsupported(f"{path}.effect", effect, EFFECTS)


def _named(counters: Document, key: str, path: str) -> Iterator[Cause]:
    if not counters.get(key):
        yield required(f"{path}.{key}")
    else:
        yield from label(counters[key], f"{path}.{key}")
    given = counters.get("counters") or {}
    if not given:
        yield required(f"{path}.counters")
    elif len(given) > 32:
        yield too_many(f"{path}.counters", len(given), 32)
    else:
        for name in given:
            yield from label(name, f"{path}.counters")


def _counters(counters: Document, path: str) -> Iterator[Cause]:
    return _named(counters, "name", path)


def _consumed(counters: Document, path: str) -> Iterator[Cause]:
    return _named(counters, "counterSet", path)


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
    for key, given in (("bindingConditions", awaited), ("bindingFailureConditions", fatal)):
        if len(given) > 4:
            yield too_many(f"{path}.{key}", len(given), 4)
        for index, name in enumerate(given):
            yield from qualified(name, f"{path}.{key}[{index}]")
            if name in given[:index]:
                yield duplicate(f"{path}.{key}[{index}]", name)
            if given is fatal and name in awaited:
                why = "bindingFailureConditions must not overlap with bindingConditions"
                yield invalid(f"{path}.{key}[{index}]", name, why)
    if fatal and not awaited:
        why = "bindingConditions are required to use bindingFailureConditions"
        yield invalid(f"{path}.bindingConditions", None, why)
    if awaited and not fatal:
        why = "bindingFailureConditions are required to use bindingConditions"
        yield invalid(f"{path}.bindingFailureConditions", None, why)
