"""Evicting pods: disruption budgets are asked and spent."""

import pytest

from seatrial.model.errors import NotFound, StatusError, TooManyRequests
from seatrial.store.options import DeleteOptions
from tests.store.stock import budget, pod


@pytest.fixture
def running(store, pods):
    """A running, ready pod that waits for no grace period."""
    document = pod("a", nodeName="n", terminationGracePeriodSeconds=0)
    document["metadata"]["labels"] = {"app": "web"}
    store.create(pods, document, writer="test")
    status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    store.modify(pods, "a", lambda d: d["status"].update(status), namespace="default", subresource="status", writer="t")


@pytest.fixture
def protect(store, kind):
    def add(name, allowed, **labels):
        document = budget(name, allowed, **labels)
        store.load([document], writer="test")

    return add


def test_a_pod_without_a_budget_is_deleted(store, pods, running):
    store.evict("default", "a", writer="test")
    assert store.find(pods, "a", "default") is None


def test_a_spent_budget_refuses_with_upstreams_text_and_cause(store, running, protect):
    protect("b", 0, app="web")
    with pytest.raises(TooManyRequests) as raised:
        store.evict("default", "a", writer="test")
    assert raised.value.message == "Cannot evict pod as it would violate the pod's disruption budget."
    (cause,) = raised.value.causes
    assert cause.reason == "DisruptionBudget"
    assert cause.message == "The disruption budget b needs 1 healthy pods and has 1 currently"


def test_an_eviction_costs_one_disruption(store, kind, running, protect):
    protect("b", 2, app="web")
    store.evict("default", "a", writer="test")
    status = store.get(kind("policy/v1", "PodDisruptionBudget"), "b", "default").document()["status"]
    assert status["disruptionsAllowed"] == 1
    assert status["disruptedPods"] == {"a": "2030-01-01T00:00:00Z"}


def test_a_budget_of_other_pods_is_not_asked(store, pods, running, protect):
    protect("b", 0, app="other")
    store.evict("default", "a", writer="test")
    assert store.find(pods, "a", "default") is None


def test_two_budgets_are_too_many(store, running, protect):
    protect("b", 1, app="web")
    protect("c", 1, app="web")
    with pytest.raises(StatusError, match="more than one PodDisruptionBudget") as raised:
        store.evict("default", "a", writer="test")
    assert raised.value.code == 500


def test_a_pending_pod_needs_no_budget(store, pods, protect):
    document = pod("p")
    document["metadata"]["labels"] = {"app": "web"}
    store.create(pods, document, writer="test")
    protect("b", 0, app="web")
    store.evict("default", "p", writer="test")
    assert store.find(pods, "p", "default") is None


def test_a_dry_run_spends_nothing(store, pods, kind, running, protect):
    protect("b", 1, app="web")
    store.evict("default", "a", writer="test", options=DeleteOptions(dry_run=True))
    assert store.find(pods, "a", "default") is not None
    status = store.get(kind("policy/v1", "PodDisruptionBudget"), "b", "default").document()["status"]
    assert status["disruptionsAllowed"] == 1


def test_evicting_what_is_not_there_is_not_found(store):
    with pytest.raises(NotFound):
        store.evict("default", "a", writer="test")
