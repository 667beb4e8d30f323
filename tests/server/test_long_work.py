"""Rules that take long are evaluated in another process, large bodies on another thread, and both as on the loop."""

import asyncio
import json
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import pytest

from seatrial.scenario.scenario_controller import ScenarioController
from seatrial.scenario.spec.kind import SCENARIO
from seatrial.server.handlers import request_bodies
from seatrial.store import deferral, managed_fields
from seatrial.store.deferral import Turn, defers, is_larger, short_turns
from seatrial.store.registry import patching
from tests.server.client import Server
from tests.store.stock import definition, widget

PODS = "/api/v1/namespaces/default/pods"
WIDGETS = "/apis/example.com/v1/namespaces/default/widgets"
COSTLY = {"rule": "self.l.all(x, self.l.all(y, x + y >= 0))", "message": "must not be negative"}
SCHEMA = {
    "type": "object",
    "properties": {"l": {"type": "array", "maxItems": 400, "items": {"type": "integer"}}},
    "x-kubernetes-validations": [COSTLY],
}


@pytest.fixture
def long(server: Server, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A server with a costly rule; how often work was done on another thread or in another process."""
    assert server("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition(SCHEMA)).status == 201
    done: list[int] = []
    pool = server.application.pools.long_work
    submit = pool.submit

    def counted(work: Callable[..., Any], *more: Any) -> Future[Any]:
        done.append(1)
        return submit(work, *more)

    monkeypatch.setattr(pool, "submit", counted)
    run = server.application.pools.isolated.run

    async def counted_run(job: Callable[[], Any]) -> Any:
        done.append(1)
        return await run(job)

    monkeypatch.setattr(server.application.pools.isolated, "run", counted_run)
    return done


def test_an_object_whose_rules_take_long_is_created(server: Server, long: list[int]) -> None:
    assert server("POST", WIDGETS, widget("a", l=list(range(300)))).status == 201
    assert len(long) == 1


def test_an_object_whose_rules_are_quick_needs_no_other_thread(server: Server, long: list[int]) -> None:
    assert server("POST", WIDGETS, widget("a", l=[1, 2])).status == 201
    assert long == []


def test_a_refusal_that_takes_long_is_the_same_refusal(server: Server, long: list[int]) -> None:
    answer = server("POST", WIDGETS, widget("a", l=[*range(1, 300), -1]))
    assert answer.status == 422
    assert "must not be negative" in answer.json()["message"]
    assert server("GET", f"{WIDGETS}/a").status == 404
    assert len(long) == 1


def test_others_are_answered_while_rules_are_evaluated(server: Server, long: list[int]) -> None:
    async def scene() -> list[str]:
        ended: list[str] = []

        async def note(name: str, method: str, path: str, body: object = None) -> None:
            await server.send(method, path, body)
            ended.append(name)

        slow = asyncio.ensure_future(note("slow", "POST", WIDGETS, widget("a", l=list(range(300)))))
        await asyncio.sleep(0)
        while not long:
            await asyncio.sleep(0.001)
        await note("quick", "GET", "/readyz")
        await slow
        return ended

    assert asyncio.run(scene()) == ["quick", "slow"]


def test_work_is_deferred_inside_short_turns_only() -> None:
    assert not defers()
    with short_turns(Turn()):
        assert defers()
    assert not defers()


@pytest.mark.parametrize("yaml", [False, True])
def test_a_large_object_is_read_and_checked_on_another_thread(server: Server, long: list[int], yaml: bool) -> None:
    data = {f"k{number}": "v" for number in range(20_000)}
    document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "large"}, "data": data}
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: large}\ndata:\n" + "".join(f"  {k}: v\n" for k in data)
    kind = "application/yaml" if yaml else "application/json"
    body = text.encode() if yaml else document
    answer = server("POST", "/api/v1/namespaces/default/configmaps", body, content_type=kind)
    assert answer.status == 201
    assert len(long) == 4, "reading, defaults and owners of its fields, checking, freeing"
    found = server("GET", "/api/v1/namespaces/default/configmaps/large").json()
    assert found["data"] == data
    assert len(found["metadata"]["managedFields"][0]["fieldsV1"]["f:data"]) == 20_001


def test_a_large_object_that_is_wrong_is_refused_once(server: Server, long: list[int]) -> None:
    data = {f"k{number}": "v" for number in range(20_000)} | {"not/a/key": "v"}
    document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "large"}, "data": data}
    answer = server("POST", "/api/v1/namespaces/default/configmaps", document)
    assert (answer.status, len(long)) == (422, 4)
    assert server("GET", "/api/v1/namespaces/default/configmaps/large").status == 404


def test_all_work_of_a_large_object_is_done_on_another_thread(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: dict[str, set[str]] = {}

    def noted(owner: Any, name: str) -> None:
        work = getattr(owner, name)

        def wrapped(*given: Any, **more: Any) -> Any:
            threads.setdefault(name, set()).add(threading.current_thread().name.split("_")[0])
            return work(*given, **more)

        monkeypatch.setattr(owner, name, wrapped)

    noted(server.store.rules, "apply_defaults")
    noted(server.store.rules, "validate_create")
    noted(server.store.rules, "validate_update")
    noted(request_bodies, "decode_body")
    noted(managed_fields, "track_create")
    noted(managed_fields, "track_update")
    noted(managed_fields, "apply")
    noted(patching, "patched")
    containers = [{"name": f"c{number}", "image": "i"} for number in range(1_200)]
    assert server("POST", PODS, _pod({"containers": containers})).status == 201
    pod = server("GET", f"{PODS}/large").json()
    assert server("PUT", f"{PODS}/large", {**pod, "metadata": {**pod["metadata"], "labels": {"a": "b"}}}).status == 200
    merge = {"metadata": {"labels": {"c": "d"}}}
    assert server("PATCH", f"{PODS}/large", merge, content_type="application/merge-patch+json").status == 200
    applied = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "large", "labels": {"e": "f"}}}
    apply = "application/apply-patch+yaml"
    assert server("PATCH", f"{PODS}/large?fieldManager=me", applied, content_type=apply).status == 200
    assert server("GET", f"{PODS}/large").json()["metadata"]["labels"] == {"a": "b", "c": "d", "e": "f"}
    assert len(threads) == 8
    assert set().union(*threads.values()) == {"long-work"}


@pytest.mark.parametrize(
    ("limit", "most", "why"),
    [("LARGEST_OBJECT", 1 << 16, "exceeds 65536 bytes"), ("MOST_VALUES", 5_000, "has more than 5000 values")],
)
def test_an_object_that_grows_too_large_by_its_defaults_is_refused_before_it_is_admitted(
    server: Server, monkeypatch: pytest.MonkeyPatch, limit: str, most: int, why: str
) -> None:
    admitted: list[str] = []
    monkeypatch.setattr(server.store.admission, "admit", lambda request: admitted.append(request.name))
    monkeypatch.setattr(deferral, limit, most)
    answer = server("POST", PODS, _pod({"containers": [{"name": "c", "image": "i"}] * 1_200}))
    assert (answer.status, admitted) == (413, [])
    assert why in answer.json()["message"]


def test_an_object_that_no_controller_takes_apart_may_have_many_values(server: Server) -> None:
    data = {f"k{number}": "v" for number in range(20_000)}
    document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "large"}, "data": data}
    assert server("POST", "/api/v1/namespaces/default/configmaps", document).status == 201
    labels = {"metadata": {"labels": data}}
    answer = server("POST", PODS, {**_pod({"containers": [{"name": "c", "image": "i"}]}), **labels})
    assert (answer.status, answer.json()["reason"]) == (413, "RequestEntityTooLarge")


def test_a_large_request_is_charged_once_to_each_quota(server: Server) -> None:
    """The request is made again after its long work; the second quota once made it so after the first was charged."""
    for name in ("a", "b", "c"):
        quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": name}, "spec": {"hard": {"pods": 9}}}
        assert server("POST", "/api/v1/namespaces/default/resourcequotas", quota).status == 201
    assert (
        server("POST", PODS, _pod({"containers": [{"name": f"c{n}", "image": "i"} for n in range(900)]})).status == 201
    )
    quotas = server("GET", "/api/v1/namespaces/default/resourcequotas").json()["items"]
    assert [quota["status"]["used"]["pods"] for quota in quotas] == ["1", "1", "1"]


@pytest.mark.parametrize("document", [{"a": ["bc", 1, None, {"d": []}]}, [], "text", {"k": "v" * 50}])
def test_the_size_of_a_document_is_estimated_within_a_few_bytes_for_each_value(document: Any) -> None:
    size = len(json.dumps(document, separators=(",", ":")))
    assert is_larger(document, size // 2 - 2)
    assert not is_larger(document, 2 * size + 2)


def _pod(spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "large"}, "spec": spec}


def test_a_scenario_has_as_many_values_as_the_limit_of_a_body_allows() -> None:
    """Bytes cost little; a body of many small values would hold the server up for seconds."""
    server = Server(max_request_bytes=1 << 20)
    ScenarioController(server.store, _Free()).start()
    path = f"/apis/{SCENARIO.api_version}/scenarios"

    def answer(name: str, steps: list[dict[str, Any]]) -> int:
        head = {"apiVersion": SCENARIO.api_version, "kind": "Scenario", "metadata": {"name": name}}
        return server("POST", path, {**head, "spec": {"operations": steps}}).status

    filler = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": {"filler": "x" * 500_000}}
    assert answer("few", [{"id": "a", "step": 1, "createOperation": {"object": filler}}]) == 201
    assert answer("many", [{"id": str(n), "step": n, "doneOperation": {}} for n in range(3_000)]) == 413


class _Free:
    def suspend(self) -> None: ...

    def resume(self) -> None: ...
