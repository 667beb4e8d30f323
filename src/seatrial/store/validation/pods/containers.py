"""The containers of a pod: regular, init and ephemeral ones.

Upstream: validateContainers, validateInitContainers and validateEphemeralContainers of
pkg/apis/core/validation/validation.go.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import duplicate, forbidden, invalid, not_found_value, required, too_many, unsupported
from seatrial.store.validation.formats import each, label, port_name_faults, port_number
from seatrial.store.validation.pods.environment import environment, environment_from
from seatrial.store.validation.pods.handlers import lifecycle, probes
from seatrial.store.validation.pods.requirements import container_requirements
from seatrial.store.validation.pods.security import container_context
from seatrial.store.validation.pods.volumes import devices, mounts, pull_policy

PROTOCOLS = ("SCTP", "TCP", "UDP")
_MESSAGE_POLICIES = ("File", "FallbackToLogsOnError")
_RESTARTS = ("Always", "Never", "OnFailure")
_RESIZES = ("NotRequired", "RestartContainer")
_ONLY_SIDECARS = ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe")
_NOT_EPHEMERAL = (
    "ports",
    "resources",
    "resizePolicy",
    "restartPolicy",
    "restartPolicyRules",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The facts about a pod that the validation of its containers reads."""

    volumes: Mapping[str, Document]
    claims: frozenset[str]
    grace: int | None
    restart_policy: str
    host_users: bool


def containers(given: Sequence[Document], pod: Surroundings, path: str) -> Iterator[Cause]:
    """The regular containers."""
    if not given:
        yield required(path)
        return
    names: set[str] = set()
    for index, container in enumerate(given):
        where, name = f"{path}[{index}]", container.get("name", "")
        yield from _container(container, pod, where)
        if name in names:
            yield duplicate(f"{where}.name", name)
        names.add(name)
        if container.get("lifecycle") is not None:
            yield from lifecycle(container["lifecycle"], pod.grace, f"{where}.lifecycle")
        yield from probes(container, where)
        yield from _restart_policy(container, where)
    yield from _host_ports(given, path)


def init_containers(
    given: Sequence[Document], regular: Sequence[Document], pod: Surroundings, path: str
) -> Iterator[Cause]:
    """Init containers, which run before the regular ones, and sidecars, which run with them."""
    names = {container.get("name", "") for container in regular}
    for index, container in enumerate(given):
        where, name = f"{path}[{index}]", container.get("name", "")
        sidecar = container.get("restartPolicy") == "Always"
        yield from _container(container, pod, where)
        yield from _restart_policy(container, where)
        if name in names:
            yield duplicate(f"{where}.name", name)
        elif name:
            names.add(name)
        yield from _host_ports([container], path)
        if sidecar:
            if container.get("lifecycle") is not None:
                yield from lifecycle(container["lifecycle"], pod.grace, f"{where}.lifecycle")
            yield from probes(container, where)
            continue
        for key in _ONLY_SIDECARS:
            if container.get(key) is not None:
                why = "may not be set for init containers without restartPolicy=Always"
                yield forbidden(f"{where}.{key}", why)
        for position, policy in enumerate(container.get("resizePolicy") or ()):
            if policy.get("restartPolicy") == "RestartContainer":
                why = "must not be set to 'RestartContainer' for non-sidecar initContainers"
                yield invalid(f"{where}.resizePolicy[{position}].restartPolicy", "RestartContainer", why)


def ephemeral_containers(
    given: Sequence[Document], others: Sequence[Document], pod: Surroundings, path: str
) -> Iterator[Cause]:
    """Containers that join a running pod."""
    known = {container.get("name", "") for container in others}
    names = set(known)
    for index, container in enumerate(given):
        where, name, target = f"{path}[{index}]", container.get("name", ""), container.get("targetContainerName", "")
        yield from _container(container, pod, where)
        yield from image_whitespace(container, where)
        if name in names:
            yield duplicate(f"{where}.name", name)
        names.add(name)
        if target and target not in known:
            yield not_found_value(f"{where}.targetContainerName", target)
        why = "cannot be set for an Ephemeral Container"
        for key in _NOT_EPHEMERAL:
            if container.get(key):
                yield forbidden(f"{where}.{key}", why)
        for position, mount in enumerate(container.get("volumeMounts") or ()):
            for key in ("subPath", "subPathExpr"):
                if mount.get(key):
                    yield forbidden(f"{where}.volumeMounts[{position}].{key}", why)


def image_whitespace(container: Document, path: str) -> Iterator[Cause]:
    """The image of a pod, unlike that of a template, is what is pulled."""
    image = container.get("image", "")
    if image != image.strip():
        yield invalid(f"{path}.image", image, "must not have leading or trailing whitespace")


