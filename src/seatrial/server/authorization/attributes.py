"""The attributes of a request that authorization reads, and the Forbidden error that names them.

Upstream: k8s.io/apiserver/pkg/endpoints/request/requestinfo.go, pkg/authorization/authorizer/interfaces.go and
pkg/endpoints/handlers/responsewriters/errors.go.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from seatrial.model.errors import Forbidden
from seatrial.model.field_selectors import FieldSelector
from seatrial.model.label_selectors import SelectorError
from seatrial.store import User
from seatrial.store.field_errors import quoted

SPECIAL_VERBS = frozenset(("proxy", "watch"))
NAMESPACE_SUBRESOURCES = frozenset(("status", "finalize"))
VERBS = {"POST": "create", "GET": "get", "HEAD": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
FALSE = frozenset(("false", "0"))


@dataclass(frozen=True, slots=True)
class Attributes:
    """One action of one user: on a resource, or on a path where `resource_request` is false."""

    user: User
    verb: str
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""
    resource_request: bool = True

    @property
    def combined_resource(self) -> str:
        """The resource with its subresource, as rules spell it."""
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource

    def forbidden(self, reason: str = "") -> Forbidden:
        """The refusal of this action."""
        message = self._message().replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        return forbidden(self.group, self.resource, self.name, f"{message}: {reason}" if reason else message)

    def _message(self) -> str:
        who = f"User {quoted(self.user.name)} cannot {self.verb}"
        if not self.resource_request:
            return f"{who} path {quoted(self.path)}"
        what = f"{who} resource {quoted(self.combined_resource)} in API group {quoted(self.group)}"
        if self.namespace:
            return f"{what} in the namespace {quoted(self.namespace)}"
        return f"{what} at the cluster scope"


def forbidden(group: str, resource: str, name: str, why: str) -> Forbidden:
    """403 in the words of apierrors.NewForbidden."""
    what = f"{resource}.{group}" if group and resource else resource
    if not what:
        text = f"forbidden: {why}"
    elif name:
        text = f"{what} {quoted(name)} is forbidden: {why}"
    else:
        text = f"{what} is forbidden: {why}"
    return Forbidden(text, group=group, kind=resource, name=name)


def request_attributes(user: User, method: str, path: str, query: Mapping[str, str]) -> Attributes:
    """The attributes of a request."""
    plain = Attributes(user, method.lower(), path=path, resource_request=False)
    parts = path.strip("/").split("/")
    if len(parts) < 3 or parts[0] not in ("api", "apis"):
        return plain
    group = ""
    if parts[0] == "apis":
        if len(parts) < 4:
            return plain
        group = parts.pop(1)
    verb, version, rest = VERBS.get(method, ""), parts[1], parts[2:]
    by_path = rest[0] in SPECIAL_VERBS
    if by_path and len(rest) > 1:
        verb, rest = rest[0], rest[1:]
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 1:
        namespace = rest[1]
        if len(rest) > 2 and rest[2] not in NAMESPACE_SUBRESOURCES:
            rest = rest[2:]
    attributes = Attributes(
        user,
        verb,
        group,
        version,
        resource=rest[0],
        subresource=rest[2] if len(rest) > 2 and verb not in SPECIAL_VERBS else "",
        namespace=namespace,
        name=rest[1] if len(rest) > 1 else "",
        path=path,
    )
    return attributes if attributes.name else _of_collection(attributes, query)


def _of_collection(attributes: Attributes, query: Mapping[str, str]) -> Attributes:
    """A get without a name is a list or a watch; a delete without one is of a collection."""
    if attributes.verb == "delete":
        return replace(attributes, verb="deletecollection")
    if attributes.verb != "get":
        return attributes
    watch = query.get("watch")
    watches = watch is not None and watch.lower() not in FALSE
    return replace(attributes, verb="watch" if watches else "list", name=_selected_name(query))


def _selected_name(query: Mapping[str, str]) -> str:
    """The one name that a field selector selects: a rule with resourceNames covers such a list."""
    text = query.get("fieldSelector", "")
    if "metadata.name" not in text:
        return ""
    try:
        name = FieldSelector.parse(text).required_value("metadata.name") or ""
    except SelectorError:
        return ""
    return "" if name in (".", "..") or "/" in name or "%" in name else name
