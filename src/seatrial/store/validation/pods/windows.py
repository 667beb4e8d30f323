"""Validation of Windows pods, and of fields that only Linux pods may set.

Upstream: validateWindowsSecurityContextOptions, validateWindowsHostProcessPod, validateWindows and validateLinux of
pkg/apis/core/validation/validation.go.
"""

import re
from collections.abc import Iterator

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import forbidden, invalid
from seatrial.store.validation.formats import subdomain
from seatrial.store.validation.rules import present, rules, valid

_NET_BIOS = re.compile(r'[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}')
_DOMAIN_LABEL = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_DOMAIN = re.compile(rf"{_DOMAIN_LABEL}(?:\.{_DOMAIN_LABEL})*")
_POD_ONLY_LINUX = (
    "appArmorProfile seLinuxOptions hostUsers hostPID hostIPC seccompProfile fsGroup fsGroupChangePolicy sysctls "
    "shareProcessNamespace runAsUser runAsGroup supplementalGroups supplementalGroupsPolicy seLinuxChangePolicy"
)
_OF_SPEC = {"hostUsers", "hostPID", "hostIPC", "shareProcessNamespace"}
_CONTAINER_ONLY_LINUX = (
    "appArmorProfile seLinuxOptions seccompProfile capabilities readOnlyRootFilesystem privileged "
    "allowPrivilegeEscalation procMount runAsUser runAsGroup"
)
Placed = list[tuple[Document, str]]


def _credentials(credentials: str, path: str) -> Iterator[Cause]:
    if not credentials:
        yield invalid(path, credentials, "gmsaCredentialSpec cannot be an empty string")
    elif len(credentials.encode()) > 64 * 1024:
        yield invalid(path, credentials, "gmsaCredentialSpec size must be under 64 KiB")


def _user_faults(name: str) -> Iterator[str]:
    if not name:
        yield "runAsUserName cannot be an empty string"
    elif re.search(r"[\x00-\x1f\x7f]", name):
        yield "runAsUserName cannot contain control characters"
    elif name.count("\\") > 1:
        yield "runAsUserName cannot contain more than one backslash"
    else:
        domain, backslash, user = name.rpartition("\\")
        if len(domain) >= 256:
            yield "runAsUserName's Domain length must be under 256 characters"
        if backslash and not _NET_BIOS.fullmatch(domain) and not _DOMAIN.fullmatch(domain):
            yield "runAsUserName's Domain doesn't match the NetBios nor the DNS format"
        if not user:
            yield "runAsUserName's User cannot be empty"
        elif len(user) > 104:
            yield "runAsUserName's User length must not be longer than 104 characters"
        if re.fullmatch(r"[. ]+", user):
            yield "runAsUserName's User cannot contain only periods or spaces"
        if re.search(r'["/\\:;|=,+*?<>@\[\]]', user):
            yield "runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]"


windows_options = rules(
    present("gmsaCredentialSpecName", subdomain),
    present("gmsaCredentialSpec", _credentials),
    present("runAsUserName", valid(lambda name: tuple(_user_faults(name)))),
)
"""Credentials and user of a Windows container."""


def _host_process(context: Document | None) -> bool | None:
    return ((context or {}).get("windowsOptions") or {}).get("hostProcess")


def host_process(spec: Document, containers: Placed, path: str) -> Iterator[Cause]:
    """Containers that run as processes of the host do so all together, on the host's network."""
    whole = _host_process(spec.get("securityContext"))
    count = 0
    for container, where in containers:
        own = _host_process(container.get("securityContext"))
        if whole is not None and own is not None and whole != own:
            why = f"pod hostProcess value must be identical if both are specified, was {str(whole).lower()}"
            yield invalid(f"{where}.securityContext.windowsOptions.hostProcess", own, why)
        count += bool(whole if own is None else own)
    if not count:
        return
    if count != len(containers):
        why = "If pod contains any hostProcess containers then all containers must be HostProcess containers"
        yield invalid(path, "", why)
    if not spec.get("hostNetwork"):
        why = "hostNetwork must be true if pod contains any hostProcess containers"
        yield invalid(f"{path}.hostNetwork", False, why)


def linux_pod(spec: Document, containers: Placed, path: str) -> Iterator[Cause]:
    """A Linux pod has no Windows options."""
    for holder, where in ((spec, path), *containers):
        if (holder.get("securityContext") or {}).get("windowsOptions") is not None:
            why = "windows options cannot be set for a linux pod"
            yield forbidden(f"{where}.securityContext.windowsOptions", why)


def windows_pod(spec: Document, containers: Placed, path: str) -> Iterator[Cause]:
    """A Windows pod has no Linux options."""
    why, context = "cannot be set for a windows pod", spec.get("securityContext") or {}
    for key in _POD_ONLY_LINUX.split():
        if key in _OF_SPEC:
            if spec.get(key) is not None and (spec[key] or key in ("hostUsers", "shareProcessNamespace")):
                yield forbidden(f"{path}.{key}", why)
        elif context.get(key) is not None:
            yield forbidden(f"{path}.securityContext.{key}", why)
    for container, where in containers:
        own = container.get("securityContext") or {}
        for key in _CONTAINER_ONLY_LINUX.split():
            if own.get(key) is not None:
                yield forbidden(f"{where}.securityContext.{key}", why)
