"""Endpoints and EndpointSlices follow the pods that Services select."""

from typing import Any

import pytest

from seatrial.controllers.endpoints.service_pods import SERVICE_POD
from seatrial.controllers.endpoints.slices import MOST_ENDPOINTS
from tests.controllers.manifests import node
from tests.controllers.objects import pod
from tests.controllers.replaying import Cluster

HTTP = [{"name": "http", "port": 80, "targetPort": 8080, "protocol": "TCP"}]
Document = dict[str, Any]


def service(**spec: Any) -> Document:
    body = {"selector": {"app": "web"}, "ports": HTTP} | spec
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "labels": {"tier": "1"}}, "spec": body}


class Services(Cluster):
    """A cluster with one node, a Service, and pods whose addresses a test sets."""

    def __init__(self) -> None:
        super().__init__(["endpoint", "endpointslice"])
        self.create(node("n0"))

    def run(self, name: str, address: str, *, ready: bool = True, **spec: Any) -> None:
        self.create(pod(name, nodeName="n0", **spec))
        condition = {"type": "Ready", "status": str(ready)}
        status = {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}], "conditions": [condition]}
        self.patch({"kind": "Pod", "name": name, "body": {"status": status}, "subresource": "status"})

    def slices(self) -> list[Document]:
        self.work()
        return [found for found in self.all("EndpointSlice") if found["metadata"]["namespace"] == "default"]

    def addresses(self) -> dict[str, bool]:
        return {
            endpoint["addresses"][0]: endpoint["conditions"]["ready"]
            for found in self.slices()
            for endpoint in found["endpoints"] or []
        }

    def subsets(self) -> list[Document]:
        self.work()
        found: list[Document] = self.get("Endpoints", "web").get("subsets") or []
        return found


@pytest.fixture
def services() -> Services:
    made = Services()
    made.create(service())
    return made


def test_a_service_without_pods_has_an_empty_slice_and_empty_endpoints(services: Services) -> None:
    (found,) = services.slices()
    assert (found["endpoints"], found["ports"]) == ([], [])
    assert found["metadata"]["labels"] == {
        "tier": "1",
        "kubernetes.io/service-name": "web",
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
    }
    assert services.subsets() == []


def test_pods_are_endpoints_with_their_readiness(services: Services) -> None:
    services.run("a", "10.0.0.1")
    services.run("b", "10.0.0.2", ready=False)
    services.run("other", "10.0.0.3", app="db")
    assert services.addresses() == {"10.0.0.1": True, "10.0.0.2": False}
    (found,) = services.slices()
    assert found["ports"] == [{"name": "http", "port": 8080, "protocol": "TCP"}]
    assert found["endpoints"][0]["nodeName"] == "n0"
    (subset,) = services.subsets()
    assert [entry["ip"] for entry in subset["addresses"]] == ["10.0.0.1"]
    assert [entry["ip"] for entry in subset["notReadyAddresses"]] == ["10.0.0.2"]


def test_a_named_port_is_that_of_the_container() -> None:
    services = Services()
    services.create(service(ports=[{"name": "http", "port": 80, "targetPort": "web", "protocol": "TCP"}]))
    made = pod("a", nodeName="n0")
    made["spec"]["containers"][0]["ports"] = [{"name": "web", "containerPort": 9090}]
    services.run("plain", "10.0.0.1")
    services.create(made)
    status = {"phase": "Running", "podIP": "10.0.0.2", "podIPs": [{"ip": "10.0.0.2"}]}
    services.patch({"kind": "Pod", "name": "a", "body": {"status": status}, "subresource": "status"})
    ports = {tuple(port["port"] for port in found["ports"] or []): found for found in services.slices()}
    assert set(ports) == {(9090,), ()}


def test_a_pod_that_is_gone_leaves_the_slice(services: Services) -> None:
    services.run("a", "10.0.0.1")
    services.run("b", "10.0.0.2")
    (before,) = services.slices()
    now = {"kind": "Pod", "name": "a"}
    services.patch({**now, "body": {"metadata": {"labels": {"app": "db"}}}})
    (after,) = services.slices()
    assert after["metadata"]["name"] == before["metadata"]["name"]
    assert services.addresses() == {"10.0.0.2": True}


def test_unready_addresses_are_published_where_a_service_asks_for_it() -> None:
    services = Services()
    services.create(service(publishNotReadyAddresses=True, clusterIP="None"))
    services.run("a", "10.0.0.1", ready=False)
    assert services.addresses() == {"10.0.0.1": True}
    assert "service.kubernetes.io/headless" in services.slices()[0]["metadata"]["labels"]


def test_a_slice_that_is_deleted_comes_back(services: Services) -> None:
    services.run("a", "10.0.0.1")
    services.delete({"kind": "EndpointSlice", "name": services.slices()[0]["metadata"]["name"]})
    assert services.addresses() == {"10.0.0.1": True}


def test_slices_hold_a_hundred_endpoints(services: Services) -> None:
    for number in range(MOST_ENDPOINTS + 5):
        services.run(f"p{number}", f"10.0.1.{number}")
    assert sorted(len(found["endpoints"]) for found in services.slices()) == [5, MOST_ENDPOINTS]


def test_endpoints_go_with_their_service(services: Services) -> None:
    services.run("a", "10.0.0.1")
    services.work()
    services.delete({"kind": "Service", "name": "web"})
    services.work()
    assert [found["metadata"]["name"] for found in services.all("Endpoints")] == []


def test_a_service_without_a_selector_is_left_alone() -> None:
    services = Services()
    services.create(service(selector=None))
    assert services.slices() == []


def test_pods_of_a_namespace_whose_services_select_nothing_are_not_decoded() -> None:
    made = Services()
    made.create(service(selector=None))
    made.run("p0", "10.0.0.1")
    made.work()
    assert SERVICE_POD.reference not in made.store.views
