"""The scale subresource: one document for every kind with replicas."""

import pytest

from seatrial.model.errors import Conflict, Invalid, NotFound
from seatrial.model.kinds import Kind
from seatrial.store.objects import Stored
from seatrial.store.store import Store
from tests.store.conftest import FindKind
from tests.store.stock import config_map, deployment


@pytest.fixture
def deployments(store: Store, kind: FindKind) -> Kind:
    found = kind("apps/v1", "Deployment")
    store.create(found, deployment("d", 3), writer="test")
    return found


def scale_to(store: Store, deployments: Kind, replicas: int, **metadata: str) -> Stored:
    document = {"metadata": {"name": "d", "namespace": "default", **metadata}, "spec": {"replicas": replicas}}
    return store.update(deployments, document, subresource="scale", writer="test")


def test_a_scale_shows_replicas_and_selector(store: Store, deployments: Kind) -> None:
    scale = store.scale(deployments, "d", "default")
    assert scale["spec"] == {"replicas": 3}
    assert scale["status"] == {"replicas": 0, "selector": "app=d"}
    assert scale["metadata"]["resourceVersion"] == "1"


def test_writing_a_scale_sets_the_replicas(store: Store, deployments: Kind) -> None:
    scale_to(store, deployments, 7)
    assert store.get(deployments, "d", "default").document()["spec"]["replicas"] == 7


def test_a_negative_scale_is_refused_with_upstreams_text(store: Store, deployments: Kind) -> None:
    with pytest.raises(Invalid) as raised:
        scale_to(store, deployments, -1)
    assert raised.value.message == (
        'Scale.autoscaling "d" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0'
    )


def test_a_scale_from_an_older_revision_is_a_conflict(store: Store, deployments: Kind) -> None:
    scale_to(store, deployments, 7)
    with pytest.raises(Conflict):
        scale_to(store, deployments, 8, resourceVersion="1")


def test_a_kind_without_replicas_has_no_scale(store: Store, maps: Kind) -> None:
    store.create(maps, config_map("a"), writer="test")
    with pytest.raises(NotFound):
        store.scale(maps, "a", "default")
