"""The spec of a pod, on its own or in a template. Each distinct spec is looked at once.

Upstream: ValidatePodSpec of pkg/apis/core/validation/validation.go.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

import orjson

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import duplicate, forbidden, invalid, required, too_long, unsupported
from seatrial.store.object_meta import label_causes, subdomain_faults
from seatrial.store.validation.formats import MOST_INT32, address, between, label, qualified, search_faults, subdomain
from seatrial.store.validation.formats import each as each_fault
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
from seatrial.store.validation.rules import always, among, each, filled, given, items, need, present, ranged, rules

PREEMPTION = among("PreemptLowerPriority", "Never")
_REMEMBERED = 4096
_SOME_NODE = "node"


def pod_spec_causes(spec: Document, path: str, *, is_pod: bool, name: str = "") -> tuple[Cause, ...]:
    """Validation errors of a spec; `name` is that of the pod, which volumes with claims of their own depend on.

    Pods on different nodes are looked at once: of the name of a node only the form is checked.
    """
    if name and not any(volume.get("ephemeral") for volume in spec.get("volumes") or ()):
        name = ""
    if (node := spec.get("nodeName")) and not subdomain_faults(node):
        spec = {**spec, "nodeName": _SOME_NODE}
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
    yield from _POLICIES(spec, path)
    everything = every_container(spec, path)
    yield from host_process(spec, everything, path)
    if spec.get("hostUsers") is False:
        yield from _user_namespace(spec, everything, path)
    yield from _host_name_override(spec, path)
    yield from _NAMES(spec, path)
    yield from _rest(spec, everything, path)
    if is_pod:
        yield from _only_for_pods(spec, path)


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


def _needs_dns(spec: Document, path: str) -> Iterator[Cause]:
    config, path = spec.get("dnsConfig"), f"{path}.dnsConfig"
    missing = spec.get("dnsPolicy") == "None"
    if missing and config is None:
        yield required(path, "must provide `dnsConfig` when `dnsPolicy` is None")
    elif config is None:
        return
    elif missing and not config.get("nameservers"):
        yield required(f"{path}.nameservers", "must provide at least one DNS nameserver when `dnsPolicy` is None")
    else:
        yield from _DNS_CONFIG(config, path)


def _servers(servers: list[str], path: str) -> Iterator[Cause]:
    if len(servers) > 3:
        yield invalid(path, servers, "must not have more than 3 nameservers")


def _searches(paths: list[str], path: str) -> Iterator[Cause]:
    if len(paths) > 32:
        yield invalid(path, paths, "must not have more than 32 search paths")
    if len(" ".join(paths)) > 2048:
        yield invalid(path, paths, "must not have more than 2048 characters (including spaces) in the search list")
    for index, search in enumerate(paths):
        if search != ".":
            yield from each_fault(search_faults, search.removesuffix("."), f"{path}[{index}]")


def _option(option: Document, path: str) -> Iterable[Cause]:
    return () if option.get("name") else (required(path, "must not be empty"),)


_DNS_CONFIG = rules(
    given("nameservers", _servers, items(address)), given("searches", _searches), each("options", _option)
)
_POLICIES = rules(
    need("restartPolicy", among("Always", "OnFailure", "Never")),
    need("dnsPolicy", among("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")),
    given("nodeSelector", label_causes),
    _context,
    present("affinity", affinity),
    _needs_dns,
    each("readinessGates", rules(always("conditionType", qualified))),
    given("schedulingGates", scheduling_gates),
    given("topologySpreadConstraints", spreading),
)


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


def _alias(alias: Document, path: str) -> Iterator[Cause]:
    yield from address(alias.get("ip", ""), f"{path}.ip")
    for position, name in enumerate(alias.get("hostnames") or ()):
        yield from subdomain(name, f"{path}.hostnames[{position}]")


_NAMES = rules(
    given("serviceAccountName", subdomain),
    given("nodeName", subdomain),
    present("activeDeadlineSeconds", ranged(1, MOST_INT32, between(1, MOST_INT32))),
    given("hostname", label),
    given("subdomain", label),
    given("tolerations", tolerations),
    each("hostAliases", _alias),
    given("priorityClassName", subdomain),
    present("runtimeClassName", subdomain),
    present("preemptionPolicy", filled),
    given("preemptionPolicy", PREEMPTION),
)


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
