"""Services get addresses and ports that nobody else has."""

from typing import Any, Protocol

import pytest

from seatrial.model.errors import Invalid
from seatrial.store.store import Store
from tests.store.conftest import FindKind
from tests.store.stock import Document


def service(name: str, **spec: Any) -> Document:
    ports = [{"port": 80}]
    return {"metadata": {"name": name, "namespace": "default"}, "spec": {"ports": ports, **spec}}


class Create(Protocol):
    """Creates a service with these fields in its spec."""

    def __call__(self, name: str, **spec: Any) -> Document: ...


@pytest.fixture
def create(store: Store, kind: FindKind) -> Create:
    return lambda name, **spec: store.create(kind("v1", "Service"), service(name, **spec), writer="test").document()


def test_a_service_gets_an_address_of_the_service_network(create: Create) -> None:
    spec = create("a")["spec"]
    assert spec["clusterIP"].startswith("10.")
    assert spec["clusterIPs"] == [spec["clusterIP"]]
    assert (spec["ipFamilies"], spec["ipFamilyPolicy"]) == (["IPv4"], "SingleStack")


def test_no_two_services_share_an_address_or_a_port(create: Create) -> None:
    specs = [create(f"s{number}", type="NodePort")["spec"] for number in range(200)]
    assert len({spec["clusterIP"] for spec in specs}) == 200
    ports = {spec["ports"][0]["nodePort"] for spec in specs}
    assert len(ports) == 200 and all(30000 <= port <= 32767 for port in ports)


def test_an_address_that_was_asked_for_is_given_once(create: Create) -> None:
    assert create("a", clusterIP="10.96.0.10")["spec"]["clusterIPs"] == ["10.96.0.10"]
    with pytest.raises(Invalid, match="provided IP is already allocated"):
        create("b", clusterIP="10.96.0.10")


def test_a_headless_service_stays_without_and_an_external_one_has_none(create: Create) -> None:
    assert create("a", clusterIP="None")["spec"]["clusterIPs"] == ["None"]
    assert "clusterIP" not in create("b", type="ExternalName", externalName="x.example")["spec"]
