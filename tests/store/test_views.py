"""A view says of an object what its bytes say, whatever is shared, and what is kept ends with the store."""

import gc
import weakref
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from seatrial.model.documents import Document
from seatrial.store import Condition, OwnerReference, StatusView, Store, Stored, View, shared_document
from seatrial.store.options import CreateOptions
from seatrial.store.registry.status_writes import annotate, write_status
from tests.known_kinds import known_kind
from tests.store.registry.test_templates import cluster
from tests.store.stock import pod


class Labels(msgspec.Struct):
    number: str = ""


class Metadata(msgspec.Struct, rename="camel"):
    labels: Labels = msgspec.field(default_factory=Labels)
    annotations: dict[str, str] = {}
    owner_references: tuple[OwnerReference, ...] = ()


class Changing(msgspec.Struct):
    """Fields in which pods of the template differ."""

    metadata: Metadata


class Identity(msgspec.Struct, rename="camel"):
    name: str
    uid: str
    resource_version: str
    creation_timestamp: str


class Spec(msgspec.Struct, rename="camel"):
    node_name: str = "none"
    scheduler_name: str = ""


class Status(msgspec.Struct):
    phase: str = "unset"
    conditions: list[Condition] = []


class Own(msgspec.Struct):
    metadata: Identity
    spec: Spec
    status: Status = msgspec.field(default_factory=Status)


class Encoded(msgspec.Struct):
    metadata: msgspec.Raw
    status: msgspec.Raw = msgspec.Raw(b"")


class Scheduler(msgspec.Struct, rename="camel"):
    scheduler_name: str = ""


class Same(msgspec.Struct):
    """Fields that all pods of the template have in common."""

    spec: Scheduler


class Mounting(msgspec.Struct):
    volumes: list[dict[str, Any]] = []
    containers: tuple[dict[str, Any], ...] = ()


class Mounts(msgspec.Struct):
    """Fields with the names of volumes."""

    spec: Mounting


VIEWS: list[View[Any]] = [
    View(Mounts),
    View(Changing),
    View(Own),
    View(Encoded),
    View(dict),
    View(Same),
    StatusView(Status),
]


def owned_pod(number: int) -> Document:
    document = pod(f"p-{number}", "default")
    document["metadata"]["labels"] = {"number": str(number), "app": "web"}
    document["metadata"]["annotations"] = {"batch.kubernetes.io/job-completion-index": str(number), "note": "same"}
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": f"j-{number}", "uid": f"u-{number}", "controller": True}
    document["metadata"]["ownerReferences"] = [owner]
    return document


def created(store: Store) -> list[Stored]:
    kind, options = known_kind(store.kinds, "v1", "Pod"), CreateOptions(trusted=True)
    return [
        store.create(kind, owned_pod(number), writer="test", namespace="default", options=options)
        for number in range(5)
    ]


def bare(stored: Stored) -> Stored:
    """The object, known by its bytes alone."""
    return msgspec.structs.replace(stored, facets=None, views=None)


def is_from_template(stored: Stored) -> bool:
    return stored.shape is not None and stored.shape.template is not None


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_of_an_object_from_a_template_says_what_its_bytes_say(view: View[Any]) -> None:
    store = cluster(enabled=True)
    pods = created(store)
    assert sum(map(is_from_template, pods)) == 3
    bound = [store.bind(one.namespace, one.name, f"node-{number}", writer="test") for number, one in enumerate(pods)]
    ready = [{"type": "Ready", "status": "True"}]
    ended = [write_status(store, one, {"phase": one.name, "conditions": ready}, "test") for one in bound]
    for _ in range(2):
        for stored in (*ended, *pods, *bound):
            assert view.read(stored) == view.read(bare(stored))


def test_objects_that_agree_in_a_view_share_its_row() -> None:
    view = View(Same)
    rows = [view.read(stored) for stored in created(cluster(enabled=True)) if is_from_template(stored)]
    assert len(set(map(id, rows))) == 1


def restored(store: Store) -> list[Stored]:
    """Two pods of one owner, a second later another one of it, and one with other labels."""
    found: list[Stored] = []
    for number, (owner, second) in enumerate(((0, 1), (0, 1), (0, 2), (1, 1))):
        document = owned_pod(owner)
        token = f"kube-api-access-{number}"
        document["metadata"] |= {"name": f"r-{number}", "uid": f"u-{number}"}
        document["metadata"]["creationTimestamp"] = f"2030-01-01T00:00:0{second}Z"
        document["spec"] |= {"nodeName": f"node-{number}", "serviceAccountName": "default"}
        document["spec"]["volumes"] = [{"name": "tmp", "emptyDir": {}}, {"name": token, "projected": {"sources": []}}]
        document["spec"]["containers"][0]["volumeMounts"] = [{"name": token, "mountPath": "/var/run/secrets"}]
        document["status"] = {"phase": "Running", "podIP": f"10.0.0.{number}"}
        found += store.load([document], writer="test")
    return found


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_of_a_restored_pod_says_what_its_bytes_say(view: View[Any]) -> None:
    store = cluster(enabled=True)
    pods = restored(store)
    ended = [write_status(store, one, {"phase": one.name}, "test") for one in pods]
    for _ in range(2):
        for stored in (*pods, *ended):
            assert view.read(stored) == view.read(bare(stored))


