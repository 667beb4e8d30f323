"""The status of a pod: what its writers may say.

Upstream: ValidatePodStatusUpdate of pkg/apis/core/validation/validation.go, and the restart rules of
pkg/api/v1/pod/util.go.
"""

from collections.abc import Iterable, Iterator, Sequence

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import duplicate, forbidden, invalid, required
from seatrial.store.object_meta import IMMUTABLE
from seatrial.store.validation.formats import address, identity, label, parse_address, qualified, subdomain
from seatrial.store.validation.go_values import go_struct
from seatrial.store.validation.quantities import is_native
from seatrial.store.validation.rules import always, among, each, longest, need, present, rules

_SYSTEM = ("PodScheduled", "Ready", "Initialized")
_KINDS = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
_BACK = "may not be transitioned to non-terminated state"


def status_causes(pod: Document, old: Document) -> Iterator[Cause]:
    """Validation errors of the status of a pod, given the one before."""
    status, before, spec = pod.get("status") or {}, old.get("status") or {}, pod.get("spec") or {}
    yield from _conditions(status.get("conditions") or ())
    nominated = status.get("nominatedNodeName")
    if nominated and nominated != before.get("nominatedNodeName"):
        yield from subdomain(nominated, "status.nominatedNodeName")
        if (old.get("spec") or {}).get("nodeName"):
            why = "may not be set on pods that are already bound to a node"
            yield forbidden("status.nominatedNodeName", why)
    if status.get("observedGeneration", 0) < 0:
        yield invalid("status.observedGeneration", status["observedGeneration"], "must be a non-negative integer")
    if status.get("qosClass") != before.get("qosClass"):
        yield invalid("status.qosClass", status.get("qosClass", ""), IMMUTABLE)
    for kind in _KINDS:
        if before.get(kind) and status.get(kind) != before[kind]:
            yield from _transitions(status.get(kind) or (), before[kind], spec, kind)
    yield from _claims(status, spec)
    yield from _addresses(_pod_addresses(status), _pod_addresses(before), "status.podIPs")
    hosts = [each.get("ip", "") for each in status.get("hostIPs") or ()]
    if hosts and status.get("hostIP", "") != hosts[0]:
        yield invalid("status.hostIPs[0].ip", hosts[0], "must be equal to `hostIP`")
    yield from _addresses(hosts, [each.get("ip", "") for each in before.get("hostIPs") or ()], "status.hostIPs")
    for kind in _KINDS:
        for index, container in enumerate(status.get(kind) or ()):
            if container.get("user") or container.get("allocatedResourcesStatus"):
                yield from _container(container, spec, kind, f"status.{kind}[{index}]")


def _conditions(conditions: Sequence[Document]) -> Iterator[Cause]:
    for index, condition in enumerate(conditions):
        where = f"status.conditions[{index}]"
        if condition.get("observedGeneration", 0) < 0:
            why = "must be a non-negative integer"
            yield invalid(f"{where}.observedGeneration", condition["observedGeneration"], why)
        kind = condition.get("type", "")
        if kind not in _SYSTEM:
            yield from qualified(kind, f"{where}.Type")


def _transitions(new: Sequence[Document], old: Sequence[Document], spec: Document, kind: str) -> Iterator[Cause]:
    """A container that ended stays so, unless its restart policy has it run again."""
    if kind != "ephemeralContainerStatuses" and _all_may_restart(spec):
        return
    containers = {container.get("name"): container for container in spec.get(kind.removesuffix("Statuses") + "s") or ()}
    alive = {status.get("name") for status in new if not (status.get("state") or {}).get("terminated")}
    for index, status in enumerate(old):
        ended, name = (status.get("state") or {}).get("terminated"), status.get("name")
        if not ended or name not in alive:
            continue
        code = ended.get("exitCode", 0)
        container = None if kind == "ephemeralContainerStatuses" else containers.get(name)
        if container is None or not _restarts(container, spec, code):
            yield forbidden(f"status.{kind}[{index}].state", _BACK)


def _all_may_restart(spec: Document) -> bool:
    return any(
        rule.get("action") == "RestartAllContainers"
        for key in ("containers", "initContainers")
        for container in spec.get(key) or ()
        for rule in container.get("restartPolicyRules") or ()
    )


def _restarts(container: Document, spec: Document, code: int) -> bool:
    for rule in container.get("restartPolicyRules") or ():
        codes = rule.get("exitCodes")
        if codes and rule.get("action") == "Restart":
            listed = code in (codes.get("values") or ())
            if listed == (codes.get("operator") == "In"):
                return True
    policy = container.get("restartPolicy") or spec.get("restartPolicy")
    return policy == "Always" or (policy == "OnFailure" and code != 0)


def _claims(status: Document, spec: Document) -> Iterator[Cause]:
    names = {claim.get("name") for claim in spec.get("resourceClaims") or ()}
    seen: set[str] = set()
    for index, claim in enumerate(status.get("resourceClaimStatuses") or ()):
        where, name = f"status.resourceClaimStatuses[{index}]", claim.get("name", "")
        if name not in names:
            yield invalid(f"{where}.name", name, "must match the name of an entry in `spec.resourceClaims`")
        if name in seen:
            yield duplicate(f"{where}.name", name)
        seen.add(name)
        if claim.get("resourceClaimName") is not None:
            yield from subdomain(claim["resourceClaimName"], f"{where}.resourceClaimName")
    if (extended := status.get("extendedResourceClaimStatus")) is not None:
        yield from _extended(extended, spec, "status.extendedResourceClaimStatus")
    if allocated := status.get("nodeAllocatableResourceClaimStatuses"):
        yield from _allocatable(allocated, status, spec, "status.nodeAllocatableResourceClaimStatuses")


