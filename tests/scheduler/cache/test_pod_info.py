"""Pods as the scheduler reads them from their encoded form."""

from typing import Any

import pytest

from seatrial.model.documents import Document
from seatrial.scheduler.cache.pod_info import LONGEST_KEPT, PodReader


def pod(spec: Document | None = None, status: Document | None = None, **metadata: Any) -> Document:
    meta = {"name": "p", "namespace": "default", "uid": "u", **metadata}
    return {"metadata": meta, "spec": spec or {}, **({"status": status} if status else {})}


def test_a_pod_keeps_its_shape_when_it_is_bound() -> None:
    reader = PodReader()
    waiting = reader.read(pod({"priority": 7}))
    bound = reader.read(pod({"priority": 7, "nodeName": "node-1"}))
    assert bound.shape is waiting.shape
    assert (waiting.node, bound.node) == ("", "node-1")


@pytest.mark.parametrize(
    "spec",
    [
        {"nodeName": "node-1"},
        {"nodeName": "node-1", "hostname": "h"},
        {"nodeName": "node-1", "hostname": 'a"nodeName":"b'},
        {"hostname": "h", "nodeName": "node-1", "priority": 0},
    ],
)
def test_the_node_is_found_wherever_it_stands(spec: Document) -> None:
    read = PodReader().read(pod(spec))
    assert read.node == "node-1"
    assert "nodeName" not in read.spec


def test_resized_containers_are_charged_by_their_status() -> None:
    container = {"name": "c", "resources": {"requests": {"cpu": "1"}}}
    told = [{"name": "c", "resources": {"requests": {"cpu": "3"}}}]
    reader = PodReader()
    assert reader.read(pod({"containers": [container]})).requests.cpu == 1000
    resized = reader.read(pod({"containers": [container]}, {"containerStatuses": told}))
    assert resized.requests.cpu == 3000


@pytest.mark.parametrize(("reason", "expected"), [("PreemptionByScheduler", True), ("EvictionByEvictionAPI", False)])
def test_only_the_scheduler_s_own_disruption_is_a_preemption(reason: str, expected: bool) -> None:
    conditions = [{"type": "DisruptionTarget", "status": "True", "reason": reason}]
    assert PodReader().read(pod(status={"conditions": conditions})).is_preempted is expected


def test_claims_are_kept_of_the_status() -> None:
    claims = [{"name": "a", "resourceClaimName": "b"}]
    read = PodReader().read(pod(status={"phase": "Pending", "resourceClaimStatuses": claims}))
    assert read.status == {"resourceClaimStatuses": claims}


def test_pods_share_the_texts_of_their_annotations() -> None:
    reader = PodReader()
    first, second = (reader.read(pod(name=name, annotations={"note": "n" * 100, "name": name})) for name in "ab")
    assert first.annotations["note"] is second.annotations["note"]
    assert second.annotations == {"note": "n" * 100, "name": "b"}


def test_large_annotations_are_read_when_they_are_asked_for() -> None:
    annotations = {"large": "x" * LONGEST_KEPT, "small": "y"}
    read = PodReader().read(pod(annotations=annotations))
    assert not isinstance(read.annotations, dict)
    assert read.annotations == annotations
    assert read.annotations.get("small") == "y"
    assert read.annotations.get("other") is None
    assert len(read.annotations) == 2


def test_a_pod_without_annotations_has_none() -> None:
    assert PodReader().read(pod(annotations={})).annotations == {}
