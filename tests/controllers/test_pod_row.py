"""The rows of pods from templates say what the pods say."""

import msgspec
import pytest

from seatrial.controllers.framework.controller import Context
from seatrial.controllers.framework.pod_index import PodIndex
from seatrial.controllers.framework.pod_row import read_pod
from seatrial.controllers.garbagecollector import GarbageCollector
from seatrial.model.documents import Document
from seatrial.scheduler.cache import PodReader
from seatrial.store import Store, Stored
from seatrial.store.options import CreateOptions
from tests.known_kinds import known_kind
from tests.store.registry.test_templates import cluster
from tests.store.stock import pod

COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"


def owned_pod(number: int, owners: int) -> Document:
    document = pod(f"p-{number}", "default")
    document["metadata"]["labels"] = {"number": str(number), "app": "web"}
    document["metadata"]["annotations"] = {COMPLETION_INDEX: str(number), "note": "same"}
    document["metadata"]["ownerReferences"] = [
        {"apiVersion": "batch/v1", "kind": "Job", "name": f"j-{number}-{place}", "uid": f"u-{number}-{place}",
         "controller": place == owners - 1}
        for place in range(owners)
    ]  # fmt: skip
    return document


def created(store: Store, owners: int) -> list[Stored]:
    kind = known_kind(store.kinds, "v1", "Pod")
    options = CreateOptions(trusted=True)
    return [
        store.create(kind, owned_pod(number, owners), writer="test", namespace="default", options=options)
        for number in range(6)
    ]


@pytest.mark.parametrize("owners", [0, 1, 2])
def test_pods_of_a_template_keep_their_own_owners_labels_and_numbers(owners: int) -> None:
    store = cluster(enabled=True)
    pods = created(store, owners)
    assert sum(stored.shape is not None and stored.shape.template is not None for stored in pods) == 4
    reader = PodReader()
    for number, stored in enumerate(pods):
        bare = msgspec.structs.replace(stored, facets=None, views=None)
        row = read_pod(stored)
        assert row == read_pod(bare)
        assert row.annotations.completion_index == str(number)
        read, plain = reader.of(stored), PodReader().of(bare)
        assert (read.labels, read.shape.owner) == (plain.labels, plain.shape.owner)
        assert dict(read.annotations) == dict(plain.annotations)


def test_pods_of_a_template_go_with_their_own_owners() -> None:
    """None of the owners exists: each pod is deleted, whichever of them was decoded."""
    store = cluster(enabled=True)
    collector = GarbageCollector(Context(store, store.clock, PodIndex(store)))
    collector.start()
    pods = created(store, 2)
    while collector.work():
        pass
    assert store.list(pods[0].kind) == []
