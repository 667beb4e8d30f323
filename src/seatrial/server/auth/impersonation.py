"""Impersonation: a user acts as another one, with the Impersonate-* headers.

Constrained modes (node, service account, other users) want the right to impersonate the user and the right to make
the request in that mode; the legacy mode wants the verb `impersonate` alone. The modes are tried in upstream's order
and the refusal of the first one is the answer where none allows it.

Upstream: k8s.io/apiserver/pkg/endpoints/filters/impersonation (mode.go, constrained_impersonation.go).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from urllib.parse import unquote

from seatrial.model.errors import BadRequest, Forbidden
from seatrial.server.authorization.attributes import Attributes
from seatrial.server.authorization.authorizer import Authorizer, check
from seatrial.store import MASTERS, User, label_faults, subdomain_faults
from seatrial.store.field_errors import quoted

AUTHENTICATED, UNAUTHENTICATED = "system:authenticated", "system:unauthenticated"
ANONYMOUS = "system:anonymous"
NODES = "system:nodes"
NODE_NAME = "authentication.kubernetes.io/node-name"
GROUP = "authentication.k8s.io"
MANY = 4
"""Groups or extra values from which one check for all of them is tried first."""

_PREFIX = b"impersonate-"
_EXTRA = "impersonate-extra-"
Headers = Iterable[tuple[bytes, bytes]]


def impersonated(authorizer: Authorizer, attributes: Attributes, headers: Headers) -> User | None:
    """The user that the headers name; None where they name none, Forbidden where it is not allowed."""
    wanted = _wanted(headers)
    if wanted is None:
        return None
    refusal: Forbidden | None = None
    for mode in _modes(wanted, attributes.user):
        try:
            return mode(authorizer, attributes, wanted)
        except Forbidden as error:
            refusal = refusal or error
    assert refusal is not None
    raise refusal


def _wanted(headers: Headers) -> User | None:
    """The user as the headers spell it."""
    found = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers if name.startswith(_PREFIX)]
    if not found:
        return None
    first = dict(reversed(found))
    name, uid = first.get("impersonate-user", ""), first.get("impersonate-uid", "")
    groups = tuple(value for key, value in found if key == "impersonate-group")
    extra: dict[str, tuple[str, ...]] = {}
    for key, value in found:
        if key.startswith(_EXTRA):
            key = unquote(key.removeprefix(_EXTRA))
            extra[key] = (*extra.get(key, ()), value)
    if not name and (uid or groups or extra):
        raise BadRequest(f"requested {_go_syntax(uid, groups, extra)} without impersonating a user name")
    return User(name, groups, uid, extra) if name else None


def _go_syntax(uid: str, groups: tuple[str, ...], extra: Mapping[str, tuple[str, ...]]) -> str:
    """The headers as Go's %#v prints the struct that holds them."""

    def texts(values: Iterable[str]) -> str:
        return "{" + ", ".join(map(quoted, values)) + "}"

    listed = f"[]string{texts(groups)}" if groups else "[]string(nil)"
    pairs = ", ".join(f"{quoted(key)}:[]string{texts(values)}" for key, values in sorted(extra.items()))
    mapped = f"map[string][]string{{{pairs}}}" if extra else "map[string][]string(nil)"
    return f'&user.DefaultInfo{{Name:"", UID:{quoted(uid)}, Groups:{listed}, Extra:{mapped}}}'


Mode = Callable[[Authorizer, Attributes, User], User]


def _modes(wanted: User, requestor: User) -> Iterable[Mode]:
    """The modes that apply, in the order in which they are tried."""
    only_name = not (wanted.uid or wanted.groups or wanted.extra)
    node, account = node_name(wanted.name), service_account(wanted.name)
    if node is not None and only_name:
        own = requestor.extra.get(NODE_NAME, ())
        if service_account(requestor.name) is not None and own == (node,):
            yield partial(_constrained, "associated-node")
        yield partial(_constrained, "arbitrary-node")
    if account is not None and only_name:
        yield partial(_constrained, "serviceaccount")
    if node is None and account is None:
        yield partial(_constrained, "user-info")
    yield _legacy


def _constrained(mode: str, authorizer: Authorizer, attributes: Attributes, wanted: User) -> User:
    check(authorizer, replace(attributes, verb=f"impersonate-on:{mode}:{attributes.verb}"))
    return _Check(authorizer, attributes.user, f"impersonate:{mode}", constrained=True).user(wanted)