def _extended(status: Document, spec: Document, path: str) -> Iterator[Cause]:
    containers = {c.get("name"): c for key in ("initContainers", "containers") for c in spec.get(key) or ()}
    mappings = status.get("requestMappings") or ()
    if not mappings:
        yield required(f"{path}.requestMappings", "at least one request mapping is required")
    seen: set[tuple[str, ...]] = set()
    for index, mapping in enumerate(mappings):
        where = f"{path}.requestMappings[{index}]"
        key = tuple(mapping.get(name, "") for name in ("containerName", "resourceName", "requestName"))
        container = containers.get(key[0])
        if container is None:
            why = "must match the name of an entry in spec.initContainers.name or spec.containers.name"
            yield invalid(f"{where}.containerName", key[0], why)
        elif key[1] not in ((container.get("resources") or {}).get("requests") or {}):
            why = "must match the extended resource name of an entry in spec.initContainers.resources.requests or "
            yield invalid(f"{where}.resourceName", key[1], f"{why}spec.containers.resources.requests")
        yield from label(key[2], f"{path}.requestName")
        if key in seen:
            for name, value in zip(("containerName", "resourceName", "requestName"), key, strict=True):
                yield duplicate(f"{where}.{name}", value)
        seen.add(key)
    yield from rules(need("resourceClaimName", subdomain))(status, path)


def _allocatable(given: Sequence[Document], status: Document, spec: Document, path: str) -> Iterator[Cause]:
    referred = [*(spec.get("resourceClaims") or ()), *(status.get("resourceClaimStatuses") or ())]
    known = {claim.get("resourceClaimName") for claim in referred} - {None}
    for index, claim in enumerate(given):
        where, name = f"{path}[{index}]", claim.get("resourceClaimName", "")
        if not name:
            yield required(f"{where}.resourceClaimName", "must not be empty")
        if name not in known:
            yield invalid(f"{where}.resourceClaimName", name, "no mapping found in pod reference")
        for key in ("containers", "resources"):
            if not claim.get(key):
                yield required(f"{where}.{key}", "must not be empty")
        for resource, value in (claim.get("resources") or {}).items():
            if not is_native(resource):
                yield invalid(f"{where}.resources[{resource}]", resource, "must be a node allocatable resource name")
            if str(value).startswith("-"):
                yield invalid(f"{where}.resources[{resource}]", value, "must be non-negative")


def _pod_addresses(status: Document) -> list[str]:
    """The addresses of a pod; where the single one differs, it alone counts."""
    single, several = status.get("podIP", ""), [each.get("ip", "") for each in status.get("podIPs") or ()]
    return [single] if single and single != "".join(several[:1]) else several


def _addresses(given: list[str], before: list[str], path: str) -> Iterator[Cause]:
    if given == before:
        return
    for index, value in enumerate(given):
        if value not in before:
            yield from address(value, f"{path}[{index}]")
    if len(given) > 1:
        parsed = [parse_address(value) for value in given]
        if None in parsed:
            index = parsed.index(None)
            why = f"Internal error: failed to check for dual stack with error:invalid IP[{index}]: {given[index]}"
            yield Cause(path, why, "InternalError")
        if None in parsed or len({each.version for each in parsed if each is not None}) != 2 or len(given) > 2:
            shown = [go_struct({"ip": value}, ("ip",)) for value in given]
            yield invalid(path, shown, "may specify no more than one IP for each IP family")


def _container(status: Document, spec: Document, kind: str, path: str) -> Iterator[Cause]:
    linux = (status.get("user") or {}).get("linux")
    if linux is not None:
        if (spec.get("os") or {}).get("name", "linux") == "windows":
            yield forbidden(f"{path}.user.linux", "cannot be set for a windows pod")
        else:
            yield from _LINUX(linux, f"{path}.user.linux")
    allocated = status.get("allocatedResourcesStatus") or ()
    if kind == "ephemeralContainerStatuses":
        if allocated:
            yield forbidden(f"{path}.allocatedResourcesStatus", "must not be specified in container status")
        return
    containers = spec.get(kind.removesuffix("Statuses") + "s") or ()
    own = next((c for c in containers if c.get("name") == status.get("name")), None)
    for index, resource in enumerate(allocated):
        yield from _allocated(resource, own, f"{path}.allocatedResourcesStatus[{index}]")


def _allocated(resource: Document, container: Document | None, path: str) -> Iterator[Cause]:
    name = resource.get("name", "")
    if container is not None:
        asked = container.get("resources") or {}
        if name.startswith("claim:"):
            names = [
                c.get("name", "") + (f"/{c['request']}" if c.get("request") else "") for c in asked.get("claims") or ()
            ]
            found = name.removeprefix("claim:") in names
            why = (
                "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or "
                "'claim:<claimName>' if request is empty"
            )
        else:
            found, why = name in (asked.get("requests") or {}), "must match one of the container's resource requests"
        if not found:
            yield invalid(f"{path}.name", name, why)
    yield from _RESOURCES(resource, path)


def _message(message: str, path: str) -> Iterable[Cause]:
    return longest(1024)(message, path) if message else (required(path, "must be non-empty if specified"),)


_HEALTH = rules(always("health", among("Healthy", "Unhealthy", "Unknown")), present("message", _message))
_RESOURCES = rules(each("resources", _HEALTH, unique="resourceID"))
_LINUX = rules(present("uid", identity), present("gid", identity), each("supplementalGroups", identity))
