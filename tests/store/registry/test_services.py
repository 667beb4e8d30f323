"""Services keep what was allocated to them."""

from typing import Any

import pytest

from tests.server.client import Reply, Server

PATH = "/api/v1/namespaces/default/services"


def service(name: str = "s", **spec: Any) -> dict[str, Any]:
    body = {"ports": [{"port": 80}], "selector": {"a": "b"}, **spec}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": body}


def causes(reply: Reply) -> list[tuple[str, str]]:
    return [(cause["field"], cause["message"]) for cause in reply.json()["details"]["causes"]]


@pytest.fixture
def server() -> Server:
    return Server()


def test_an_update_without_address_and_node_port_keeps_them(server: Server) -> None:
    before = server("POST", PATH, service(type="NodePort")).json()["spec"]
    after = server("PUT", f"{PATH}/s", service(type="NodePort", selector={"c": "d"})).json()["spec"]
    assert after["clusterIP"] == before["clusterIP"]
    assert after["ports"] == before["ports"]
    assert after["selector"] == {"c": "d"}


def test_an_address_may_not_change(server: Server) -> None:
    server("POST", PATH, service(clusterIP="10.96.1.1"))
    refused = server("PUT", f"{PATH}/s", service(clusterIP="10.96.1.2", clusterIPs=["10.96.1.2"]))
    assert refused.status == 422
    assert causes(refused) == [("spec.clusterIPs[0]", 'Invalid value: ["10.96.1.2"]: may not change once set')]


def test_a_node_port_must_be_in_range_and_free(server: Server) -> None:
    low = service("low", type="NodePort", ports=[{"port": 80, "nodePort": 80}])
    why = "provided port is not in the valid range. The range of valid ports is 30000-32767"
    assert causes(server("POST", PATH, low)) == [("spec.ports[0].nodePort", f"Invalid value: 80: {why}")]
    taken = [{"port": 80, "nodePort": 30123}]
    assert server("POST", PATH, service("one", type="NodePort", ports=taken)).status == 201
    refused = server("POST", PATH, service("two", type="NodePort", ports=taken))
    assert causes(refused) == [("spec.ports[0].nodePort", "Invalid value: 30123: provided port is already allocated")]


def test_a_service_that_becomes_a_node_port_gets_ports(server: Server) -> None:
    server("POST", PATH, service())
    changed = server("PUT", f"{PATH}/s", service(type="NodePort")).json()["spec"]
    assert 30000 <= changed["ports"][0]["nodePort"] <= 32767


def test_texts_of_a_secret_are_merged_into_its_data(server: Server) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"a": "eA==", "b": "eA=="}}
    path = "/api/v1/namespaces/default/secrets"
    created = server("POST", path, secret | {"stringData": {"a": "hello"}}).json()
    assert created["data"] == {"a": "aGVsbG8=", "b": "eA=="}
    assert "stringData" not in created
    headers = {"content_type": "application/merge-patch+json"}
    patched = server("PATCH", f"{path}/s", {"stringData": {"c": "x"}}, **headers).json()
    assert patched["data"] == {"a": "aGVsbG8=", "b": "eA==", "c": "eA=="}
