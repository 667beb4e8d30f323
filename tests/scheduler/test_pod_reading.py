"""Reading pods: what pods of one template have in common is kept once."""

import json

from seatrial.scheduler.pods import LONGEST_KEPT, PodReader


def encoded(name: str, annotations: dict[str, str]) -> bytes:
    metadata = {"name": name, "namespace": "default", "annotations": annotations}
    return json.dumps({"metadata": metadata, "spec": {"containers": []}}).encode()


def test_pods_share_the_texts_of_their_annotations() -> None:
    reader = PodReader()
    first, second = (reader.decode(encoded(name, {"note": "n" * 100, "name": name})) for name in "ab")
    assert first.annotations["note"] is second.annotations["note"]
    assert second.annotations == {"note": "n" * 100, "name": "b"}


def test_large_annotations_are_read_when_they_are_asked_for() -> None:
    annotations = {"large": "x" * LONGEST_KEPT, "small": "y"}
    pod = PodReader().decode(encoded("a", annotations))
    assert not isinstance(pod.annotations, dict)
    assert pod.annotations == annotations
    assert pod.annotations.get("small") == "y"
    assert pod.annotations.get("other") is None
    assert len(pod.annotations) == 2


def test_a_pod_without_annotations_has_none() -> None:
    assert PodReader().decode(encoded("a", {})).annotations == {}
