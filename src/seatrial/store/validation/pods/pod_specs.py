"""The spec of a pod, on its own or in a template. Each distinct spec is looked at once.

Upstream: ValidatePodSpec of pkg/apis/core/validation/validation.go.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache

import orjson

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import duplicate, forbidden, invalid, required, too_long, unsupported
from seatrial.store.object_meta import label_causes
from seatrial.store.validation.formats import MOST_INT32, address, between, each, label, qualified, subdomain
from seatrial.store.validation.formats import search_faults as searches
from seatrial.store.validation.go_values import go_struct
from seatrial.store.validation.pods.containers import (
    Surroundings,
    containers,
    ephemeral_containers,
    image_whitespace,
    init_containers,
)
from seatrial.store.validation.pods.environment import file_volumes
from seatrial.store.validation.pods.placement import affinity, scheduling_gates, spreading, tolerations
from seatrial.store.validation.pods.requirements import container_requirements, pod_requirements
from seatrial.store.validation.pods.security import pod_context
from seatrial.store.validation.pods.volumes import volumes
from seatrial.store.validation.pods.windows import host_process, linux_pod, windows_pod

RESTARTS = ("Always", "OnFailure", "Never")
PREEMPTIONS = ("PreemptLowerPriority", "Never")
_DNS = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_REMEMBERED = 4096


def pod_spec_causes(spec: Document, path: str, *, is_pod: bool, name: str = "") -> tuple[Cause, ...]:
    """Validation errors of a spec; `name` is that of the pod, which volumes with claims of their own depend on."""
    if name and not any(volume.get("ephemeral") for volume in spec.get("volumes") or ()):
        name = ""
    return _remembered(orjson.dumps(spec), path, is_pod, name)


@lru_cache(_REMEMBERED)
def _remembered(data: bytes, path: str, is_pod: bool, name: str) -> tuple[Cause, ...]:
    return tuple(_spec(orjson.loads(data), path, is_pod, name))


def every_container(spec: Document, path: str) -> list[tuple[Document, str]]:
    """All containers and their paths, in upstream's order."""
    return [
        (container, f"{path}.{key}[{index}]")
        for key in ("initContainers", "containers", "ephemeralContainers")
        for index, container in enumerate(spec.get(key) or ())
    ]


def _spec(spec: Document, path: str, is_pod: bool, name: str) -> Iterator[Cause]:
    if spec.get("terminationGracePeriodSeconds") is None:
        yield required(f"{path}.terminationGracePeriodSeconds")
    known: dict[str, Document] = {}
    if given := spec.get("volumes"):
        yield from volumes(given, name, f"{path}.volumes", known, is_pod=is_pod)
    claims = spec.get("resourceClaims") or ()
    yield from _resource_claims(claims, f"{path}.resourceClaims")
    grace = spec.get("terminationGracePeriodSeconds")
    pod = Surroundings(
        known,
        frozenset(claim["name"] for claim in claims if claim.get("name")),
        1 if grace is not None and grace < 0 else grace,
        spec.get("restartPolicy", ""),
        spec.get("hostUsers") is not False,
    )
    regular, init = spec.get("containers") or [], spec.get("initContainers") or []
    yield from containers(regular, pod, f"{path}.containers")
    yield from init_containers(init, regular, pod, f"{path}.initContainers")
    if joined := spec.get("ephemeralContainers"):
        yield from ephemeral_containers(joined, [*regular, *init], pod, f"{path}.ephemeralContainers")
    if spec.get("resources") is not None:
        yield from pod_requirements(spec, path)
    yield from _host_network(spec, path, is_pod)
    for key, allowed in (("restartPolicy", RESTARTS), ("dnsPolicy", _DNS)):
        yield from _choice(spec.get(key, ""), allowed, f"{path}.{key}")
    yield from label_causes(spec.get("nodeSelector") or {}, f"{path}.nodeSelector")
    yield from _context(spec, path)
    if (drawn := spec.get("affinity")) is not None:
        yield from affinity(drawn, f"{path}.affinity")
    yield from _dns_config(spec.get("dnsConfig"), spec.get("dnsPolicy"), f"{path}.dnsConfig")
    yield from _gates_and_spread(spec, path)
    everything = every_container(spec, path)
    yield from host_process(spec, everything, path)
    if spec.get("hostUsers") is False:
        yield from _user_namespace(spec, everything, path)
    yield from _host_name_override(spec, path)
    yield from _names(spec, path)
    yield from _rest(spec, everything, path)
    if is_pod:
        yield from _only_for_pods(spec, path)


