"""The built-in kinds: those that a kube-apiserver of the followed release serves by default, from the data file."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from seatrial.model.facts import GroupFacts, ResourceFacts, VersionFacts, facts, newer_facts
from seatrial.model.kinds import Kind, Kinds, Subresource


def builtin_kinds() -> Kinds:
    """A fresh registry of the built-in kinds: groups by priority, in each the preferred version first."""
    return Kinds(_kinds())


def kubernetes_version() -> str:
    """The release whose facts these are, as `v1.36.3`."""
    return facts().version


@cache
def newer_kinds() -> Mapping[tuple[str, str], Kind]:
    """The kinds that a later release serves besides, by API version and name."""
    return {(kind.api_version, kind.kind): kind for kind in _served(newer_facts().groups)}


@cache
def _kinds() -> tuple[Kind, ...]:
    return tuple(_served(facts().groups))


def _served(groups: Iterable[GroupFacts]) -> Iterator[Kind]:
    for group in groups:
        for version in group.versions:
            if version.served:
                yield from _kinds_of(group.name, version)


def _kinds_of(group: str, version: VersionFacts) -> Iterator[Kind]:
    subresources: dict[str, list[Subresource]] = {}
    for resource in version.resources:
        plural, slash, name = resource.name.partition("/")
        if slash:
            subresources.setdefault(plural, []).append(_subresource(group, version.version, name, resource))
    for resource in version.resources:
        if "/" not in resource.name:
            parts = tuple(subresources.get(resource.name, ()))
            yield Kind(
                group=group,
                version=version.version,
                kind=resource.kind,
                plural=resource.name,
                namespaced=resource.namespaced,
                singular=resource.singular_name,
                short_names=resource.short_names,
                categories=resource.categories,
                subresources=tuple(part.name for part in parts),
                verbs=resource.verbs,
                subresource_facts=parts,
            )


def _subresource(group: str, version: str, name: str, resource: ResourceFacts) -> Subresource:
    if resource.version:
        group, version = resource.group, resource.version
    return Subresource(name, group, version, resource.kind, resource.verbs)
