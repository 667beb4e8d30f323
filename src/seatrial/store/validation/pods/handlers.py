"""Validation of probes and lifecycle hooks.

Upstream: validateProbe, validateLifecycle and validateHandler of pkg/apis/core/validation/validation.go.
"""

from collections.abc import Iterator

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import forbidden, invalid, required, unsupported
from seatrial.store.validation.formats import header_faults, needed, not_negative, port

_PROBES = ("exec", "httpGet", "tcpSocket", "grpc")
_HOOKS = ("exec", "httpGet", "tcpSocket", "sleep")
_SCHEMES = ("HTTP", "HTTPS")
COUNTS = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")


def probes(container: Document, path: str) -> Iterator[Cause]:
    """The three probes of a container."""
    for key in ("livenessProbe", "readinessProbe", "startupProbe"):
        if (probe := container.get(key)) is not None:
            yield from _probe(probe, key, f"{path}.{key}")


def _probe(probe: Document, key: str, path: str) -> Iterator[Cause]:
    yield from _handler(probe, _PROBES, None, path)
    for count in COUNTS:
        yield from not_negative(probe.get(count, 0), f"{path}.{count}")
    grace = probe.get("terminationGracePeriodSeconds")
    if grace is not None and grace <= 0:
        yield invalid(f"{path}.terminationGracePeriodSeconds", grace, "must be greater than 0")
    if key == "readinessProbe":
        if grace is not None:
            yield invalid(f"{path}.terminationGracePeriodSeconds", grace, "must not be set for readinessProbes")
    elif probe.get("successThreshold", 0) != 1:
        yield invalid(f"{path}.successThreshold", probe.get("successThreshold", 0), "must be 1")


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
    if kind == "exec":
        yield from needed(action, path, "command")
    elif kind == "sleep":
        seconds = action.get("seconds", 0)
        if grace is not None and not 0 <= seconds <= grace:
            why = f"must be non-negative and less than terminationGracePeriodSeconds ({grace})"
            yield invalid(path, seconds, why)
    else:
        if kind == "httpGet":
            yield from needed(action, path, "path")
        yield from port(action.get("port", 0), f"{path}.port")
        if kind == "httpGet":
            scheme = action.get("scheme", "")
            if scheme not in _SCHEMES:
                yield unsupported(f"{path}.scheme", scheme, _SCHEMES)
            for header in action.get("httpHeaders") or ():
                for fault in header_faults(header.get("name", "")):
                    yield invalid(f"{path}.httpHeaders", header.get("name", ""), fault)