def _choice(value: str, allowed: Sequence[str], path: str) -> Iterator[Cause]:
    if not value:
        yield required(path)
    elif value not in allowed:
        yield unsupported(path, value, allowed)


def _resource_claims(claims: Sequence[Document], path: str) -> Iterator[Cause]:
    seen: set[str] = set()
    for index, claim in enumerate(claims):
        where, name = f"{path}[{index}]", claim.get("name", "")
        if not name:
            yield required(f"{where}.name")
        elif name in seen:
            yield duplicate(f"{where}.name", name)
        else:
            yield from label(name, f"{where}.name")
            seen.add(name)
        own, template = claim.get("resourceClaimName"), claim.get("resourceClaimTemplateName")
        shown = go_struct(claim, ("name", "resourceClaimName", "resourceClaimTemplateName"), {"name": ""})
        if own is not None and template is not None:
            why = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
            yield invalid(where, shown, why)
        if own is None and template is None:
            yield invalid(where, shown, "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`")
        for key in ("resourceClaimName", "resourceClaimTemplateName"):
            if claim.get(key) is not None:
                yield from subdomain(claim[key], f"{where}.{key}")


def _host_network(spec: Document, path: str, is_pod: bool) -> Iterator[Cause]:
    if not spec.get("hostNetwork"):
        return
    for index, container in enumerate(spec.get("containers") or ()):
        for position, port in enumerate(container.get("ports") or ()):
            own, inner = port.get("hostPort", 0), port.get("containerPort", 0)
            if (is_pod or own) and own != inner:
                where = f"{path}.containers[{index}].ports[{position}].hostPort"
                yield invalid(where, own, "must match `containerPort` when `hostNetwork` is true")


def _context(spec: Document, path: str) -> Iterator[Cause]:
    context = spec.get("securityContext")
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        why = "ShareProcessNamespace and HostPID cannot both be enabled"
        yield invalid(f"{path}.securityContext.shareProcessNamespace", True, why)
    if context:
        yield from pod_context(context, spec, f"{path}.securityContext")


def _dns_config(config: Document | None, policy: str | None, path: str) -> Iterator[Cause]:
    if policy == "None":
        if config is None:
            yield required(path, "must provide `dnsConfig` when `dnsPolicy` is None")
            return
        if not config.get("nameservers"):
            why = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            yield required(f"{path}.nameservers", why)
            return
    if config is None:
        return
    servers, paths = config.get("nameservers") or [], config.get("searches") or []
    if len(servers) > 3:
        yield invalid(f"{path}.nameservers", servers, "must not have more than 3 nameservers")
    for index, server in enumerate(servers):
        yield from address(server, f"{path}.nameservers[{index}]")
    if len(paths) > 32:
        yield invalid(f"{path}.searches", paths, "must not have more than 32 search paths")
    if len(" ".join(paths)) > 2048:
        why = "must not have more than 2048 characters (including spaces) in the search list"
        yield invalid(f"{path}.searches", paths, why)
    for index, search in enumerate(paths):
        if search != ".":
            yield from each(searches, search.removesuffix("."), f"{path}.searches[{index}]")
    for index, option in enumerate(config.get("options") or ()):
        if not option.get("name"):
            yield required(f"{path}.options[{index}]", "must not be empty")


