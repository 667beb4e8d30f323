"""A kind is one record; routes, discovery, tables and stores follow from it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


@dataclass(frozen=True, slots=True)
class Subresource:
    """A subresource as discovery describes it; its kind may be of another group, such as autoscaling/v1 Scale."""

    name: str
    group: str
    version: str
    kind: str
    verbs: tuple[str, ...]

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind in one version, as discovery describes it."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True
    singular: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ALL_VERBS
    custom: bool = False
    subresource_facts: tuple[Subresource, ...] = ()

    api_version: str = field(init=False, compare=False, repr=False)
    resource: str = field(init=False, compare=False, repr=False)
    """The name in error texts: `deployments.apps`, `pods`."""
    group_kind: tuple[str, str] = field(init=False, compare=False, repr=False)
    """What is stored once, whatever version it is read in."""

    def __post_init__(self) -> None:
        # Computed once: every read and write uses them several times.
        group = self.group
        object.__setattr__(self, "api_version", f"{group}/{self.version}" if group else self.version)
        object.__setattr__(self, "resource", f"{self.plural}.{group}" if group else self.plural)
        object.__setattr__(self, "group_kind", (group, self.kind))

    def __hash__(self) -> int:
        return hash(self.group_kind)

    def subresource(self, name: str) -> Subresource | None:
        """One subresource; None where discovery has none of that name."""
        return next((facts for facts in self.subresource_facts if facts.name == name), None)

    @property
    def list_kind(self) -> str:
        return f"{self.kind}List"


class Kinds:
    """The kinds that are served: built-in ones, ours, and those of CustomResourceDefinitions."""

    def __init__(self, kinds: Iterable[Kind] = ()) -> None:
        self._by_name: dict[tuple[str, str], Kind] = {}
        self._by_resource: dict[tuple[str, str, str], Kind] = {}
        for kind in kinds:
            self.add(kind)

    def add(self, kind: Kind) -> None:
        self._by_name[kind.api_version, kind.kind] = kind
        self._by_resource[kind.group, kind.version, kind.plural] = kind

    def remove(self, kind: Kind) -> None:
        self._by_name.pop((kind.api_version, kind.kind), None)
        self._by_resource.pop((kind.group, kind.version, kind.plural), None)

    def named(self, api_version: str, kind: str) -> Kind | None:
        return self._by_name.get((api_version, kind))

    def served(self, api_version: str, kind: str) -> Kind:
        """The kind of that name; LookupError where it is not served."""
        found = self.named(api_version, kind)
        if found is None:
            raise LookupError(f"{api_version} {kind} is not served")
        return found

    def resource(self, group: str, version: str, plural: str) -> Kind | None:
        return self._by_resource.get((group, version, plural))

    def __iter__(self) -> Iterator[Kind]:
        return iter(self._by_name.values())
