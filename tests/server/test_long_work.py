"""Rules that take long are evaluated off the loop, and judge as they would on it."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import pytest

from seatrial.store.deferral import Turn, defers, short_turns
from tests.server.client import Server
from tests.store.stock import definition, widget

WIDGETS = "/apis/example.com/v1/namespaces/default/widgets"
COSTLY = {"rule": "self.l.all(x, self.l.all(y, x + y >= 0))", "message": "must not be negative"}
SCHEMA = {
    "type": "object",
    "properties": {"l": {"type": "array", "maxItems": 400, "items": {"type": "integer"}}},
    "x-kubernetes-validations": [COSTLY],
}


@pytest.fixture
def long(server: Server, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A server with a costly rule; how often work was done on another thread."""
    assert server("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition(SCHEMA)).status == 201
    done: list[int] = []
    pool = server.application._long_work
    submit = pool.submit

    def counted(work: Callable[..., Any], *more: Any) -> Future[Any]:
        done.append(1)
        return submit(work, *more)

    monkeypatch.setattr(pool, "submit", counted)
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
    assert len(long) == 3, "reading, checking, and the owners of its fields"
    found = server("GET", "/api/v1/namespaces/default/configmaps/large").json()
    assert found["data"] == data
    assert len(found["metadata"]["managedFields"][0]["fieldsV1"]["f:data"]) == 20_001


def test_a_large_object_that_is_wrong_is_refused_once(server: Server, long: list[int]) -> None:
    data = {f"k{number}": "v" for number in range(20_000)} | {"not/a/key": "v"}
    document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "large"}, "data": data}
    answer = server("POST", "/api/v1/namespaces/default/configmaps", document)
    assert (answer.status, len(long)) == (422, 3)
    assert server("GET", "/api/v1/namespaces/default/configmaps/large").status == 404
