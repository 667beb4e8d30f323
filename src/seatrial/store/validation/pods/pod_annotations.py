"""Annotations of pods that mean something, and how they agree with the fields that replaced them.

Upstream: ValidatePodSpecificAnnotations, validateSeccompAnnotationsAndFields and
validateAppArmorAnnotationsAndFieldsMatchOnCreate of pkg/apis/core/validation/validation.go.
"""

import re
from collections.abc import Iterator, Mapping

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.model.integers import int_of
from seatrial.store.field_errors import forbidden, invalid
from seatrial.store.validation.formats import descending
from seatrial.store.validation.pods.pod_specs import every_container

MIRROR = "kubernetes.io/config.mirror"
NOWHERE = "[]"
"""The field of what is wrong with a pod as such."""
DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
SECCOMP_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/"
APPARMOR = "container.apparmor.security.beta.kubernetes.io/"
_COST = re.compile("0|-[0-9]+|[1-9][0-9]*")
Annotations = Mapping[str, str]


def annotation_causes(annotations: Annotations, spec: Document, path: str) -> Iterator[Cause]:
    """Validation errors of the annotations of a pod or template."""
    if MIRROR in annotations and not spec.get("nodeName"):
        why = "must set spec.nodeName if mirror pod annotation is set"
        yield invalid(f"{path}[{MIRROR}]", annotations[MIRROR], why)
    cost = annotations.get(DELETION_COST)
    if cost is not None and not (_COST.fullmatch(cost) and -(2**31) <= int_of(cost) < 2**31):
        yield invalid(f"{path}[{DELETION_COST}]", cost, "must be a 32bit integer")
    for key, value in annotations.items():
        if key == SECCOMP_POD or key.startswith(SECCOMP_CONTAINER):
            yield from _seccomp(value, f"{path}.{key}")
        elif key.startswith(APPARMOR):
            yield from _apparmor(key, value, spec, path)


def _seccomp(value: str, path: str) -> Iterator[Cause]:
    if value.startswith("localhost/"):
        yield from descending(value.removeprefix("localhost/"), path)
    elif value not in ("runtime/default", "docker/default", "unconfined"):
        yield invalid(path, value, "must be a valid seccomp profile")


def _apparmor(key: str, value: str, spec: Document, path: str) -> Iterator[Cause]:
    name = key.removeprefix(APPARMOR)
    if not any(container.get("name") == name for container, _ in every_container(spec, "")):
        yield invalid(f"{path}[{key}]", name, "container not found")
    if value not in ("", "runtime/default", "unconfined") and not value.startswith("localhost/"):
        yield invalid(f"{path}[{key}]", value, f'invalid AppArmor profile name: "{value}"')


def agreement_causes(annotations: Annotations, spec: Document, path: str) -> Iterator[Cause]:
    """Errors for a deprecated annotation that differs from the field that replaced it."""
    context = spec.get("securityContext") or {}
    profile = context.get("seccompProfile")
    if profile and SECCOMP_POD in annotations:
        where = f"{path}.securityContext.seccompProfile"
        yield from _agrees("seccomp", annotations[SECCOMP_POD], profile, where)
    everything = every_container(spec, path)
    for container, where in everything:
        own = (container.get("securityContext") or {}).get("seccompProfile")
        key = f"{SECCOMP_CONTAINER}{container.get('name', '')}"
        if own and key in annotations:
            yield from _agrees("seccomp", annotations[key], own, f"{where}.securityContext.seccompProfile")
    if (spec.get("os") or {}).get("name") == "windows":
        return
    for container, where in everything:
        own = (container.get("securityContext") or {}).get("appArmorProfile") or context.get("appArmorProfile")
        key = f"{APPARMOR}{container.get('name', '')}"
        if own and key in annotations:
            yield from _agrees("apparmor", annotations[key], own, f"{where}.securityContext.appArmorProfile")


def _agrees(what: str, value: str, profile: Document, path: str) -> Iterator[Cause]:
    kind = profile.get("type")
    default = ("runtime/default", "docker/default") if what == "seccomp" else ("runtime/default",)
    same = {"Unconfined": ("unconfined",), "RuntimeDefault": default}.get(kind or "")
    if kind == "Localhost":
        if not value.startswith("localhost/"):
            yield forbidden(f"{path}.type", f"{what} type in annotation and field must match")
        elif value.removeprefix("localhost/") != profile.get("localhostProfile"):
            yield forbidden(f"{path}.localhostProfile", f"{what} profile in annotation and field must match")
    elif same is not None and value not in same:
        yield forbidden(f"{path}.type", f"{what} type in annotation and field must match")


def annotation_update_causes(annotations: Annotations, old: Annotations, path: str) -> Iterator[Cause]:
    """Annotations that a pod keeps for life."""
    for key, value in old.items():
        if annotations.get(key) != value:
            if key.startswith(APPARMOR):
                yield forbidden(f"{path}[{key}]", "may not remove or update AppArmor annotations")
            elif key == MIRROR:
                yield forbidden(f"{path}[{key}]", "may not remove or update mirror pod annotation")
    for key in annotations:
        if key not in old:
            if key.startswith(APPARMOR):
                yield forbidden(f"{path}[{key}]", "may not add AppArmor annotations")
            elif key == MIRROR:
                yield forbidden(f"{path}[{key}]", "may not add mirror pod annotation")
