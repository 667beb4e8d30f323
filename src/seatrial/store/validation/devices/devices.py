"""Device requests: ResourceClaims, their templates, and DeviceClasses. Expressions are not compiled.

Upstream: pkg/apis/resource/validation/validation.go.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import duplicate, forbidden, invalid, required, too_long, too_many, unsupported
from seatrial.store.object_meta import IMMUTABLE
from seatrial.store.validation.devices.device_names import attribute_name
from seatrial.store.validation.formats import label, label_value, qualified, subdomain, template_metadata
from seatrial.store.validation.pods.volume_sources import driver_name
from seatrial.store.validation.quantities import is_extended
from seatrial.store.validation.rules import (
    always,
    among,
    capped,
    each,
    given,
    longest,
    need,
    need_set,
    of_spec,
    present,
    rules,
    unchanged,
)  # fmt: skip

EFFECT = among("NoExecute", "NoSchedule", "None")
_NO_REQUEST = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
_ONE_OF = "exactly one of `exactly` or `firstAvailable` is required"
_ONE_ATTRIBUTE = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'
MOST = 32


def claim_causes(document: Document) -> Iterator[Cause]:
    """Validation errors of a new ResourceClaim."""
    return _claim(document.get("spec") or {}, "spec")


def claim_update_causes(document: Document, old: Document, subresource: str) -> Iterator[Cause]:
    """Validation errors of an update of a ResourceClaim."""
    if subresource == "status":
        yield from _claim_status(document, old)
    else:
        yield from unchanged(document, old, "spec", path="")


def _claim_status(document: Document, old: Document) -> Iterator[Cause]:
    status, before = document.get("status") or {}, old.get("status") or {}
    reserved = status.get("reservedFor") or ()
    yield from _RESERVED(status, "status")
    if reserved and status.get("allocation") is None:
        yield forbidden("status.reservedFor", "may not be specified when `allocated` is not set")
    elif "deletionTimestamp" in document["metadata"] and any(
        u not in (before.get("reservedFor") or ()) for u in reserved
    ):
        why = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"
        yield forbidden("status.reservedFor", why)
    allocation, earlier = status.get("allocation"), before.get("allocation")
    if allocation is not None and earlier is not None and allocation != earlier:
        yield invalid("status.allocation", allocation, IMMUTABLE)


_RESERVED = rules(given("reservedFor", capped(256, rules(need("resource"), need("name"), need("uid")), unique="uid")))


def template_causes(document: Document) -> Iterator[Cause]:
    """Validation errors of a new ResourceClaimTemplate."""
    spec = document.get("spec") or {}
    yield from template_metadata(spec.get("metadata") or {}, "spec.metadata")
    yield from _claim(spec.get("spec") or {}, "spec.spec")


def template_update_causes(document: Document, old: Document, subresource: str) -> Iterator[Cause]:
    """Validation errors of an update of a ResourceClaimTemplate."""
    return unchanged(document, old, "spec", path="")


def _claim(spec: Document, path: str) -> Iterator[Cause]:
    devices, where = spec.get("devices") or {}, f"{path}.devices"
    names: set[str] = set()
    for request in devices.get("requests") or ():
        names.add(request.get("name", ""))
        names.update(f"{request.get('name', '')}/{sub.get('name', '')}" for sub in request.get("firstAvailable") or ())
    yield from _REQUESTS(devices, where)

    def referring(item: Document, place: str) -> Iterator[Cause]:
        return _references(item.get("requests") or [], names, f"{place}.requests")

    yield from rules(
        given("constraints", capped(MOST, referring, _constraint)),
        given("config", capped(MOST, referring, _CONFIGURATION)),
    )(devices, where)


def _constraint(item: Document, path: str) -> Iterator[Cause]:
    keys = [key for key in ("matchAttribute", "distinctAttribute") if item.get(key) is not None]
    if keys:
        yield from attribute_name(item[keys[0]], f"{path}.{keys[0]}", full=True)
    else:
        yield required(path, _ONE_ATTRIBUTE)


def _references(given: list[str], names: set[str], path: str) -> Iterator[Cause]:
    if len(given) > MOST:
        yield too_many(path, len(given), MOST)
        return
    for index, name in enumerate(given):
        where = f"{path}[{index}]"
        if name.count("/") > 1:
            yield invalid(where, name, _NO_REQUEST)
        else:
            for part in name.split("/"):
                yield from label(part, where)
            if name not in names:
                yield invalid(where, name, _NO_REQUEST)
        if name in given[:index]:
            yield duplicate(where, name)


def _request(request: Document, path: str) -> Iterator[Cause]:
    yield from label(request.get("name", ""), f"{path}.name")
    exact, several = request.get("exactly"), request.get("firstAvailable")
    if exact is None and not several:
        yield required(path, _ONE_OF)
    elif exact is not None and several:
        yield invalid(path, None, f"{_ONE_OF}, but multiple fields are set")
    elif several:
        yield from _ALTERNATIVES(several, f"{path}.firstAvailable")
    else:
        yield from _WISH(exact or {}, f"{path}.exactly")


def _mode(request: Document, path: str) -> Iterator[Cause]:
    mode, count = request.get("allocationMode", ""), request.get("count", 0)
    if mode not in ("All", "ExactCount"):
        yield unsupported(f"{path}.allocationMode", mode, ("All", "ExactCount"))
    elif mode == "All" and count:
        yield invalid(f"{path}.count", count, "must not be specified when allocationMode is 'All'")
    elif mode == "ExactCount" and count <= 0:
        yield invalid(f"{path}.count", count, "must be greater than zero")


def _operator(toleration: Document, path: str) -> Iterator[Cause]:
    operator, value = toleration.get("operator", ""), toleration.get("value", "")
    if operator == "Exists":
        if value:
            yield invalid(f"{path}.value", value, "must be empty for operator `Exists`")
    elif operator == "Equal":
        yield from label_value(value, f"{path}.value")
    elif not operator:
        yield required(f"{path}.operator")
    else:
        yield unsupported(f"{path}.operator", operator, ("Equal", "Exists"))


def _parameters(parameters: Any, path: str) -> Iterator[Cause]:
    if not isinstance(parameters, dict):
        yield invalid(path, "<value omitted>", "must be a valid JSON object")
    elif len(orjson.dumps(parameters)) > 10 * 1024:
        yield too_long(path, 10 * 1024)


def _extended(name: str, path: str) -> Iterable[Cause]:
    return () if is_extended(name) else (invalid(path, name, "must be a valid extended resource name"),)


_EXPRESSION = rules(given("expression", longest(10 * 1024)))
_SELECTORS = given("selectors", capped(MOST, rules(need_set("cel", _EXPRESSION))))
_OPAQUE = rules(always("driver", driver_name), need_set("parameters", _parameters))
_CONFIGURATION = rules(need_set("opaque", _OPAQUE))
_TOLERATION = rules(given("key", qualified), _operator, given("effect", EFFECT))
_WISH = rules(need("deviceClassName", subdomain), _SELECTORS, _mode, each("tolerations", _TOLERATION))
_ALTERNATIVES = capped(8, rules(always("name", label), _WISH), unique="name")
_REQUESTS = rules(given("requests", capped(MOST, _request, unique="name")))
class_causes = of_spec(
    rules(_SELECTORS, given("config", capped(MOST, _CONFIGURATION)), present("extendedResourceName", _extended))
)
"""Validation errors of a DeviceClass."""
