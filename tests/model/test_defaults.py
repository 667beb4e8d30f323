"""Objects are defaulted as kube-apiserver defaults them."""

from typing import Any

import pytest

from seatrial.model.decoding import decode_body
from seatrial.model.defaults import apply_defaults
from seatrial.model.defaults.images import image_tag
from seatrial.model.kinds import Kind
from tests.model.bodies import kind_of, recorded_bodies, without_nulls

CASES = [
    (body, answer)
    for name in ("decoding", "defaults")
    for body, answer in recorded_bodies(name)
    if "defaulted" in answer
]


@pytest.mark.parametrize(("body", "answer"), CASES)
def test_an_object_is_defaulted_as_the_real_server_does(body: str, answer: dict[str, Any]) -> None:
    kind = kind_of(body)
    document, _ = decode_body(kind, body.encode(), "Ignore")
    apply_defaults(kind, document)
    assert without_nulls(document) == without_nulls(answer["defaulted"])


def test_defaulting_twice_changes_nothing() -> None:
    for body, _ in CASES:
        kind = kind_of(body)
        document, _ = decode_body(kind, body.encode(), "Ignore")
        apply_defaults(kind, document)
        once = str(document)
        apply_defaults(kind, document)
        assert str(document) == once


def test_defaults_are_not_shared_between_objects() -> None:
    kind = Kind("", "v1", "Pod", "pods")
    first: dict[str, Any] = {"spec": {"containers": []}}
    second: dict[str, Any] = {"spec": {"containers": []}}
    apply_defaults(kind, first)
    first["spec"]["securityContext"]["runAsUser"] = 1
    apply_defaults(kind, second)
    assert second["spec"]["securityContext"] == {}


def test_a_device_taint_is_dated() -> None:
    kind = Kind("resource.k8s.io", "v1", "ResourceSlice", "resourceslices", namespaced=False)
    slice_: dict[str, Any] = {"spec": {"devices": [{"name": "a", "taints": [{"key": "k", "effect": "NoExecute"}]}]}}
    apply_defaults(kind, slice_, now=1_893_456_000_000_000)
    assert slice_["spec"]["devices"][0]["taints"][0]["timeAdded"] == "2030-01-01T00:00:00Z"


def test_custom_resources_have_no_built_in_defaults() -> None:
    document: dict[str, Any] = {"spec": {}}
    apply_defaults(Kind("example.com", "v1", "Pod", "pods", custom=True), document)
    assert document == {"spec": {}}


@pytest.mark.parametrize(
    ("image", "tag"),
    [
        ("nginx", "latest"),
        ("nginx:1", "1"),
        ("a.io/b@sha256:" + "0" * 64, ""),
        ("Not A Name", ""),
        ("x:5000/y", "latest"),
    ],
)
def test_the_tag_of_an_image(image: str, tag: str) -> None:
    assert image_tag(image) == tag
