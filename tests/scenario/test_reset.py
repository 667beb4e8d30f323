"""The wipe at the start of a Scenario removes what an earlier one created and keeps what the user created."""

from typing import Any

import pytest

from seatrial.scenario.spec.kind import CREATED_BY, SCENARIO
from tests.proofs import proves
from tests.scenario.playing import create, done, operations
from tests.scenario.running import node
from tests.scenario.serving import USER, Server

DEFINITIONS = "apiextensions.k8s.io/v1"


def crd(plural: str) -> dict[str, Any]:
    return {
        "apiVersion": DEFINITIONS,
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.example.com"},
        "spec": {
            "group": "example.com",
            "names": {"plural": plural, "kind": plural.capitalize()},
            "scope": "Cluster",
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
                }
            ],
        },
    }


def role(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": name},
        "rules": [],
    }


def ship(name: str) -> dict[str, Any]:
    return {"apiVersion": "example.com/v1", "kind": "Ships", "metadata": {"name": name}}


PLAYED = operations(create(1, crd("ships")), create(2, ship("ark")), create(2, role("captain")), done(2))


@pytest.mark.parametrize("restart", [False, True])
@proves("V1-109", "V2-089")
def test_a_scenario_that_creates_a_definition_can_be_played_again(restart: bool) -> None:
    server = Server()
    server.create(PLAYED)
    server.run()
    assert server.status()["phase"] == "Succeeded", server.status()["message"]
    server.store.delete(SCENARIO, "play", writer=USER)
    server.run()
    if restart:
        server = Server(server.store)
    server.create(PLAYED)
    server.run()
    assert server.status()["phase"] == "Succeeded", server.status()["message"]


@proves("V1-109", "V2-089")
def test_a_wipe_keeps_definitions_and_roles_of_the_user() -> None:
    server = Server()
    server.user_creates(crd("planes"))
    server.user_creates(role("pilot"))
    server.create(PLAYED)
    server.run()
    server.create(operations(create(1, node("n")), done(1)), "next")
    server.run()
    assert server.status("next")["phase"] == "Succeeded"
    assert server.find("CustomResourceDefinition", "planes.example.com", DEFINITIONS) is not None
    assert server.find("ClusterRole", "pilot", "rbac.authorization.k8s.io/v1") is not None
    assert server.find("CustomResourceDefinition", "ships.example.com", DEFINITIONS) is None
    assert server.find("ClusterRole", "captain", "rbac.authorization.k8s.io/v1") is None
    assert server.store.kinds.named("example.com/v1", "Ships") is None


def test_only_what_would_stay_is_marked() -> None:
    server = Server()
    server.create(operations(create(1, crd("ships")), create(1, node("n"))))
    server.run()
    marked = server.find("CustomResourceDefinition", "ships.example.com", DEFINITIONS) or {}
    assert CREATED_BY in marked["metadata"]["annotations"]
    assert "annotations" not in (server.find("Node", "n") or {})["metadata"]
