"""Statuses that are written in place."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from seatrial.model.documents import encode
from seatrial.store.registry.status_writes import write_status
from tests.controllers.objects import pod
from tests.controllers.replaying import Cluster

STATUSES = st.dictionaries(st.text("ab", min_size=1), st.integers(0, 9) | st.text() | st.none(), max_size=3)


def test_only_status_and_revision_change() -> None:
    cluster = Cluster()
    cluster.create(pod("a"))
    stored = cluster.store.get(cluster.kind("Pod"), "a", "default")
    written = write_status(cluster.store, stored, {"phase": "Running"}, "me")
    before, after = stored.document(), written.document()
    assert after["status"] == {"phase": "Running"}
    assert after["metadata"]["resourceVersion"] == str(written.revision) == str(cluster.store.revision)
    before["metadata"].pop("resourceVersion")
    after["metadata"].pop("resourceVersion")
    assert before | {"status": None} == after | {"status": None}
    assert cluster.get("Pod", "a")["status"] == {"phase": "Running"}


def test_a_status_that_stands_is_not_written_again() -> None:
    cluster = Cluster()
    cluster.create(pod("a"))
    stored = cluster.store.get(cluster.kind("Pod"), "a", "default")
    assert write_status(cluster.store, stored, stored.document()["status"], "me") is stored


def test_a_status_with_its_fields_in_another_order_is_not_written() -> None:
    cluster = Cluster()
    status = {"replicas": 1, "readyReplicas": 1, "conditions": [{"type": "Ready", "status": "True"}]}
    kind = cluster.kind("Pod")
    cluster.create(pod("a"))
    written = write_status(cluster.store, cluster.store.get(kind, "a", "default"), status, "me")
    turned = {**dict(reversed(status.items())), "conditions": [{"status": "True", "type": "Ready"}]}
    assert write_status(cluster.store, written, turned, "me") is written
    assert write_status(cluster.store, written, status | {"replicas": 2}, "me") is not written


@given(st.lists(STATUSES, min_size=1, max_size=4), st.booleans())
def test_any_status_is_read_back_wherever_it_stood(statuses: list[dict[str, Any]], is_first: bool) -> None:
    cluster = Cluster([])
    head = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}}
    cluster.create(head | {"data": {"a": '"resourceVersion":"1"}'}})
    kind = cluster.kind("ConfigMap")
    stored = cluster.store.get(kind, "m", "default")
    if is_first:
        document = stored.document()
        turned = {"status": {"old": True}} | document
        stored = cluster.store.write_pieces(stored, lambda revision: (_renumbered(turned, revision),), writer="me")
    for status in statuses:
        stored = write_status(cluster.store, stored, status, "me")
        assert stored.encoded_status == encode(status)
        assert stored.document()["metadata"]["resourceVersion"] == str(stored.revision)
        assert stored.document()["data"] == {"a": '"resourceVersion":"1"}'}


def _renumbered(document: dict[str, Any], revision: int) -> bytes:
    return encode(document | {"metadata": document["metadata"] | {"resourceVersion": str(revision)}})
