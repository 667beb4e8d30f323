"""Device requests: ResourceClaims, their templates, and DeviceClasses. Expressions are not compiled.

Upstream: pkg/apis/resource/validation/validation.go.
"""

from collections.abc import Callable, Iterator, Sequence

import orjson

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import duplicate, forbidden, invalid, required, too_long, too_many, unsupported
from seatrial.store.object_meta import IMMUTABLE, label_causes
from seatrial.store.validation.devices.device_names import attribute_name
from seatrial.store.validation.formats import label, label_value, needed, qualified, subdomain
from seatrial.store.validation.pods.volume_sources import driver_name
from seatrial.store.validation.quantities import is_extended

Check = Callable[[Document, str], Iterator[Cause]]
EFFECTS = ("NoExecute", "NoSchedule", "None")
_MODES, _OPERATORS = ("All", "ExactCount"), ("Equal", "Exists")
_NO_REQUEST = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
_ONE_OF = "exactly one of `exactly` or `firstAvailable` is required"
_ONE_ATTRIBUTE = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'
MOST = 32


def each_of(items: Sequence[Document], most: int, check: Check, path: str, *, key: str = "") -> Iterator[Cause]:
    """A list that is not too long, of items that are right, and different by `key`."""
    if len(items) > most:
        yield too_many(path, len(items), most)
        return
    for index, item in enumerate(items):
        yield from check(item, f"{path}[{index}]")
    seen: set[str] = set()
    for index, item in enumerate(items if key else ()):
        name = item.get(key, "")
        if name in seen:
            yield duplicate(f"{path}[{index}]", name)
        seen.add(name)


def claim_causes(document: Document) -> Iterator[Cause]:
    """Validation errors of a new ResourceClaim."""
    return _claim(document.get("spec") or {}, "spec")


def claim_update_causes(document: Document, old: Document, subresource: str) -> Iterator[Cause]:
    """Validation errors of an update of a ResourceClaim."""
    if subresource == "status":
        yield from _claim_status(document, old)
    elif document.get("spec") != old.get("spec"):
        yield invalid("spec", document.get("spec"), IMMUTABLE)


def _claim_status(document: Document, old: Document) -> Iterator[Cause]:
    status, before = document.get("status") or {}, old.get("status") or {}
    reserved = status.get("reservedFor") or ()
    check: Check = lambda user, path: needed(user, path, "resource", "name", "uid")  # noqa: E731
    yield from each_of(reserved, 256, check, "status.reservedFor", key="uid")
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


def template_causes(document: Document) -> Iterator[Cause]:
    """Validation errors of a new ResourceClaimTemplate."""
    spec = document.get("spec") or {}
    metadata = spec.get("metadata") or {}
    yield from label_causes(metadata.get("labels") or {}, "spec.metadata.labels")
    for key, value in metadata.items():
        if key not in ("labels", "annotations") and value:
            yield forbidden(f"spec.metadata.{key}", "cannot be set")
    yield from _claim(spec.get("spec") or {}, "spec.spec")


def template_update_causes(document: Document, old: Document, subresource: str) -> Iterator[Cause]:
    """Validation errors of an update of a ResourceClaimTemplate."""
    if document.get("spec") != old.get("spec"):
        yield invalid("spec", document.get("spec"), IMMUTABLE)


def class_causes(document: Document) -> Iterator[Cause]:
    """Validation errors of a DeviceClass."""
    spec = document.get("spec") or {}
    yield from each_of(spec.get("selectors") or (), MOST, _selector, "spec.selectors")
    yield from each_of(spec.get("config") or (), MOST, _configuration, "spec.config")
    name = spec.get("extendedResourceName")
    if name is not None and not is_extended(name):
        yield invalid("spec.extendedResourceName", name, "must be a valid extended resource name")


def class_update_causes(document: Document, old: Document, subresource: str) -> Iterator[Cause]:
    """Validation errors of an update of a DeviceClass."""
    return class_causes(document)


