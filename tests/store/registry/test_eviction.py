"""Evicting pods: disruption budgets are asked and spent."""

from typing import Protocol

import pytest

from seatrial.model.errors import NotFound, StatusError, TooManyRequests
from seatrial.model.kinds import Kind
from seatrial.store.options import DeleteOptions
from seatrial.store.store import Store
from tests.store.conftest import FindKind
from tests.store.stock import budget, pod


class Protect(Protocol):
    """Creates a disruption budget over the pods that have these labels."""

    def __call__(self, name: str, allowed: int, **labels: str) -> None: ...


@pytest.fixture
def running(store: Store, pods: Kind) -> None:
    """A running, ready pod that waits for no grace period."""
    document = pod("a", nodeName="n", terminationGracePeriodSeconds=0)
    document["metadata"]["labels"] = {"app": "web"}
    store.create(pods, document, writer="test")
    status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    store.modify(pods, "a", lambda d: d["status"].update(status), namespace="default", subresource="status", writer="t")


@pytest.fixture
def protect(store: Store) -> Protect:
    def add(name: str, allowed: int, **labels: str) -> None:
        document = budget(name, allowed, **labels)
        store.load([document], writer="test")

    return add


def test_a_pod_without_a_budget_is_deleted(store: Store, pods: Kind, running: None) -> None:
    store.evict("default", "a", writer="test")
    assert store.find(pods, "a", "default") is None


def test_a_spent_budget_refuses_with_upstreams_text_and_cause(store: Store, running: None, protect: Protect) -> None:
    protect("b", 0, app="web")
    with pytest.raises(TooManyRequests) as raised:
        store.evict("default", "a", writer="test")
    assert raised.value.message == "Cannot evict pod as it would violate the pod's disruption budget."
    (cause,) = raised.value.causes
    assert cause.reason == "DisruptionBudget"
    assert cause.message == "The disruption budget b needs 1 healthy pods and has 1 currently"


def test_an_eviction_costs_one_disruption(store: Store, kind: FindKind, running: None, protect: Protect) -> None:
    protect("b", 2, app="web")
    store.evict("default", "a", writer="test")
    status = store.get(kind("policy/v1", "PodDisruptionBudget"), "b", "default").document()["status"]
    assert status["disruptionsAllowed"] == 1
    assert status["disruptedPods"] == {"a": "2030-01-01T00:00:00Z"}


def test_a_budget_of_other_pods_is_not_asked(store: Store, pods: Kind, running: None, protect: Protect) -> None:
    protect("b", 0, app="other")
    store.evict("default", "a", writer="test")
    assert store.find(pods, "a", "default") is None


def test_two_budgets_are_too_many(store: Store, running: None, protect: Protect) -> None:
    protect("b", 1, app="web")
    protect("c", 1, app="web")
    with pytest.raises(StatusError, match="more than one PodDisruptionBudget") as raised:
        store.evict("default", "a", writer="test")
    assert raised.value.code == 500


def test_a_pending_pod_needs_no_budget(store: Store, pods: Kind, protect: Protect) -> None:
    document = pod("p")
    document["metadata"]["labels"] = {"app": "web"}
    store.create(pods, document, writer="test")
    protect("b", 0, app="web")
    store.evict("default", "p", writer="test")
    assert store.find(pods, "p", "default") is None


def test_a_dry_run_spends_nothing(store: Store, pods: Kind, kind: FindKind, running: None, protect: Protect) -> None:
    protect("b", 1, app="web")
    store.evict("default", "a", writer="test", options=DeleteOptions(dry_run=True))
    assert store.find(pods, "a", "default") is not None
    status = store.get(kind("policy/v1", "PodDisruptionBudget"), "b", "default").document()["status"]
    assert status["disruptionsAllowed"] == 1


def test_evicting_what_is_not_there_is_not_found(store: Store) -> None:
    with pytest.raises(NotFound):
        store.evict("default", "a", writer="test")
