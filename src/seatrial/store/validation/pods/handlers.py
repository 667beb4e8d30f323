"""Validation of probes and lifecycle hooks.

Upstream: validateProbe, validateLifecycle and validateHandler of pkg/apis/core/validation/validation.go.
"""

from collections.abc import Iterator
from math import inf

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import forbidden, invalid, required
from seatrial.store.validation.formats import each, header_faults, not_negative, port
from seatrial.store.validation.rules import always, among, given, need, present, ranged, rules

_PROBES = ("exec", "httpGet", "tcpSocket", "grpc")
_HOOKS = ("exec", "httpGet", "tcpSocket", "sleep")
COUNTS = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
_GRACE = "terminationGracePeriodSeconds"


def probes(container: Document, path: str) -> Iterator[Cause]:
    """The three probes of a container."""
    for key in ("livenessProbe", "readinessProbe", "startupProbe"):
        if (probe := container.get(key)) is not None:
            yield from _probe(probe, key, f"{path}.{key}")


def _probe(probe: Document, key: str, path: str) -> Iterator[Cause]:
    yield from _handler(probe, _PROBES, None, path)
    yield from _NUMBERS(probe, path)
    if key != "readinessProbe":
        if probe.get("successThreshold", 0) != 1:
            yield invalid(f"{path}.successThreshold", probe.get("successThreshold", 0), "must be 1")
    elif probe.get(_GRACE) is not None:
        yield invalid(f"{path}.{_GRACE}", probe[_GRACE], "must not be set for readinessProbes")


_NUMBERS = rules(
    *(present(count, not_negative) for count in COUNTS), present(_GRACE, ranged(1, inf, "must be greater than 0"))
)


def lifecycle(hooks: Document, grace: int | None, path: str) -> Iterator[Cause]:
    """Validate postStart and preStop (stop signals are behind a gate that is off)."""
    for key in ("postStart", "preStop"):
        if (hook := hooks.get(key)) is not None:
            yield from _handler(hook, _HOOKS, grace, f"{path}.{key}")


def _handler(handler: Document, kinds: tuple[str, ...], grace: int | None, path: str) -> Iterator[Cause]:
    given = [kind for kind in kinds if handler.get(kind) is not None]
    if not given:
        yield required(path, "must specify a handler type")
        return
    yield from _action(given[0], handler[given[0]], grace, f"{path}.{given[0]}")
    for kind in given[1:]:
        yield forbidden(f"{path}.{kind}", "may not specify more than 1 handler type")


def _action(kind: str, action: Document, grace: int | None, path: str) -> Iterator[Cause]:
    if kind != "sleep":
        yield from _ACTIONS[kind](action, path)
        return
    seconds = action.get("seconds", 0)
    if grace is not None and not 0 <= seconds <= grace:
        why = f"must be non-negative and less than terminationGracePeriodSeconds ({grace})"
        yield invalid(path, seconds, why)


def _headers(headers: list[Document], path: str) -> Iterator[Cause]:
    for header in headers:
        yield from each(header_faults, header.get("name", ""), path)


_PORT = always("port", port, zero=0)
_ACTIONS = {
    "exec": rules(need("command")),
    "httpGet": rules(need("path"), _PORT, always("scheme", among("HTTP", "HTTPS")), given("httpHeaders", _headers)),
    "tcpSocket": rules(_PORT),
    "grpc": rules(_PORT),
}