def _gates_and_spread(spec: Document, path: str) -> Iterator[Cause]:
    for index, gate in enumerate(spec.get("readinessGates") or ()):
        yield from qualified(gate.get("conditionType", ""), f"{path}.readinessGates[{index}].conditionType")
    if gates := spec.get("schedulingGates"):
        yield from scheduling_gates(gates, f"{path}.schedulingGates")
    if constraints := spec.get("topologySpreadConstraints"):
        yield from spreading(constraints, f"{path}.topologySpreadConstraints")


def _user_namespace(spec: Document, everything: list[tuple[Document, str]], path: str) -> Iterator[Cause]:
    why = "when `hostUsers` is false"
    for key, name in (("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")):
        if spec.get(key):
            yield forbidden(f"{path}.{name}", why)
    for container, where in everything:
        if container.get("volumeDevices"):
            yield forbidden(f"{where}.volumeDevices", why)


def _host_name_override(spec: Document, path: str) -> Iterator[Cause]:
    name, where = spec.get("hostnameOverride"), f"{path}.hostnameOverride"
    if name is None:
        return
    if spec.get("setHostnameAsFQDN"):
        yield forbidden(where, "may not be specified when setHostnameAsFQDN is true")
    if spec.get("hostNetwork"):
        yield forbidden(where, "may not be specified when hostNetwork is true")
    if len(name.encode()) > 64:
        yield too_long(where, 64)
    yield from subdomain(name, where)


def _names(spec: Document, path: str) -> Iterator[Cause]:
    for key in ("serviceAccountName", "nodeName"):
        if spec.get(key):
            yield from subdomain(spec[key], f"{path}.{key}")
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline <= MOST_INT32:
        yield invalid(f"{path}.activeDeadlineSeconds", deadline, between(1, MOST_INT32))
    for key in ("hostname", "subdomain"):
        if spec.get(key):
            yield from label(spec[key], f"{path}.{key}")
    if given := spec.get("tolerations"):
        yield from tolerations(given, f"{path}.tolerations")
    for index, alias in enumerate(spec.get("hostAliases") or ()):
        yield from address(alias.get("ip", ""), f"{path}.hostAliases[{index}].ip")
        for position, name in enumerate(alias.get("hostnames") or ()):
            yield from subdomain(name, f"{path}.hostAliases[{index}].hostnames[{position}]")
    if spec.get("priorityClassName"):
        yield from subdomain(spec["priorityClassName"], f"{path}.priorityClassName")
    if spec.get("runtimeClassName") is not None:
        yield from subdomain(spec["runtimeClassName"], f"{path}.runtimeClassName")
    if (preemption := spec.get("preemptionPolicy")) is not None:
        yield from _choice(preemption, PREEMPTIONS, f"{path}.preemptionPolicy")


def _rest(spec: Document, everything: list[tuple[Document, str]], path: str) -> Iterator[Cause]:
    if (overhead := spec.get("overhead")) is not None:
        yield from container_requirements({"limits": overhead}, (), f"{path}.overhead")
    if (system := spec.get("os")) is not None:
        name = system.get("name", "")
        if not name:
            yield required(f"{path}.os.name")
        elif name == "linux":
            yield from linux_pod(spec, everything, path)
        elif name == "windows":
            yield from windows_pod(spec, everything, path)
        else:
            yield unsupported(f"{path}.os", name, ("linux", "windows"))
    named = {volume.get("name", ""): volume for volume in spec.get("volumes") or ()}
    for container, where in everything:
        if variables := container.get("env"):
            yield from file_volumes(variables, named, f"{where}.env")


def _only_for_pods(spec: Document, path: str) -> Iterator[Cause]:
    if not spec.get("serviceAccountName"):
        for index, volume in enumerate(spec.get("volumes") or ()):
            for position, source in enumerate((volume.get("projected") or {}).get("sources") or ()):
                if source.get("serviceAccountToken") is not None:
                    where = f"{path}.volumes[{index}].projected.sources[{position}].serviceAccountToken"
                    yield forbidden(where, "must not be specified when serviceAccountName is not set")
    for key in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(key) or ()):
            yield from image_whitespace(container, f"{path}.{key}[{index}]")
