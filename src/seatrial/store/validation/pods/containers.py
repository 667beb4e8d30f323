"""The containers of a pod: regular, init and ephemeral ones.

Upstream: validateContainers, validateInitContainers and validateEphemeralContainers of
pkg/apis/core/validation/validation.go.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import duplicate, forbidden, invalid, not_found_value, required, unsupported
from seatrial.store.validation.formats import each as each_fault
from seatrial.store.validation.formats import label, port_name_faults, port_number
from seatrial.store.validation.pods.environment import environment_from, variable
from seatrial.store.validation.pods.handlers import lifecycle, probes
from seatrial.store.validation.pods.requirements import container_requirements
from seatrial.store.validation.pods.security import container_context
from seatrial.store.validation.pods.volumes import PULL_POLICIES, devices, mounts
from seatrial.store.validation.rules import always, among, at_most, each, given, items, need, need_set, present, rules

PROTOCOL = among("SCTP", "TCP", "UDP")
_RESIZES = ("NotRequired", "RestartContainer")
_ONLY_SIDECARS = ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe")
_NOT_EPHEMERAL = (
    "ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules", *_ONLY_SIDECARS[1:], "lifecycle"
)  # fmt: skip


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
    yield from _BASICS(container, path)
    if container.get("volumeMounts"):
        yield from mounts(container, pod.volumes, f"{path}.volumeMounts")
    if container.get("volumeDevices"):
        yield from devices(container, pod.volumes, f"{path}.volumeDevices")
    policy = container.get("imagePullPolicy", "")
    if policy not in PULL_POLICIES:
        yield (
            unsupported(f"{path}.imagePullPolicy", policy, PULL_POLICIES)
            if policy
            else required(f"{path}.imagePullPolicy")
        )
    if resources := container.get("resources"):
        yield from container_requirements(resources, pod.claims, f"{path}.resources")
    if policies := container.get("resizePolicy"):
        yield from _resize_policy(policies, pod.restart_policy, f"{path}.resizePolicy")
    if context := container.get("securityContext"):
        yield from container_context(context, f"{path}.securityContext", host_users=pod.host_users)


def _port_names(ports: Sequence[Document], path: str) -> Iterator[Cause]:
    names: set[str] = set()
    for index, port in enumerate(ports):
        where, name = f"{path}[{index}]", port.get("name", "")
        if name:
            faults = list(each_fault(port_name_faults, name, f"{where}.name"))
            yield from faults
            if not faults and name in names:
                yield duplicate(f"{where}.name", name)
            names.add(name)
        yield from _PORT(port, where)


_PORT = rules(
    need("containerPort", port_number),
    given("hostPort", port_number),
    need("protocol", PROTOCOL),
)
_BASICS = rules(
    need("name", label),
    need("image"),
    need("terminationMessagePolicy", among("File", "FallbackToLogsOnError")),
    given("ports", _port_names),
    each("env", variable),
    given("envFrom", environment_from),
)


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
    if container.get("restartPolicy") is None and container.get("restartPolicyRules"):
        yield required(f"{path}.restartPolicy", "must specify restartPolicy when restart rules are used")
    yield from _RESTARTS(container, path)


_EXIT_CODES = rules(always("operator", among("In", "NotIn")), given("values", at_most(255)))
_RESTARTS = rules(
    present("restartPolicy", among("Always", "Never", "OnFailure")),
    given(
        "restartPolicyRules",
        at_most(20),
        items(
            rules(
                always("action", among("Restart", "RestartAllContainers")),
                need_set("exitCodes", _EXIT_CODES, text="must be specified"),
            )
        ),
    ),
)