def _claim(spec: Document, path: str) -> Iterator[Cause]:
    devices, where = spec.get("devices") or {}, f"{path}.devices"
    requests = devices.get("requests") or ()
    names: set[str] = set()
    for request in requests:
        names.add(request.get("name", ""))
        names.update(f"{request.get('name', '')}/{sub.get('name', '')}" for sub in request.get("firstAvailable") or ())

    def referring(item: Document, place: str) -> Iterator[Cause]:
        return _references(item.get("requests") or [], names, f"{place}.requests")

    def constraint(item: Document, place: str) -> Iterator[Cause]:
        yield from referring(item, place)
        given = [key for key in ("matchAttribute", "distinctAttribute") if item.get(key) is not None]
        if given:
            yield from attribute_name(item[given[0]], f"{place}.{given[0]}", full=True)
        else:
            yield required(place, _ONE_ATTRIBUTE)

    def configuration(item: Document, place: str) -> Iterator[Cause]:
        yield from referring(item, place)
        yield from _configuration(item, place)

    yield from each_of(requests, MOST, _request, f"{where}.requests", key="name")
    yield from each_of(devices.get("constraints") or (), MOST, constraint, f"{where}.constraints")
    yield from each_of(devices.get("config") or (), MOST, configuration, f"{where}.config")


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
        yield from each_of(several, 8, _alternative, f"{path}.firstAvailable", key="name")
    else:
        yield from _wish(exact or {}, f"{path}.exactly")


def _alternative(request: Document, path: str) -> Iterator[Cause]:
    yield from label(request.get("name", ""), f"{path}.name")
    yield from _wish(request, path)


def _wish(request: Document, path: str) -> Iterator[Cause]:
    name = request.get("deviceClassName", "")
    if not name:
        yield required(f"{path}.deviceClassName")
    else:
        yield from subdomain(name, f"{path}.deviceClassName")
    yield from each_of(request.get("selectors") or (), MOST, _selector, f"{path}.selectors")
    mode, count = request.get("allocationMode", ""), request.get("count", 0)
    if mode not in _MODES:
        yield unsupported(f"{path}.allocationMode", mode, _MODES)
    elif mode == "All" and count:
        yield invalid(f"{path}.count", count, "must not be specified when allocationMode is 'All'")
    elif mode == "ExactCount" and count <= 0:
        yield invalid(f"{path}.count", count, "must be greater than zero")
    for index, toleration in enumerate(request.get("tolerations") or ()):
        yield from _toleration(toleration, f"{path}.tolerations[{index}]")


def _toleration(toleration: Document, path: str) -> Iterator[Cause]:
    operator, value = toleration.get("operator", ""), toleration.get("value", "")
    if toleration.get("key"):
        yield from qualified(toleration["key"], f"{path}.key")
    if operator == "Exists":
        if value:
            yield invalid(f"{path}.value", value, "must be empty for operator `Exists`")
    elif operator == "Equal":
        yield from label_value(value, f"{path}.value")
    elif not operator:
        yield required(f"{path}.operator")
    else:
        yield unsupported(f"{path}.operator", operator, _OPERATORS)
    effect = toleration.get("effect", "")
    if effect and effect not in EFFECTS:
        yield unsupported(f"{path}.effect", effect, EFFECTS)


def _selector(selector: Document, path: str) -> Iterator[Cause]:
    if selector.get("cel") is None:
        yield required(f"{path}.cel")
    elif len(selector["cel"].get("expression", "").encode()) > 10 * 1024:
        yield too_long(f"{path}.cel.expression", 10 * 1024)


def _configuration(configuration: Document, path: str) -> Iterator[Cause]:
    opaque = configuration.get("opaque")
    if opaque is None:
        yield required(f"{path}.opaque")
        return
    yield from driver_name(opaque.get("driver", ""), f"{path}.opaque.driver")
    parameters, where = opaque.get("parameters"), f"{path}.opaque.parameters"
    if parameters is None:
        yield required(where)
    elif not isinstance(parameters, dict):
        yield invalid(where, "<value omitted>", "must be a valid JSON object")
    elif len(orjson.dumps(parameters)) > 10 * 1024:
        yield too_long(where, 10 * 1024)
