"""The extender plugin asks an endpoint over HTTP and follows its answers."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from seatrial.model.errors import ConfigError
from tests.volcano.sessions import binds, cycle, group, node, pod, queue

CLASSES = [{"metadata": {"name": "high"}, "value": 100}]


class Endpoint(ThreadingHTTPServer):
    """Answers each verb with what `answers` holds for it; a number is a status code."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: dict[str, Any] = {}
        self.asked: list[tuple[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/"

    def bodies(self, verb: str) -> list[Any]:
        return [body for asked, body in self.asked if asked == verb]


class _Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        verb = self.path.strip("/")
        self.server.asked.append((verb, body))
        answer = self.server.answers.get(verb, {})
        answer = answer(body) if callable(answer) else answer
        data = b"" if isinstance(answer, int) else json.dumps(answer).encode()
        self.send_response(answer if isinstance(answer, int) else 200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Keeps the output of the tests clean."""


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    server = Endpoint()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def conf(endpoint: Endpoint, *verbs: str, actions: str = "allocate", **arguments: Any) -> str:
    given = {f"extender.{verb}Verb": verb for verb in verbs}
    given |= {"extender.urlPrefix": endpoint.url} | {f"extender.{name}": value for name, value in arguments.items()}
    tiers = [
        {
            "plugins": [
                {"name": "priority"},
                {"name": "gang", **dict.fromkeys(("enablePreemptable", "enableReclaimable"), False)},
            ]
        },
        {"plugins": [{"name": "predicates"}, {"name": "extender", "arguments": given}]},
    ]
    return json.dumps({"actions": actions, "tiers": tiers})


def placed(conf: str, **spec: Any) -> dict[str, str]:
    nodes = [node("n1"), node("n2")]
    _, result = cycle(nodes, [pod("a-w-0", "a", **spec)], [group("a")], conf=conf)
    return binds(result)


def test_a_node_that_the_endpoint_refuses_is_not_used(endpoint: Endpoint) -> None:
    endpoint.answers["predicate"] = lambda body: {"status": "full"} if body["node"]["Name"] == "n1" else {}
    assert placed(conf(endpoint, "predicate")) == {"a-w-0": "n2"}


def test_the_words_of_a_refusal_reach_the_job(endpoint: Endpoint) -> None:
    endpoint.answers["predicate"] = {"status": "no licence", "code": 3}
    session, _ = cycle([node("n1")], [pod("a-w-0", "a")], [group("a")], conf=conf(endpoint, "predicate"))
    errors = session.jobs["default/a"].nodes_fit_errors["uid-a-w-0"]
    assert errors.message() == "0/1 nodes are unavailable: 1 no licence."
    assert errors.unresolvable_rows() == {0}
    assert len(endpoint.bodies("predicate")) == 1


def test_a_refusal_without_a_code_is_an_error_and_not_unresolvable(endpoint: Endpoint) -> None:
    endpoint.answers["predicate"] = {"status": "no licence"}
    session, _ = cycle([node("n1")], [pod("a-w-0", "a")], [group("a")], conf=conf(endpoint, "predicate"))
    assert session.jobs["default/a"].nodes_fit_errors["uid-a-w-0"].unresolvable_rows() == set()


def test_only_nodes_that_earlier_plugins_let_pass_are_asked_about(endpoint: Endpoint) -> None:
    cordoned = node("n1") | {"spec": {"unschedulable": True}}
    cycle([cordoned, node("n2")], [pod("a-w-0", "a")], [group("a")], conf=conf(endpoint, "predicate"))
    assert {body["node"]["Name"] for body in endpoint.bodies("predicate")} == {"n2"}


def test_scores_of_the_endpoint_decide(endpoint: Endpoint) -> None:
    endpoint.answers["prioritize"] = {"nodeScore": {"n2": 1.5}}
    assert placed(conf(endpoint, "prioritize")) == {"a-w-0": "n2"}


@pytest.mark.parametrize("answer", [{"errorMessage": "broken"}, {}, 500, {"nodeScore": {"n1": "high"}}])
def test_a_task_stays_where_it_is_when_its_candidates_cannot_be_scored(endpoint: Endpoint, answer: Any) -> None:
    endpoint.answers["prioritize"] = answer
    assert placed(conf(endpoint, "prioritize")) == {}


def test_backfill_leaves_a_task_whose_candidates_cannot_be_scored(endpoint: Endpoint) -> None:
    endpoint.answers["prioritize"] = 500
    assert placed(conf(endpoint, "prioritize", actions="backfill"), cpu="0") == {}


@pytest.mark.parametrize(("ignorable", "found"), [(True, {"a-w-0": "n1"}), (False, {})])
@pytest.mark.parametrize("verb", ["predicate", "prioritize", "allocateFunc"])
def test_a_failed_call_counts_unless_the_endpoint_may_be_ignored(
    endpoint: Endpoint, verb: str, ignorable: bool, found: dict[str, str]
) -> None:
    endpoint.answers[verb] = 503
    assert placed(conf(endpoint, verb, ignorable=ignorable)) == found


def test_an_endpoint_that_cannot_be_reached_is_named_in_the_error(endpoint: Endpoint) -> None:
    text = conf(endpoint, "predicate", urlPrefix="http://127.0.0.1:1")
    session, _ = cycle([node("n1")], [pod("a-w-0", "a")], [group("a")], conf=text)
    message = session.jobs["default/a"].nodes_fit_errors["uid-a-w-0"].message()
    assert 'Post "http://127.0.0.1:1/predicate": ' in message


@pytest.mark.parametrize("url", ["", "no-scheme", "http://127.0.0.1:x", "http://[::1"])
def test_an_address_that_is_none_is_a_failed_call(endpoint: Endpoint, url: str) -> None:
    assert placed(conf(endpoint, "predicate", urlPrefix=url)) == {}
    assert placed(conf(endpoint, "predicate", urlPrefix=url, ignorable="true")) == {"a-w-0": "n1"}


def test_an_allocation_the_endpoint_objects_to_is_undone(endpoint: Endpoint) -> None:
    endpoint.answers["allocateFunc"] = {"errorMessage": "no device left"}
    assert placed(conf(endpoint, "allocateFunc", "deallocateFunc", ignorable=True)) == {}
    assert len(endpoint.bodies("deallocateFunc")) >= 1


@pytest.mark.parametrize(("vote", "phase"), [(1, "Inqueue"), (0, "Inqueue"), (-1, "Pending"), (500, "Pending")])
def test_the_endpoint_votes_on_letting_jobs_in(endpoint: Endpoint, vote: int, phase: str) -> None:
    endpoint.answers["jobEnqueueable"] = vote if vote == 500 else {"status": vote}
    text = conf(endpoint, "jobEnqueueable", actions="enqueue")
    groups = [group("a", phase="Pending", minResources={"cpu": "1"})]
    session, _ = cycle([node("n1")], [], groups, conf=text)
    assert session.jobs["default/a"].pod_group.phase == phase


@pytest.mark.parametrize("answer", [{}, 500])
def test_the_endpoint_is_told_which_jobs_are_let_in(endpoint: Endpoint, answer: Any) -> None:
    endpoint.answers["jobEnqueued"] = answer
    groups = [group("a", phase="Pending", minResources={"cpu": "1"}), group("b", phase="Inqueue")]
    cycle([node("n1")], [], groups, conf=conf(endpoint, "jobEnqueued", actions="enqueue"))
    assert [body["job"]["Name"] for body in endpoint.bodies("jobEnqueued")] == ["a"]


@pytest.mark.parametrize(
    ("answer", "found"), [({"overused": False}, {"a-w-0": "n1"}), ({"overused": True}, {}), (500, {})]
)
def test_the_endpoint_says_which_queue_is_overused(endpoint: Endpoint, answer: Any, found: dict[str, str]) -> None:
    endpoint.answers["queueOverused"] = answer
    assert placed(conf(endpoint, "queueOverused")) == found
    assert endpoint.bodies("queueOverused")[0]["queue"]["Queue"]["spec"] == {"guarantee": {}, "weight": 1}


@pytest.mark.parametrize(("answer", "found"), [({"status": False}, {}), (500, {"a-w-0": "n1"})])
def test_the_endpoint_says_whether_a_job_is_ready_and_an_error_counts_as_yes(
    endpoint: Endpoint, answer: Any, found: dict[str, str]
) -> None:
    endpoint.answers["jobReady"] = answer
    assert placed(conf(endpoint, "jobReady")) == found


@pytest.mark.parametrize("action", ["preempt", "reclaim"])
def test_the_endpoint_chooses_the_victims(endpoint: Endpoint, action: str) -> None:
    verb = {"preempt": "preemptable", "reclaim": "reclaimable"}[action]
    endpoint.answers[verb] = lambda body: {
        "status": 1,
        "victims": [t for t in body["evictees"] if t["Name"] == "low-w-1"],
    }
    there = [pod(f"low-w-{i}", "low", cpu="4", on="n1", priority=0) for i in range(2)]
    other = "default" if action == "preempt" else "other"
    groups = [group("low", phase="Running"), group("high", queue=other, priorityClassName="high")]
    pods = [*there, pod("high-w-0", "high", cpu="4", priority=100)]
    queues = [queue(), queue("other")]
    text = conf(endpoint, verb, actions=action)
    _, result = cycle([node("n1")], pods, groups, queues, conf=text, priority_classes=CLASSES)
    assert [task.name for task, _ in result.evictions] == ["low-w-1"]


def test_tasks_without_a_managed_resource_are_not_sent(endpoint: Endpoint) -> None:
    endpoint.answers["predicate"] = {"status": "no"}
    assert placed(conf(endpoint, "predicate", managedResources=["nvidia.com/gpu"])) == {"a-w-0": "n1"}
    assert endpoint.asked == []
    assert placed(conf(endpoint, "predicate", managedResources=["cpu"])) == {}


def test_managed_resources_that_are_no_list_are_refused(endpoint: Endpoint) -> None:
    with pytest.raises(ConfigError, match="expected a list of resource names"):
        placed(conf(endpoint, "predicate", managedResources="nvidia.com/gpu"))


def test_the_opening_sends_the_whole_session_and_its_failure_turns_the_plugin_off(endpoint: Endpoint) -> None:
    endpoint.answers |= {"onSessionOpen": 500, "predicate": {"status": "no"}}
    verbs = ("onSessionOpen", "onSessionClose", "predicate")
    assert placed(conf(endpoint, *verbs)) == {"a-w-0": "n1"}
    assert placed(conf(endpoint, *verbs, ignorable=True)) == {}
    assert endpoint.bodies("onSessionClose") == [{}, {}]
    sent = endpoint.bodies("onSessionOpen")[0]
    assert sorted(sent) == ["Jobs", "NamespaceInfo", "NodeList", "Nodes", "Queues", "RevocableNodes"]
    assert sent["Jobs"]["default/a"]["TaskStatusIndex"]["1"].keys() == {"uid-a-w-0"}


def test_a_node_is_sent_as_the_real_scheduler_encodes_it(endpoint: Endpoint) -> None:
    pods = [pod("a-w-0", "a"), pod("b-w-0", "b", on="n1")]
    cycle([node("n1")], pods, [group("a"), group("b", phase="Running")], conf=conf(endpoint, "predicate"))
    sent = endpoint.bodies("predicate")[0]
    task, there = sent["task"], sent["node"]
    one = {"MilliCPU": 1000, "Memory": 1 << 30, "ScalarResources": {"pods": 1}, "MaxTaskNum": 0}
    none = {"MilliCPU": 0, "Memory": 0, "ScalarResources": None, "MaxTaskNum": 0}
    assert (task["Resreq"], task["Status"], task["NodeName"]) == (one, 1, "")
    assert (there["Used"], there["Releasing"], there["Pipelined"]) == (one, none, none)
    assert there["Idle"] == {"MilliCPU": 7000, "Memory": 31 << 30, "ScalarResources": {"pods": 109}, "MaxTaskNum": 110}
    assert {key: body["Status"] for key, body in there["Tasks"].items()} == {"default/b-w-0": 32}