def _container(container: Document, pod: Surroundings, path: str) -> Iterator[Cause]:
    name = container.get("name", "")
    if not name:
        yield required(f"{path}.name")
    else:
        yield from label(name, f"{path}.name")
    if not container.get("image"):
        yield required(f"{path}.image")
    message = container.get("terminationMessagePolicy", "")
    if not message:
        yield required(f"{path}.terminationMessagePolicy")
    elif message not in _MESSAGE_POLICIES:
        yield unsupported(f"{path}.terminationMessagePolicy", message, _MESSAGE_POLICIES)
    if ports := container.get("ports"):
        yield from _ports(ports, f"{path}.ports")
    if variables := container.get("env"):
        yield from environment(variables, f"{path}.env")
    if sources := container.get("envFrom"):
        yield from environment_from(sources, f"{path}.envFrom")
    if container.get("volumeMounts"):
        yield from mounts(container, pod.volumes, f"{path}.volumeMounts")
    if container.get("volumeDevices"):
        yield from devices(container, pod.volumes, f"{path}.volumeDevices")
    yield from pull_policy(container.get("imagePullPolicy", ""), f"{path}.imagePullPolicy")
    if resources := container.get("resources"):
        yield from container_requirements(resources, pod.claims, f"{path}.resources")
    if policies := container.get("resizePolicy"):
        yield from _resize_policy(policies, pod.restart_policy, f"{path}.resizePolicy")
    if context := container.get("securityContext"):
        yield from container_context(context, f"{path}.securityContext", host_users=pod.host_users)


def _ports(ports: Sequence[Document], path: str) -> Iterator[Cause]:
    names: set[str] = set()
    for index, port in enumerate(ports):
        where, name, protocol = f"{path}[{index}]", port.get("name", ""), port.get("protocol", "")
        if name:
            faults = list(each(port_name_faults, name, f"{where}.name"))
            yield from faults
            if not faults and name in names:
                yield duplicate(f"{where}.name", name)
            names.add(name)
        number = port.get("containerPort", 0)
        if not number:
            yield required(f"{where}.containerPort")
        else:
            yield from port_number(number, f"{where}.containerPort")
        if port.get("hostPort"):
            yield from port_number(port["hostPort"], f"{where}.hostPort")
        if not protocol:
            yield required(f"{where}.protocol")
        elif protocol not in PROTOCOLS:
            yield unsupported(f"{where}.protocol", protocol, PROTOCOLS)


def _host_ports(given: Sequence[Document], path: str) -> Iterator[Cause]:
    seen: set[str] = set()
    for index, container in enumerate(given):
        for position, port in enumerate(container.get("ports") or ()):
            if not port.get("hostPort"):
                continue
            key = f"{port.get('protocol', '')}/{port.get('hostIP', '')}/{port['hostPort']}"
            if key in seen:
                yield duplicate(f"{path}[{index}].ports[{position}].hostPort", key)
            seen.add(key)


def _resize_policy(policies: Sequence[Document], restart_policy: str, path: str) -> Iterator[Cause]:
    seen: set[str] = set()
    for index, policy in enumerate(policies):
        name, restart = policy.get("resourceName", ""), policy.get("restartPolicy", "")
        if name in seen:
            yield duplicate(f"{path}[{index}]", name)
        seen.add(name)
        for value, allowed in ((name, ("cpu", "memory")), (restart, _RESIZES)):
            if not value:
                yield required(path)
            elif value not in allowed:
                yield unsupported(path, value, allowed)
        if restart_policy == "Never" and restart != "NotRequired":
            yield invalid(path, restart, "must be 'NotRequired' when pod `restartPolicy` is 'Never'")


def _restart_policy(container: Document, path: str) -> Iterator[Cause]:
    policy, rules = container.get("restartPolicy"), container.get("restartPolicyRules") or ()
    if policy is None:
        if not rules:
            return
        yield required(f"{path}.restartPolicy", "must specify restartPolicy when restart rules are used")
    elif policy not in _RESTARTS:
        yield unsupported(f"{path}.restartPolicy", policy, _RESTARTS)
    if len(rules) > 20:
        yield too_many(f"{path}.restartPolicyRules", len(rules), 20)
    for index, rule in enumerate(rules):
        where, actions = f"{path}.restartPolicyRules[{index}]", ("Restart", "RestartAllContainers")
        if rule.get("action", "") not in actions:
            yield unsupported(f"{where}.action", rule.get("action", ""), actions)
        codes = rule.get("exitCodes")
        if codes is None:
            yield required(f"{where}.exitCodes", "must be specified")
            continue
        if codes.get("operator", "") not in ("In", "NotIn"):
            yield unsupported(f"{where}.exitCodes.operator", codes.get("operator", ""), ("In", "NotIn"))
        if len(codes.get("values") or ()) > 255:
            yield too_many(f"{where}.exitCodes.values", len(codes["values"]), 255)
