"""Extenders: what they are asked, over real HTTP too, and what becomes of their answers.

Tests: scheduler/extender/*.py, scheduler/schedule_one/extenders.py
"""

import json
import threading
from collections.abc import Iterator
from http.server import HTTPServer
from typing import Any

import pytest

from tests.extender_server import Answer, handler
from tests.scheduler.scheduler_world import World, profiles


class Faked:
    """A transport that answers from a function, and remembers what it was asked."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.asked: list[tuple[str, Any]] = []

    def post(self, extender: Any, url: str, body: bytes, timeout: int) -> tuple[int, bytes]:
        verb = url.rsplit("/", 1)[1]
        self.asked.append((verb, json.loads(body)))
        answer = self.answer(verb, json.loads(body))
        return answer if isinstance(answer, tuple) else (200, json.dumps(answer).encode())


def world(answer: Answer, *extra: Any, **settings: Any) -> tuple[World, Faked]:
    transport = Faked(answer)
    config = profiles({})
    config["extenders"] = [{"urlPrefix": "http://extender/", **settings}, *extra]
    made = World(config, transport=transport)
    for name in ("n1", "n2", "n3"):
        made.node(name)
    return made, transport


def only(*names: str) -> Answer:
    return lambda verb, args: {"NodeNames": list(names), "FailedNodes": {"n1": "too hot"}}


def test_an_extender_filters_names_of_nodes() -> None:
    made, transport = world(only("n2"), filterVerb="filter", nodeCacheCapable=True)
    made.pod("a")
    (decision,) = made.run()
    assert decision.node == "n2"
    (verb, args), *_ = transport.asked
    assert (verb, sorted(args["NodeNames"]), args["Nodes"]) == ("filter", ["n1", "n2", "n3"], None)
    assert args["Pod"]["metadata"]["name"] == "a"
    assert decision.extenders["filter"][0][0] == "http://extender/"


def test_an_extender_filters_whole_nodes() -> None:
    def keep(verb: str, args: Any) -> Any:
        items = [item for item in args["Nodes"]["items"] if item["metadata"]["name"] == "n3"]
        return {"nodes": {"items": items}}

    made, _ = world(keep, filterVerb="filter")
    made.pod("a")
    (decision,) = made.run()
    assert decision.node == "n3"


def test_rejections_of_an_extender_are_reasons() -> None:
    made, _ = world(
        lambda verb, args: {
            "NodeNames": [],
            "FailedNodes": {"n1": "too hot", "n2": "too hot"},
            "FailedAndUnresolvableNodes": {"n3": "too far"},
        },
        filterVerb="filter",
        nodeCacheCapable=True,
    )
    made.pod("a")
    (decision, *_) = made.run()
    assert decision.message.startswith("0/3 nodes are available: 1 too far, 2 too hot.")
    assert "Extender" in decision.rejected_by


def test_an_extender_scores_with_its_weight() -> None:
    made, _ = world(
        lambda verb, args: [{"Host": "n1", "Score": 1}, {"Host": "n3", "Score": 10}],
        prioritizeVerb="prioritize",
        weight=3,
    )
    made.pod("a")
    (decision,) = made.run()
    assert decision.node == "n3"
    totals = dict(zip(decision.feasible, decision.total.tolist(), strict=True))
    assert (totals["n3"] - totals["n2"], totals["n1"] - totals["n2"]) == (300, 30)


def test_ties_with_extenders_go_to_the_first_by_name() -> None:
    made, _ = world(lambda verb, args: [], prioritizeVerb="prioritize", weight=1)
    made.pod("a")
    assert made.run()[0].node == "n1"


def test_an_extender_that_fails_ends_the_attempt_unless_it_may_be_ignored() -> None:
    def fail(verb: str, args: Any) -> Any:
        return 500, b""

    made, _ = world(fail, filterVerb="filter")
    made.pod("a")
    (decision,) = made.run()
    assert decision.outcome == "error"
    assert decision.message == "failed filter with extender at URL http://extender/filter, code 500"
    made, _ = world(fail, filterVerb="filter", ignorable=True)
    made.pod("a")
    assert made.run()[0].outcome == "scheduled"


def test_an_extender_that_fails_for_the_nominated_node_is_asked_about_all_nodes() -> None:
    def fails_for_one(verb: str, args: Any) -> Any:
        names = args["NodeNames"]
        return (500, b"flaky") if names == ["n1"] else {"NodeNames": names}

    made, transport = world(fails_for_one, filterVerb="filter", nodeCacheCapable=True)
    made.pod("a")
    made.change("Pod", "a", lambda pod: pod["status"].update(nominatedNodeName="n1"), subresource="status")
    (decision,) = made.run()
    assert [sorted(args["NodeNames"]) for _, args in transport.asked] == [["n1"], ["n1", "n2", "n3"]]
    assert decision.node


def test_an_extender_binds() -> None:
    made, transport = world(lambda verb, args: {}, bindVerb="bind")
    made.pod("a")
    (decision,) = made.run()
    assert (decision.outcome, made.node_of("a")) == ("scheduled", "")
    assert transport.asked[-1][1] == {
        "PodName": "a",
        "PodNamespace": "default",
        "PodUID": made.document("a")["metadata"]["uid"],
        "Node": decision.node,
    }


def test_an_extender_that_cannot_bind_is_an_error() -> None:
    made, _ = world(lambda verb, args: {"Error": "no"}, bindVerb="bind")
    made.pod("a")
    assert made.run()[0].message == "no"


def test_an_extender_is_asked_only_about_pods_with_its_resources() -> None:
    managed = [{"name": "example.com/foo", "ignoredByScheduler": True}]
    made, transport = world(only("n2"), filterVerb="filter", nodeCacheCapable=True, managedResources=managed)
    made.pod("plain")
    made.run()
    assert transport.asked == []
    container = {"name": "c", "image": "i", "resources": {"limits": {"example.com/foo": "1"}}}
    made.pod("special", containers=[container])
    assert made.run()[-1].node == "n2"


def test_an_extender_has_a_say_in_preemption() -> None:
    def spare(verb: str, args: Any) -> Any:
        victims = args["NodeNameToMetaVictims"]
        return {"NodeNameToMetaVictims": {"n3": victims["n3"]}}

    made, _ = world(spare, preemptVerb="preempt", nodeCacheCapable=True)
    for number in range(3):
        made.pod(f"low{number}", cpu="4", priority=1)
    made.run()
    made.pod("high", cpu="4", priority=5)
    (decision,) = made.run()
    assert decision.preemption is not None
    assert decision.preemption.node == "n3"


@pytest.fixture
def extender() -> Iterator[tuple[str, list[Any]]]:
    """A real extender on a port of its own: it lets n2 pass."""
    asked: list[Any] = []

    def answer(verb: str, args: Any) -> Any:
        asked.append(args)
        return {"NodeNames": ["n2"]}

    server = HTTPServer(("127.0.0.1", 0), handler(answer))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()
    thread.join()


def test_extenders_are_called_over_http(extender: tuple[str, list[Any]]) -> None:
    url, asked = extender
    config = profiles({})
    config["extenders"] = [{"urlPrefix": url, "filterVerb": "filter", "nodeCacheCapable": True}]
    made = World(config)
    for name in ("n1", "n2"):
        made.node(name)
    for name in ("a", "b"):
        made.pod(name)
    made.run()
    assert [made.node_of("a"), made.node_of("b"), len(asked)] == ["n2", "n2", 2]
    made.scheduler.close()


def test_an_extender_nobody_answers_for_is_an_error() -> None:
    config = profiles({})
    config["extenders"] = [{"urlPrefix": "http://127.0.0.1:9", "filterVerb": "filter", "httpTimeout": "100ms"}]
    made = World(config)
    made.node("n1")
    made.pod("a")
    (decision,) = made.run()
    assert (decision.outcome, "http://127.0.0.1:9/filter" in decision.message) == ("error", True)


def test_an_extender_may_bind_in_the_background() -> None:
    """In `serve` the extender talks to the API server that this very thread runs."""
    calls: list[tuple[Any, Any]] = []
    config = profiles({})
    config["extenders"] = [{"urlPrefix": "http://extender/", "bindVerb": "bind"}]
    made = World(
        config, transport=Faked(lambda verb, args: {}), background=lambda work, done: calls.append((work, done))
    )
    made.node("n1")
    made.pod("a")
    (decision,) = made.run()
    assert (decision.outcome, made.events()) == ("waiting", [])
    ((work, done),) = calls
    made.store.bind("default", "a", "n1", writer="user:extender")
    done(work())
    (decision,) = made.run()
    assert (decision.outcome, made.events()[0]["reason"]) == ("scheduled", "Scheduled")
    assert [pod.name for pod in made.scheduler.table.find("n1").pods] == ["a"]  # type: ignore[union-attr]


def test_an_extender_that_fails_in_the_background_gives_the_place_back() -> None:
    config = profiles({})
    config["extenders"] = [{"urlPrefix": "http://extender/", "bindVerb": "bind"}]
    made = World(
        config, transport=Faked(lambda verb, args: {"Error": "no"}), background=lambda work, done: done(work())
    )
    made.node("n1")
    made.pod("a")
    _, decision = made.run()
    assert (decision.outcome, decision.message) == ("error", "no")
    assert made.scheduler.table.find("n1").pods == []  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "answer",
    [[], "text", None, 7, {"NodeNames": "n1"}, {"FailedNodes": [1]}, {"NodeNames": ["elsewhere"]}, {"NodeNames": [7]}],
)
def test_an_answer_that_makes_no_sense_is_an_error(answer: Any) -> None:
    made, _ = world(lambda verb, args: answer, filterVerb="filter", nodeCacheCapable=True)
    made.pod("a")
    (decision,) = made.run()
    assert (decision.outcome, "extender" in decision.message) == ("error", True)


@pytest.mark.parametrize("answer", [{"Host": "n1"}, [1], [{"Host": 3}], [{"Host": "n1", "Score": "high"}]])
def test_scores_that_make_no_sense_count_for_nothing(answer: Any) -> None:
    made, _ = world(lambda verb, args: answer, prioritizeVerb="prioritize", weight=1)
    made.pod("a")
    assert made.run()[0].outcome == "scheduled"


def test_a_body_that_is_no_json_is_an_error() -> None:
    made, _ = world(lambda verb, args: (200, b"<html>"), filterVerb="filter")
    made.pod("a")
    assert made.run()[0].outcome == "error"
