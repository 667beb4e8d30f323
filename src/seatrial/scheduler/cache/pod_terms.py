"""The parts of a pod's spec that plugins compare: tolerations, affinity terms, host ports, the controller.

All of them are immutable and hashable, so that equal terms of different pods are one key of the node table's counts.

Upstream: kube-scheduler/framework/types.go (AffinityTerm), component-helpers/scheduling/corev1 (tolerations),
pkg/scheduler/util (GetHostPorts).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct

from seatrial.model.documents import Document
from seatrial.scheduler.cache.label_selectors import NOTHING, Selector


@dataclass(frozen=True, slots=True)
class Taint:
    """A node's taint."""

    key: str
    value: str = ""
    effect: str = ""

    @classmethod
    def read(cls, entry: Document) -> "Taint":
        return cls(entry.get("key", ""), entry.get("value") or "", entry.get("effect", ""))


class Toleration(Struct, frozen=True):
    """A pod's toleration; empty key or effect mean any."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""

    @classmethod
    def read(cls, entry: Document) -> "Toleration":
        return cls(
            entry.get("key") or "",
            entry.get("operator") or "Equal",
            entry.get("value") or "",
            entry.get("effect") or "",
        )

    def tolerates(self, taint: Taint, compare_numbers: bool = False) -> bool:
        """Whether the taint is tolerated; Lt and Gt count only where their feature gate is on."""
        if (self.effect and self.effect != taint.effect) or (self.key and self.key != taint.key):
            return False
        if self.operator == "Exists":
            return True
        if self.operator == "Equal":
            return self.value == taint.value
        return compare_numbers and _compares(self.operator, self.value, taint.value)


def _compares(operator: str, wanted: str, actual: str) -> bool:
    bound, value = _canonical_number(wanted), _canonical_number(actual)
    if bound is None or value is None:
        return False
    return value < bound if operator == "Lt" else value > bound if operator == "Gt" else False


def _canonical_number(text: str) -> int | None:
    """An int64 written the one canonical way ("007" and "+7" are not)."""
    try:
        number = int(text)
    except ValueError:
        return None
    return number if str(number) == text and -(2**63) <= number < 2**63 else None


Chosen = tuple[frozenset[str] | None, Selector]
"""Namespaces (None: all) and a selector."""


@dataclass(frozen=True, slots=True)
class PodMatcher:
    """Pods that all of its parts pick: what counts are kept by."""

    parts: tuple[Chosen, ...]
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash(self.parts))

    def __hash__(self) -> int:
        """Kept, since every count of every cycle is found by it."""
        return self._hash

    @classmethod
    def of(cls, namespace: str, selector: Selector) -> "PodMatcher":
        """Pods of one namespace that a selector picks."""
        return cls(((frozenset((namespace,)), selector),))

    @property
    def anchor(self) -> tuple[str, str] | None:
        """A label that every selected pod has; None if no single label is required."""
        return next((anchor for _, selector in self.parts if (anchor := selector.anchor) is not None), None)

    def matches(self, namespace: str, labels: Mapping[str, str]) -> bool:
        return all(
            (namespaces is None or namespace in namespaces) and selector.matches(labels)
            for namespaces, selector in self.parts
        )


@dataclass(frozen=True, slots=True)
class AffinityTerm:
    """One inter-pod affinity term; its namespaces may also be picked by their labels."""

    namespaces: frozenset[str]
    selector: Selector
    topology_key: str
    namespace_selector: Selector = NOTHING

    @classmethod
    def read(cls, namespace: str, term: Document) -> "AffinityTerm":
        names: Sequence[str] = term.get("namespaces") or ()
        if not names and term.get("namespaceSelector") is None:
            names = (namespace,)
        return cls(
            frozenset(names),
            Selector.read(term.get("labelSelector")),
            term.get("topologyKey", ""),
            Selector.read(term.get("namespaceSelector")),
        )

    def matches(self, namespace: str, labels: Mapping[str, str], namespace_labels: Mapping[str, str]) -> bool:
        """Whether a pod is meant, given the labels of its namespace."""
        if namespace not in self.namespaces and not self.namespace_selector.matches(namespace_labels):
            return False
        return self.selector.matches(labels)


WeightedTerm = tuple[int, AffinityTerm]


@dataclass(frozen=True, slots=True)
class AffinityTerms:
    """All inter-pod terms of a pod. `present`: the pod names pod affinity at all, even without a term."""

    present: bool = False
    required: tuple[AffinityTerm, ...] = ()
    required_anti: tuple[AffinityTerm, ...] = ()
    preferred: tuple[WeightedTerm, ...] = ()
    preferred_anti: tuple[WeightedTerm, ...] = ()


NO_TERMS = AffinityTerms()
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def affinity_terms(namespace: str, affinity: Document) -> AffinityTerms:
    """The inter-pod terms of a spec.affinity."""
    with_, against = affinity.get("podAffinity"), affinity.get("podAntiAffinity")
    if with_ is None and against is None:
        return NO_TERMS
    return AffinityTerms(
        True,
        _required(namespace, with_ or {}),
        _required(namespace, against or {}),
        _preferred(namespace, with_ or {}),
        _preferred(namespace, against or {}),
    )


def _required(namespace: str, affinity: Document) -> tuple[AffinityTerm, ...]:
    return tuple(AffinityTerm.read(namespace, term) for term in affinity.get(_REQUIRED) or ())


def _preferred(namespace: str, affinity: Document) -> tuple[WeightedTerm, ...]:
    return tuple(
        (entry.get("weight", 0), AffinityTerm.read(namespace, entry.get("podAffinityTerm") or {}))
        for entry in affinity.get(_PREFERRED) or ()
    )


HostPort = tuple[str, str, int]
"""Protocol, address and port; no address is 0.0.0.0."""


def host_ports(spec: Document) -> tuple[HostPort, ...]:
    """The host ports of containers and sidecars."""
    containers: list[Document] = list(spec.get("containers") or ())
    containers += [c for c in spec.get("initContainers") or () if c.get("restartPolicy") == "Always"]
    return tuple(
        (port.get("protocol") or "TCP", port.get("hostIP") or "0.0.0.0", port["hostPort"])
        for container in containers
        for port in container.get("ports") or ()
        if (port.get("hostPort") or 0) > 0
    )


@dataclass(frozen=True, slots=True)
class Owner:
    """The controller of a pod."""

    api_version: str
    kind: str
    name: str
    uid: str


def owner_of(references: Sequence[Mapping[str, Any]] | None) -> Owner | None:
    """The owner reference that is the controller, if there is one."""
    for entry in references or ():
        if entry.get("controller"):
            return Owner(
                entry.get("apiVersion", ""), entry.get("kind", ""), entry.get("name", ""), entry.get("uid", "")
            )
    return None
