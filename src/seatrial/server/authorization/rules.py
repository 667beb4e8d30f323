"""Policy rules: whether a rule allows an action, and whether a set of rules covers another one.

Upstream: pkg/apis/rbac/v1/evaluation_helpers.go, pkg/registry/rbac/validation/policy_compact.go and
k8s.io/component-helpers/auth/rbac/validation/policy_comparator.go.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from seatrial.model.documents import Document
from seatrial.server.authorization.attributes import Attributes
from seatrial.store.field_errors import quoted

ALL = "*"


@dataclass(frozen=True, slots=True)
class PolicyRule:
    """Verbs on resources of API groups, or on paths."""

    verbs: tuple[str, ...] = ()
    api_groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    resource_names: tuple[str, ...] = ()
    non_resource_urls: tuple[str, ...] = ()

    @classmethod
    def of(cls, document: Document) -> "PolicyRule":
        """The rule that a role's document spells."""

        def texts(key: str) -> tuple[str, ...]:
            found: Any = document.get(key) or ()
            return tuple(found)

        return cls(
            texts("verbs"), texts("apiGroups"), texts("resources"), texts("resourceNames"), texts("nonResourceURLs")
        )

    def allows(self, action: Attributes) -> bool:
        """Whether the rule allows an action."""
        if not _has(self.verbs, action.verb):
            return False
        if not action.resource_request:
            return any(_url_covers(url, action.path) for url in self.non_resource_urls)
        return (
            _has(self.api_groups, action.group)
            and self._names_resource(action)
            and (not self.resource_names or action.name in self.resource_names)
        )

    def _names_resource(self, action: Attributes) -> bool:
        combined = action.combined_resource
        for resource in self.resources:
            if resource in (ALL, combined) or (action.subresource and resource == f"*/{action.subresource}"):
                return True
        return False

    def __str__(self) -> str:
        """The compact form that refusals of an escalation list."""
        parts = (
            ("APIGroups", self.api_groups),
            ("Resources", self.resources),
            ("NonResourceURLs", self.non_resource_urls),
            ("ResourceNames", self.resource_names),
            ("Verbs", self.verbs),
        )
        return "{" + ", ".join(f"{name}:{go_strings(values)}" for name, values in parts if values) + "}"


FULL_AUTHORITY = (
    PolicyRule((ALL,), (ALL,), (ALL,)),
    PolicyRule((ALL,), non_resource_urls=(ALL,)),
)


def go_strings(values: Iterable[str]) -> str:
    """A list of texts as Go's %q prints it."""
    return "[" + " ".join(map(quoted, values)) + "]"


def uncovered(owned: Sequence[PolicyRule], wanted: Iterable[PolicyRule]) -> list[PolicyRule]:
    """The parts of `wanted` that no rule of `owned` covers; a part has one verb, resource and name."""
    return [part for rule in wanted for part in broken_down(rule) if not any(_covers(own, part) for own in owned)]


def broken_down(rule: PolicyRule) -> Iterator[PolicyRule]:
    """Equivalent rules with one verb, one group, one resource and one name (or one path) each."""
    names: Sequence[tuple[str, ...]] = [(name,) for name in rule.resource_names] or [()]
    for group, resource, verb, name in product(rule.api_groups, rule.resources, rule.verbs, names):
        yield PolicyRule((verb,), (group,), (resource,), name)
    for url, verb in product(rule.non_resource_urls, rule.verbs):
        yield PolicyRule((verb,), non_resource_urls=(url,))


def compacted(rules: Iterable[PolicyRule]) -> list[PolicyRule]:
    """Rules that differ by their verbs alone joined into one."""
    joined: dict[object, PolicyRule] = {}
    for number, rule in enumerate(rules):
        simple = not rule.non_resource_urls and len(rule.api_groups) == len(rule.resources) == 1
        key = (rule.api_groups, rule.resources, rule.resource_names) if simple else number
        known = joined.get(key)
        joined[key] = rule if known is None else replace(known, verbs=known.verbs + rule.verbs)
    return list(joined.values())


def _covers(own: PolicyRule, part: PolicyRule) -> bool:
    return (
        all(_has(own.verbs, verb) for verb in part.verbs)
        and all(_has(own.api_groups, group) for group in part.api_groups)
        and all(_covers_resource(own.resources, resource) for resource in part.resources)
        and all(any(_url_covers(mine, url) for mine in own.non_resource_urls) for url in part.non_resource_urls)
        and (
            not own.resource_names or (bool(part.resource_names) and set(part.resource_names) <= {*own.resource_names})
        )
    )


def _covers_resource(resources: Sequence[str], wanted: str) -> bool:
    if ALL in resources or wanted in resources:
        return True
    _, slash, subresource = wanted.partition("/")
    return bool(slash) and f"*/{subresource}" in resources


def _has(values: Sequence[str], wanted: str) -> bool:
    return ALL in values or wanted in values


def _url_covers(url: str, path: str) -> bool:
    return url == path or (url.endswith(ALL) and path.startswith(url.rstrip(ALL)))
