import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from seatrial.server.handlers.simulator_api import SimulatorApi
from tests.server.client import Server
from tests.server.documents import PODS, node, pod


class Scheduler:
    def __init__(self) -> None:
        self.document: dict[str, Any] = {"kind": "KubeSchedulerConfiguration", "profiles": []}

    def configuration(self) -> dict[str, Any]:
        return self.document

    def expanded(self, configuration: dict[str, Any]) -> dict[str, Any]:
        return {**configuration, "expanded": True}

    def restart(self, configuration: dict[str, Any]) -> None:
        self.document = configuration


def simulator(
    scheduler: Scheduler | None = None, reset: Callable[[], None] | None = None
) -> tuple[Server, SimulatorApi]:
    server = Server()
    api = SimulatorApi(server.store, scheduler, reset)
    server.application._routes = (api.routes,)
    return server, api


def test_an_export_can_be_imported_elsewhere() -> None:
    server, _ = simulator(Scheduler())
    server("POST", "/api/v1/nodes", node("n"))
    server("POST", PODS, pod("a"))
    server("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "crew"}})
    exported = server("GET", "/api/v1/export")
    document = exported.json()
    keys = {"pods", "nodes", "pvs", "pvcs", "storageClasses", "priorityClasses", "schedulerConfig", "namespaces"}
    assert set(document) == keys | {"objects", "exportedAt"}
    assert [item["metadata"]["name"] for item in document["namespaces"]] == ["crew"]
    other, _ = simulator(scheduler := Scheduler())
    document["schedulerConfig"] = {"profiles": [{"schedulerName": "x"}]}
    assert other("POST", "/api/v1/import", document).status == 200
    assert scheduler.document["profiles"] == [{"schedulerName": "x"}]
    assert [item["metadata"]["name"] for item in other("GET", "/api/v1/pods").json()["items"]] == ["a"]


def test_an_import_says_how_many_pods_have_no_owner() -> None:
    server, _ = simulator()
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "gone", "uid": "u", "controller": True}
    orphan = pod("a")
    orphan["metadata"] |= {"uid": "uid-a", "ownerReferences": [owner]}
    answer = server("POST", "/api/v1/import", {"pods": [orphan]})
    assert answer.status == 200
    assert "1 pod has owners that are not in the import" in answer.header("warning")
    (kept,) = server("GET", "/api/v1/pods").json()["items"]
    assert kept["metadata"]["uid"] == "uid-a"


def test_an_import_without_objects_changes_nothing() -> None:
    server, _ = simulator()
    assert server("POST", "/api/v1/import", {}).status == 200


def test_controllers_are_held_during_an_import() -> None:
    server, api = simulator()
    seen: list[str] = []
    pods = server.store.kinds.named("v1", "Pod")
    assert pods is not None

    @contextmanager
    def held() -> Iterator[None]:
        seen.append("held")
        yield
        seen.append(f"released after {len(server.store.list(pods))} pods")

    api._held = held
    server("POST", "/api/v1/import", {"pods": [pod("a"), pod("b")]})
    assert seen == ["held", "released after 2 pods"]


def test_a_bad_import_is_400() -> None:
    server, _ = simulator()
    assert server("POST", "/api/v1/import", []).status == 400
    assert server("POST", "/api/v1/import", {"pods": "many"}).status == 400


def test_scheduler_configuration_and_reset_are_their_owners() -> None:
    server, _ = simulator()
    assert server("GET", "/api/v1/schedulerconfiguration").status == 404
    assert server("PUT", "/api/v1/reset").status == 404
    calls: list[str] = []
    server, _ = simulator(Scheduler(), reset=lambda: calls.append("reset"))
    assert server("GET", "/api/v1/schedulerconfiguration").json()["kind"] == "KubeSchedulerConfiguration"
    assert server("POST", "/api/v1/schedulerconfiguration", {"profiles": []}).status == 202
    assert server("PUT", "/api/v1/reset").status == 202
    assert calls == ["reset"]


def test_a_dry_run_of_a_configuration_expands_it_and_changes_nothing() -> None:
    scheduler = Scheduler()
    server, _ = simulator(scheduler)
    answer = server("POST", "/api/v1/schedulerconfiguration?dryRun=All", {"profiles": [{"schedulerName": "mine"}]})
    assert answer.status == 200
    assert answer.json() == {"profiles": [{"schedulerName": "mine"}], "expanded": True}
    assert scheduler.document["profiles"] == []


def test_listwatchresources_streams_what_is_there_and_what_changes() -> None:
    async def story() -> None:
        server, _ = simulator()
        await server.send("POST", PODS, pod("a"))
        async with server.watch("/api/v1/listwatchresources") as watch:
            kinds = [(e["Kind"], e["EventType"], e["Obj"]["metadata"]["name"]) for e in await watch.some(7)]
            assert kinds[0] == ("pods", "ADDED", "a")
            assert [kind for kind, *_ in kinds[1:]] == ["priorityclasses"] * 2 + ["namespaces"] * 4
            await server.send("POST", "/api/v1/nodes", node("n"))
            event = await watch.next()
            assert (event["Kind"], event["EventType"]) == ("nodes", "ADDED")

    asyncio.run(story())


def test_listwatchresources_goes_on_from_a_revision() -> None:
    async def story() -> None:
        server, api = simulator()
        await server.send("POST", PODS, pod("a"))
        revision = server.store.revision
        async with server.watch(f"/api/v1/listwatchresources?podsLastResourceVersion={revision}") as watch:
            assert {e["Kind"] for e in await watch.some(6)} == {"priorityclasses", "namespaces"}
            await server.send("DELETE", f"{PODS}/a")
            assert (await watch.next())["EventType"] == "DELETED"
            api.close()
            assert await watch.next() is None

    asyncio.run(story())


def test_a_body_that_is_not_declared_as_json_is_refused() -> None:
    server, _ = simulator(Scheduler())
    for path in ("/api/v1/import", "/api/v1/schedulerconfiguration"):
        assert server("POST", path, {}, content_type="text/plain").status == 415
        assert server("POST", path, {}, content_type="").status == 415


def test_an_import_of_many_objects_is_taken_in_whole() -> None:
    server, _ = simulator(Scheduler())
    nodes = [node(f"n-{number}") for number in range(400)]
    pods = [pod(f"p-{number}") for number in range(400)]
    body = {"nodes": nodes, "pods": pods}
    assert len(json.dumps(body)) > 64 * 1024
    assert server("POST", "/api/v1/import", body).status == 200
    assert len(server("GET", PODS).json()["items"]) == 400