def test_restored_pods_of_one_owner_are_decoded_once_for_what_they_have_in_common() -> None:
    view = View(Changing)
    first, second, later, other = map(view.read, restored(cluster(enabled=True)))
    assert first is second is later
    assert first != other


def test_an_object_that_is_known_by_its_bytes_is_decoded_once_for_a_revision() -> None:
    view, stored = View(Own), created(cluster(enabled=False))[0]
    assert stored.shape is None
    assert view.read(stored) is view.read(stored)


def test_a_value_that_is_not_read_as_text_is_decoded_of_each_object() -> None:
    class Numbers(msgspec.Struct):
        number: Decimal

    class Meta(msgspec.Struct):
        labels: Numbers

    class Seen(msgspec.Struct):
        metadata: Meta

    view = View(Seen)
    pods = created(cluster(enabled=True))
    assert [view.read(stored).metadata.labels.number for stored in pods] == [0, 1, 2, 3, 4]


def test_what_changed_between_two_states_is_known_without_decoding() -> None:
    store = cluster(enabled=True)
    first = created(store)[3]
    bound = store.bind("default", first.name, "n", writer="test")
    ready = write_status(store, bound, {"phase": "Running"}, "test")
    assert bound.differs_only_in_status_or_node(first)
    assert ready.differs_only_in_status_or_node(bound)
    assert not bare(ready).differs_only_in_status_or_node(bound)
    assert not ready.differs_only_in_status_or_node(None)


def test_a_pod_s_own_fields_are_read_from_any_state() -> None:
    store = cluster(enabled=True)
    for stored in created(store):
        bound = store.bind("default", stored.name, "n", writer="test")
        for state in (stored, bound):
            assert (state.uid, state.node_name) == (bare(state).uid, bare(state).node_name)
            assert state.encoded_status == bare(state).encoded_status
            assert not state.is_deleting
        store.delete(bound.kind, bound.name, namespace="default", writer="test")
        gone = store.find(bound.kind, bound.name, "default")
        assert gone is not None
        assert gone.is_deleting


def test_what_is_kept_ends_with_the_store_and_with_the_owner_of_the_view() -> None:
    store = cluster(enabled=True)
    lasting, brief = View(Changing), View(Changing)
    (first, *_) = created(store)
    lasting.read(first)
    brief.read(first)
    assert {lasting.reference, brief.reference} <= store.views.keys()
    reference = brief.reference
    del brief
    gc.collect()
    View(Own).read(first)
    assert reference not in store.views
    ended = weakref.ref(store)
    del store, first, _
    gc.collect()
    assert ended() is None


def test_an_object_that_is_like_no_other_has_the_same_bytes_with_and_without_facets() -> None:
    quick, plain = (_lived(cluster(enabled=enabled)) for enabled in (True, False))
    assert [stored.data for stored in quick] == [stored.data for stored in plain]
    assert [stored.shape is None for stored in quick] == [False, False, False, False, False, True]
    assert all(stored.shape is None for stored in plain)
    for state in quick:
        assert (state.uid, state.node_name) == (bare(state).uid, bare(state).node_name)
        assert state.encoded_status == bare(state).encoded_status


def _lived(store: Store) -> list[Stored]:
    """The states of one pod from its creation until it is deleted."""
    kind = known_kind(store.kinds, "v1", "Pod")
    states = [store.create(kind, owned_pod(0), writer="test", namespace="default")]
    states.append(store.bind("default", "p-0", "n", writer="test"))
    states.append(write_status(store, states[-1], {"phase": "Running"}, "test"))
    states.append(annotate(store, states[-1], "note", "other", "test"))
    store.evict("default", "p-0", writer="test")
    marked = store.find(kind, "p-0", "default")
    assert marked is not None
    before = next(change for change in store.changes(states[-1].revision) if change.subresource == "status")
    return [*states, before.stored, marked]


def test_an_object_is_decoded_once_for_all_writes_of_its_status() -> None:
    store = cluster(enabled=True)
    kind = known_kind(store.kinds, "v1", "Pod")
    first = store.create(kind, owned_pod(0), writer="test", namespace="default")
    second = write_status(store, first, {"phase": "Running"}, "test")
    one, other = shared_document(first), shared_document(second)
    assert one["spec"] is other["spec"]
    for found, stored in ((one, first), (other, second)):
        said = stored.document()
        said["metadata"]["resourceVersion"] = found["metadata"]["resourceVersion"]
        assert found == said
