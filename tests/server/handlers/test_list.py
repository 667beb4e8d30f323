import asyncio
import gzip
from typing import Any

import orjson
import pytest

from seatrial.model.yaml_reader import load
from tests.server.client import Server
from tests.server.documents import MAPS, PODS, config_map, pod


def names(answer: dict[str, Any]) -> list[str]:
    return [item["metadata"]["name"] for item in answer["items"]]


def test_items_of_a_built_in_list_have_no_type_of_their_own(server: Server) -> None:
    server("POST", MAPS, config_map("a"))
    answer = server("GET", MAPS).json()
    assert (answer["kind"], answer["apiVersion"]) == ("ConfigMapList", "v1")
    assert "kind" not in answer["items"][0]
    assert answer["metadata"]["resourceVersion"] == str(server.store.revision)


def test_chunks_together_are_the_whole_list_at_the_first_revision(server: Server) -> None:
    for number in range(7):
        server("POST", MAPS, config_map(f"m{number}"))
    first = server("GET", f"{MAPS}?limit=3").json()
    assert first["metadata"]["remainingItemCount"] == 4
    server("DELETE", f"{MAPS}/m5")
    server("POST", MAPS, config_map("m3a"))
    rest = server("GET", f"{MAPS}?limit=10&continue={first['metadata']['continue']}").json()
    assert names(first) + names(rest) == [f"m{number}" for number in range(7)]
    assert "continue" not in rest["metadata"]
    assert rest["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]


def test_a_list_at_an_exact_revision_shows_the_past(server: Server) -> None:
    server("POST", MAPS, config_map("a", x="1"))
    revision = server.store.revision
    server("PATCH", f"{MAPS}/a", {"data": {"x": "2"}}, content_type="application/merge-patch+json")
    past = server("GET", f"{MAPS}?resourceVersion={revision}&resourceVersionMatch=Exact").json()
    assert past["items"][0]["data"] == {"x": "1"}
    newer = server("GET", f"{MAPS}?resourceVersion={revision}&resourceVersionMatch=NotOlderThan").json()
    assert newer["items"][0]["data"] == {"x": "2"}


def test_a_revision_of_the_future_is_a_timeout_with_upstreams_cause(server: Server) -> None:
    answer = server("GET", f"{MAPS}?resourceVersion=999999")
    assert answer.status == 504
    assert answer.json()["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"


def test_selectors(server: Server) -> None:
    server("POST", PODS, pod("a", app="x"))
    server("POST", PODS, pod("b", app="y"))
    assert names(server("GET", f"{PODS}?labelSelector=app+in+(y)").json()) == ["b"]
    assert names(server("GET", f"{PODS}?fieldSelector=metadata.name%3Da").json()) == ["a"]
    assert names(server("GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dn").json()) == []
    assert server("GET", f"{PODS}?fieldSelector=spec.color%3Dred").status == 400
    assert server("GET", f"{PODS}?labelSelector=a%3D%3D%3Db").status == 400


def test_bad_tokens_and_matches_are_refused(server: Server) -> None:
    assert server("GET", f"{MAPS}?continue=nonsense").status == 400
    assert server("GET", f"{MAPS}?limit=many").status == 400
    assert server("GET", f"{MAPS}?resourceVersion=x").status == 422
    assert server("GET", f"{MAPS}?resourceVersionMatch=Exact").status == 422


def test_metadata_alone(server: Server) -> None:
    server("POST", MAPS, config_map("a", x="1"))
    accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
    answer = server("GET", MAPS, accept=accept).json()
    assert answer["kind"] == "PartialObjectMetadataList"
    assert set(answer["items"][0]) == {"kind", "apiVersion", "metadata"}


def test_an_accept_header_that_cannot_be_met_is_406(server: Server) -> None:
    assert server("GET", MAPS, accept="text/html").status == 406
    assert server("GET", MAPS, accept="text/html, */*;q=0.1").status == 200


def test_long_lists_are_streamed_and_compressed_for_who_accepts_it(server: Server) -> None:
    async def fill() -> None:
        for number in range(1200):
            await server.send("POST", MAPS, config_map(f"m{number:04}"))

    asyncio.run(fill())
    answer = server("GET", MAPS, accept_encoding="gzip")
    assert answer.header("content-encoding") == "gzip"
    plain = server("GET", MAPS)
    assert gzip.decompress(answer.body) == plain.body
    assert len(plain.json()["items"]) == 1200


def test_a_token_whose_revision_is_gone_can_be_exchanged(server: Server) -> None:
    for name in ("a", "b", "c"):
        server("POST", MAPS, config_map(name))
    first = server("GET", f"{MAPS}?limit=1").json()
    server("POST", MAPS, config_map("d"))
    server.store.compact(server.store.revision)
    refused = server("GET", f"{MAPS}?limit=1&continue={first['metadata']['continue']}")
    assert refused.status == 410
    assert refused.json()["reason"] == "Expired"
    rest = server("GET", f"{MAPS}?continue={refused.json()['metadata']['continue']}").json()
    assert [item["metadata"]["name"] for item in rest["items"]] == ["b", "c", "d"]
    assert int(rest["metadata"]["resourceVersion"]) > int(first["metadata"]["resourceVersion"])


@pytest.mark.parametrize("number", [0, 3, 40])
@pytest.mark.parametrize("accept", ["application/json", "application/json;as=Table;v=v1;g=meta.k8s.io"])
def test_a_list_is_the_same_in_every_encoding_whole_and_in_chunks(server: Server, number: int, accept: str) -> None:
    for place in range(number):
        data = {"text": "v\nw: x\n" * 800, "empty": ""}
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"m-{place:02}"}, "data": data}
        assert server("POST", "/api/v1/namespaces/default/configmaps", body).status == 201
    path = "/api/v1/namespaces/default/configmaps?includeObject=Object"
    plain = server("GET", path, accept=accept)
    in_yaml = server("GET", path, accept=accept.replace("json", "yaml"))
    assert load(in_yaml.body) == plain.json()
    assert in_yaml.header("content-type") == "application/yaml"
    assert plain.body.endswith(b"}\n")
    indented = server("GET", f"{path}&pretty=true", accept=accept)
    if "Table" not in accept:
        assert indented.body == orjson.dumps(plain.json(), option=orjson.OPT_INDENT_2)


def test_yaml_has_no_watch(server: Server) -> None:
    answer = server("GET", "/api/v1/pods?watch=true", accept="application/yaml")
    assert answer.status == 406
    assert "application/json;stream=watch" in answer.json()["message"]
