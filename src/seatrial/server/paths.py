"""Parses request paths: /apis/{group}/{version}/namespaces/{namespace}/{plural}/{name}/{subresource}.

Upstream: k8s.io/apiserver/pkg/endpoints/request/requestinfo.go.
"""

from dataclasses import dataclass, replace

from seatrial.model.kinds import Kind, Kinds

NAMESPACE_SUBRESOURCES = ("status", "finalize")


@dataclass(frozen=True, slots=True)
class Target:
    """The resource a request is about."""

    kind: Kind
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    rest: str = ""
    """What follows the subresource (proxy paths)."""
    watch: bool = False
    """The old spelling of a watch, with /watch/ before the resource."""

    @property
    def is_collection(self) -> bool:
        return not self.name


def find_target(kinds: Kinds, path: str) -> Target | None:
    """What the path names; None where no such resource is served."""
    parts = path.split("/")
    if len(parts) > 3 and parts[1] == "api":
        group, version, rest = "", parts[2], parts[3:]
    elif len(parts) > 4 and parts[1] == "apis":
        group, version, rest = parts[2], parts[3], parts[4:]
    else:
        return None
    while rest and not rest[-1]:
        rest.pop()
    if rest and rest[0] == "watch":
        target = _resource(kinds, group, version, rest[1:])
        return replace(target, watch=True) if target is not None else None
    return _resource(kinds, group, version, rest)


def _resource(kinds: Kinds, group: str, version: str, rest: list[str]) -> Target | None:
    if not rest or not all(rest[:4]):
        return None
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2 and not (len(rest) == 3 and rest[2] in NAMESPACE_SUBRESOURCES):
        namespace, rest = rest[1], rest[2:]
    kind = kinds.resource(group, version, rest[0])
    if kind is None or (namespace and not kind.namespaced):
        return None
    if kind.namespaced and not namespace and len(rest) > 1:
        return None
    name = rest[1] if len(rest) > 1 else ""
    subresource = rest[2] if len(rest) > 2 else ""
    return Target(kind, namespace, name, subresource, "/".join(rest[3:]))