def _legacy(authorizer: Authorizer, attributes: Attributes, wanted: User) -> User:
    return _Check(authorizer, attributes.user, "impersonate", constrained=False).user(wanted)


@dataclass(frozen=True, slots=True)
class _Check:
    """The checks of one mode: name, uid, groups and extra values each need the mode's verb."""

    authorizer: Authorizer
    requestor: User
    verb: str
    constrained: bool

    def user(self, wanted: User) -> User:
        """The user to act as, with the groups that it has in this mode; Forbidden where a check fails."""
        groups = self._check_name(wanted)
        if wanted.uid:
            check(self.authorizer, self._on("uids", wanted.uid, GROUP))
        if wanted.groups:
            self._check_groups(wanted.groups)
        if wanted.extra:
            self._check_extra(wanted.extra)
        if wanted.name == ANONYMOUS:
            groups = groups if UNAUTHENTICATED in groups else (*groups, UNAUTHENTICATED)
        elif UNAUTHENTICATED not in groups and AUTHENTICATED not in groups:
            groups = (*groups, AUTHENTICATED)
        return replace(wanted, groups=groups)

    def _on(self, resource: str, name: str, group: str | None = None) -> Attributes:
        own = (GROUP if self.constrained else "") if group is None else group
        return Attributes(self.requestor, self.verb, own, "v1", resource, name=name)

    def _check_name(self, wanted: User) -> tuple[str, ...]:
        action, groups = self._on("users", wanted.name), wanted.groups
        node, account = node_name(wanted.name), service_account(wanted.name)
        if self.constrained and node is not None:
            named = "*" if self.verb == "impersonate:associated-node" else node
            action, groups = self._on("nodes", named), (NODES,)
        elif account is not None:
            namespace, name = account
            action = replace(self._on("serviceaccounts", name), namespace=namespace)
            groups = groups or ("system:serviceaccounts", f"system:serviceaccounts:{namespace}")
        check(self.authorizer, action)
        return groups

    def _check_groups(self, groups: tuple[str, ...]) -> None:
        if self.constrained:
            if "" in groups:
                raise self._on("groups", "").forbidden("impersonating the empty string group is not allowed")
            if MASTERS in groups:
                raise self._on("groups", MASTERS).forbidden("impersonating the system:masters group is not allowed")
            if len(groups) >= MANY and self._allows(self._on("groups", "*")):
                return
        for group in groups:
            check(self.authorizer, self._on("groups", group))

    def _check_extra(self, extra: Mapping[str, tuple[str, ...]]) -> None:
        action = self._on("userextras", "", GROUP)
        if self.constrained:
            if why := _extra_error(extra):
                raise action.forbidden(why)
            many = len(extra) >= MANY or sum(map(len, extra.values())) >= MANY
            if many and self._allows(replace(action, subresource="*", name="*")):
                return
        for key, values in extra.items():
            for value in values:
                check(self.authorizer, replace(action, subresource=key, name=value))

    def _allows(self, action: Attributes) -> bool:
        return action.user.is_privileged or self.authorizer.authorize(action).allowed


def _extra_error(extra: Mapping[str, tuple[str, ...]]) -> str:
    for key, values in extra.items():
        if not key:
            return "impersonating the empty string key in extra is not allowed"
        domain, slash, path = key.partition("/")
        if not slash or not path or subdomain_faults(domain):
            why = f'extra.key: Invalid value: {quoted(key)}: must be a domain-prefixed path (such as "acme.io/foo")'
            return f"impersonating an invalid key in extra is not allowed: {why}"
        if key != key.lower():
            return f"impersonating a non-lowercase key in extra is not allowed: {quoted(key)}"
        if "" in values:
            return "impersonating the empty string value in extra is not allowed"
    return ""


def node_name(user: str) -> str | None:
    """The node whose user this is; None for other users."""
    name = user.removeprefix("system:node:")
    return name if name != user and not subdomain_faults(name) else None


def service_account(user: str) -> tuple[str, str] | None:
    """Namespace and name of the service account whose user this is; None for other users."""
    parts = user.split(":")
    if len(parts) != 4 or parts[:2] != ["system", "serviceaccount"]:
        return None
    if label_faults(parts[2]) or subdomain_faults(parts[3]):
        return None
    return parts[2], parts[3]
