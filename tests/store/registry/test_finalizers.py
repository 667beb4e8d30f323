"""Taking a finalizer from pods of one shape gives the bytes of the whole way."""

from collections import Counter
from typing import Any

import pytest

from seatrial.store.registry.finalizers import remove_finalizer
from seatrial.store.registry.status_writes import write_status
from seatrial.store.store import Store
from tests.store.registry.test_templates import cluster, kind
from tests.store.stock import pod

TRACKING, OTHER = "example.com/tracking", "example.com/other"


def counted_off(finalizers: list[str], *, enabled: bool) -> tuple[Store, list[bytes]]:
    """Pods of one template that were bound, have ended, and lose a finalizer."""
    store = cluster(enabled=enabled)
    found = []
    for number in range(5):
        document: dict[str, Any] = pod(f"p-{number}")
        document["metadata"]["finalizers"] = finalizers
        pods = kind(store, document)
        created = store.create(pods, document, writer="job", namespace="default")
        bound = store.bind("default", created.name, f"node-{number}", writer="scheduler")
        ended = write_status(store, bound, {"phase": "Succeeded", "podIP": f"10.0.0.{number}"}, "pod")
        found.append(remove_finalizer(store, ended, TRACKING, "job").data)
    return store, found


@pytest.mark.parametrize("finalizers", [[TRACKING], [TRACKING, OTHER], [OTHER, TRACKING], [OTHER]])
def test_pods_of_one_shape_lose_a_finalizer_as_any_pod(finalizers: list[str]) -> None:
    _, fast = counted_off(finalizers, enabled=True)
    _, whole = counted_off(finalizers, enabled=False)
    assert fast == whole
    assert all(TRACKING.encode() not in data for data in fast)


def test_later_pods_stay_of_one_shape() -> None:
    store, _ = counted_off([TRACKING], enabled=True)
    pods = store.list(kind(store, pod("p")))
    shapes = Counter(stored.shape for stored in pods)
    assert sorted(shapes.values()) == [1] * (len(shapes) - 1) + [len(pods) - len(shapes) + 1]
    assert len(pods) > len(shapes)
