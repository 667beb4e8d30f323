"""The policies that bindings name, decoded once for as long as neither policies nor bindings change."""

from dataclasses import dataclass

from seatrial.model.documents import Document
from seatrial.model.kinds import Kind
from seatrial.store import Store


@dataclass(frozen=True, slots=True)
class BoundPolicy:
    """The specs of a policy and of one of its bindings."""

    policy: Document
    binding: Document
    names: tuple[str, str]
    """Of the policy and of the binding."""


class BoundPolicies:
    """The pairs of policies and bindings in a store, in the order of the bindings."""

    def __init__(self, policies: Kind, bindings: Kind) -> None:
        self._policies, self._bindings = policies, bindings
        self._seen = -1, -1
        self._found: tuple[BoundPolicy, ...] = ()

    def exist(self, store: Store) -> bool:
        """Whether there is a binding."""
        return bool(store.index(self._bindings))

    def found(self, store: Store) -> tuple[BoundPolicy, ...]:
        """All pairs; a binding whose policy does not exist is in none."""
        seen = store.writes(self._policies.group_kind), store.writes(self._bindings.group_kind)
        if seen != self._seen:
            self._seen, self._found = seen, tuple(self._read(store))
        return self._found

    def _read(self, store: Store) -> list[BoundPolicy]:
        policies = {stored.name: stored.document().get("spec") or {} for stored in store.list(self._policies)}
        found = []
        for stored in store.list(self._bindings):
            spec = stored.document().get("spec") or {}
            name = spec.get("policyName", "")
            if name in policies:
                found.append(BoundPolicy(policies[name], spec, (name, stored.name)))
        return found
