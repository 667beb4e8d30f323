"""Every kind that is served is created, read, watched, patched and deleted over HTTP, in JSON and in protobuf.

Tests: store/registry/kinds/*.py, server/encoding/*.py, server/handlers/resources.py
"""

import asyncio
from typing import Any, ClassVar

import pytest

from seatrial.model.builtin import builtin_kinds
from seatrial.model.kinds import Kind
from seatrial.model.protobuf import decode_protobuf, encode_protobuf
from tests.server.client import Reply, Server
from tests.server.samples import sample

PROTOBUF = "application/vnd.kubernetes.protobuf"
STORED = [kind for kind in builtin_kinds() if {"create", "get", "delete"} <= set(kind.verbs)]


def collection(kind: Kind) -> str:
    root = f"/apis/{kind.api_version}" if kind.group else f"/api/{kind.version}"
    return f"{root}/namespaces/default/{kind.plural}" if kind.namespaced else f"{root}/{kind.plural}"


class Json:
    headers: ClassVar[dict[str, str]] = {}

    def body(self, document: dict[str, Any]) -> Any:
        return document

    def read(self, reply: Reply) -> dict[str, Any]:
        document: dict[str, Any] = reply.json()
        return document


class Protobuf(Json):
    headers: ClassVar[dict[str, str]] = {"accept": PROTOBUF, "content_type": PROTOBUF}

    def body(self, document: dict[str, Any]) -> Any:
        return encode_protobuf(document)

    def read(self, reply: Reply) -> dict[str, Any]:
        assert reply.header("content-type") == PROTOBUF, reply.body
        return decode_protobuf(reply.body)


@pytest.mark.parametrize("speech", [Json(), Protobuf()], ids=["json", "protobuf"])
@pytest.mark.parametrize("kind", STORED, ids=lambda kind: f"{kind.api_version}/{kind.kind}")
def test_life_of_an_object(kind: Kind, speech: Json) -> None:
    asyncio.run(live(Server(), kind, speech))


async def live(server: Server, kind: Kind, speech: Json) -> None:
    path, document = collection(kind), sample(kind.api_version, kind.kind)
    name = document["metadata"]["name"]
    async with server.watch(f"{path}?watch=true&resourceVersion={server.store.revision}") as watch:
        created = await server.send("POST", path, speech.body(document), **speech.headers)
        assert created.status == 201, created.body
        read = await server.send("GET", f"{path}/{name}", **speech.headers)
        assert speech.read(read) == speech.read(created)
        assert (speech.read(read)["kind"], speech.read(read)["apiVersion"]) == (kind.kind, kind.api_version)
        listed = speech.read(await server.send("GET", path, **speech.headers))
        assert name in [item["metadata"]["name"] for item in listed["items"]]
        patch = {"metadata": {"annotations": {"note": "patched"}}}
        patched = await server.send("PATCH", f"{path}/{name}", patch, content_type="application/merge-patch+json")
        assert patched.status == 200, patched.body
        replaced = await server.send("PUT", f"{path}/{name}", speech.body(patched.json()), **speech.headers)
        assert replaced.status == 200, replaced.body
        deleted = await server.send("DELETE", f"{path}/{name}?gracePeriodSeconds=0")
        assert deleted.status == 200, deleted.body
        events = await watch.some(3)
    assert [event["type"] for event in events][:2] == ["ADDED", "MODIFIED"]
    assert events[1]["object"]["metadata"]["annotations"]["note"] == "patched"
    assert {event["object"]["metadata"]["name"] for event in events} == {name}
