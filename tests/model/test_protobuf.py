"""Protobuf is read and written byte for byte as Kubernetes does."""

import base64
import json
import lzma
from typing import Any

import pytest

from seatrial.model.decoding import decode_body
from seatrial.model.errors import BadRequest
from seatrial.model.kinds import Kind
from seatrial.model.protobuf import decode_protobuf, encode_protobuf
from tests.model.bodies import GOLDEN, kind_of, recorded_bodies, without_nulls

SAMPLES = json.loads(lzma.decompress((GOLDEN / "protobuf" / "samples.json.xz").read_bytes()))
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": []}, "status": {}}


def default_kind(sample: str) -> Kind | None:
    """Watch events are the one sample whose envelope names no kind."""
    return Kind("", "v1", "WatchEvent", "") if sample.endswith("WatchEvent") else None


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_sample_decodes_to_its_json_and_encodes_back_to_its_bytes(sample: str) -> None:
    document, data = SAMPLES[sample]["json"], base64.b64decode(SAMPLES[sample]["protobuf"])
    assert decode_protobuf(data, default_kind(sample)) == document
    assert encode_protobuf(document, default_kind(sample)) == data


READABLE = [
    (body, answer) for name in ("decoding", "defaults") for body, answer in recorded_bodies(name) if "decoded" in answer
]


@pytest.mark.parametrize(("body", "answer"), READABLE)
def test_a_sparse_object_is_written_as_the_real_server_writes_it(body: str, answer: dict[str, Any]) -> None:
    document, _ = decode_body(kind_of(body), body.encode(), "Ignore")
    data = base64.b64decode(answer["protobuf"])
    assert encode_protobuf(document) == data
    if ":[]" not in body:  # protobuf does not tell an empty list from none
        assert without_nulls(decode_protobuf(data)) == without_nulls(answer["decoded"])


def test_a_list_is_read_and_written() -> None:
    pods = {"apiVersion": "v1", "kind": "PodList", "metadata": {"resourceVersion": "7"}, "items": [{**POD}]}
    read = decode_protobuf(encode_protobuf(pods))
    assert read["metadata"] == {"resourceVersion": "7"}
    assert [item["metadata"]["name"] for item in read["items"]] == ["a"]


def test_objects_inside_a_watch_event_are_unwrapped() -> None:
    kind = Kind("", "v1", "WatchEvent", "")
    event = {"type": "ADDED", "object": {"apiVersion": "v1", "kind": "Pod"}}
    assert decode_protobuf(encode_protobuf(event, kind), kind) == event


def test_custom_resources_have_no_protobuf() -> None:
    with pytest.raises(BadRequest, match="Thing"):
        encode_protobuf({"apiVersion": "example.com/v1", "kind": "Thing"})


@pytest.mark.parametrize("cut", range(1, 120, 7))
def test_a_cut_message_is_a_bad_request(cut: int) -> None:
    data = base64.b64decode(SAMPLES["core.v1.Binding"]["protobuf"])
    with pytest.raises(BadRequest):
        decode_protobuf(data[:cut])


def test_noise_is_refused_or_read_but_never_breaks() -> None:
    data = bytearray(base64.b64decode(SAMPLES["core.v1.Pod"]["protobuf"]))
    refused = 0
    for position in range(4, len(data), 3):
        noisy = bytes(data[:position]) + bytes((data[position] ^ 0x5A,)) + bytes(data[position + 1 :])
        try:
            decode_protobuf(noisy)
        except BadRequest:
            refused += 1
    assert refused
