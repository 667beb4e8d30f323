"""Validation of security contexts: the user, the groups and the capabilities of a pod and its containers.

Upstream: ValidateSecurityContext, validatePodSpecSecurityContext and what they call in
pkg/apis/core/validation/validation.go. Privileged containers are allowed, as nearly every cluster allows them.
"""

import re
from collections.abc import Iterator

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import duplicate, invalid, required, too_long, unsupported
from seatrial.store.validation.formats import descending, identity
from seatrial.store.validation.go_values import go_struct
from seatrial.store.validation.pods.windows import windows_options
from seatrial.store.validation.rules import among, each, present, rules

_PROFILES = ("Localhost", "RuntimeDefault", "Unconfined")
_SEGMENT = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SYSCTL = rf"({_SEGMENT}[\./])*{_SEGMENT}"
_CONTEXT = (
    "capabilities privileged seLinuxOptions windowsOptions runAsUser runAsGroup runAsNonRoot readOnlyRootFilesystem "
    "allowPrivilegeEscalation procMount seccompProfile appArmorProfile"
)
_NET = ("net.",)
_IPC = ("kernel.shm", "kernel.msg", "fs.mqueue.")


def container_context(context: Document, path: str, *, host_users: bool) -> Iterator[Cause]:
    """The security context of one container."""
    yield from _CONTAINER(context, path)
    mount = context.get("procMount")
    if host_users and mount == "Unmasked":
        yield invalid(f"{path}.procMount", mount, "`hostUsers` must be false to use `Unmasked`")
    yield from _SECCOMP(context, path)
    if context.get("allowPrivilegeEscalation") is False:
        given = context.get("capabilities")
        capabilities = go_struct(given, ("add", "drop")) if given is not None else None
        shown = go_struct({**context, "capabilities": capabilities}, _CONTEXT.split())
        if context.get("privileged"):
            why = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
            yield invalid(path, shown, why)
        if "CAP_SYS_ADMIN" in ((context.get("capabilities") or {}).get("add") or ()):
            why = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"
            yield invalid(path, shown, why)
    yield from _PROFILED(context, path)


def pod_context(context: Document, spec: Document, path: str) -> Iterator[Cause]:
    """The security context of a pod."""
    yield from _POD_IDENTITIES(context, path)
    yield from _sysctls(context.get("sysctls") or (), spec, f"{path}.sysctls")
    yield from _POD(context, path)


def _sysctls(given: list[Document] | tuple[()], spec: Document, path: str) -> Iterator[Cause]:
    seen: set[str] = set()
    for index, sysctl in enumerate(given):
        where, name = f"{path}[{index}].name", sysctl.get("name", "")
        if not name:
            yield required(where)
        elif len(name) > 253 or not re.fullmatch(_SYSCTL, name):
            yield invalid(where, name, f"must have at most 253 characters and match regex ^{_SYSCTL}$")
        elif name in seen:
            yield duplicate(where, name)
        dotted = name.replace("/", ".") if "/" in name.partition(".")[0] else name
        if spec.get("hostNetwork") and dotted.startswith(_NET):
            yield invalid(where, name, "may not be specified when 'hostNetwork' is true")
        elif spec.get("hostIPC") and (dotted.startswith(_IPC) or dotted == "kernel.sem"):
            yield invalid(where, name, "may not be specified when 'hostIPC' is true")
        seen.add(name)


def _seccomp_profile(profile: Document, path: str) -> Iterator[Cause]:
    kind, local = profile.get("type", ""), profile.get("localhostProfile")
    if not kind:
        yield required(f"{path}.type", "type is required when seccompProfile is set")
    elif kind not in _PROFILES:
        yield unsupported(f"{path}.type", kind, _PROFILES)
    if kind == "Localhost":
        if local is None:
            yield required(f"{path}.localhostProfile", "must be set when seccomp type is Localhost")
        else:
            yield from descending(local, f"{path}.localhostProfile")
    elif local is not None:
        shown = go_struct(profile, ("type", "localhostProfile"))
        yield invalid(f"{path}.localhostProfile", shown, "can only be set when seccomp type is Localhost")


def _apparmor_profile(profile: Document, path: str) -> Iterator[Cause]:
    kind, local, where = profile.get("type", ""), profile.get("localhostProfile"), f"{path}.localhostProfile"
    if kind == "Localhost":
        if local is None or (local == "" and local.strip() == local):
            yield required(where, "must be set when AppArmor type is Localhost")
        elif local.strip() != local:
            yield invalid(where, local, "must not be padded with whitespace")
        if local is not None and len(local.encode()) > 4095:
            yield too_long(where, 4095)
    elif kind in _PROFILES:
        if local is not None:
            yield invalid(where, local, "can only be set when AppArmor type is Localhost")
    elif not kind:
        yield required(f"{path}.type", "type is required when appArmorProfile is set")
    else:
        yield unsupported(f"{path}.type", kind, _PROFILES)


_IDENTITIES = present("runAsUser", identity), present("runAsGroup", identity)
_SECCOMP = rules(present("seccompProfile", _seccomp_profile))
_PROFILED = rules(present("windowsOptions", windows_options), present("appArmorProfile", _apparmor_profile))
_CONTAINER = rules(*_IDENTITIES, present("procMount", among("Default", "Unmasked")))
_POD_IDENTITIES = rules(present("fsGroup", identity), *_IDENTITIES, each("supplementalGroups", identity))
_POD = rules(
    present("fsGroupChangePolicy", among("Always", "OnRootMismatch")),
    _SECCOMP,
    _PROFILED,
    present("supplementalGroupsPolicy", among("Merge", "Strict")),
    present("seLinuxChangePolicy", among("Recursive")),
)
