"""Stages of KWOK's format: which objects they concern, when, and what they do."""

from functools import partial
from typing import Any

import pytest

from seatrial.controllers.stages.field_reader import Seen
from seatrial.controllers.stages.lifecycle import choose, default_stages
from seatrial.controllers.stages.selector import read_selector
from seatrial.controllers.stages.selector_cache import SelectorCache
from seatrial.controllers.stages.stage import Stage
from seatrial.model.documents import encode
from seatrial.model.errors import ConfigError
from seatrial.model.kinds import Kind
from seatrial.model.times import SECOND
from seatrial.store.objects import Stored
from seatrial.store.options import DeleteOptions
from tests.controllers.objects import EXIT, RUN, pod, stage
from tests.controllers.replaying import Cluster

READY = ["pod-ready", "pod-complete", "pod-fail", "pod-end", "pod-delete"]


def stages(*documents: dict[str, Any]) -> list[Stage]:
    return [Stage(document) for document in documents]


def test_default_stages_come_for_pods_and_nodes() -> None:
    assert [found.name for found in default_stages("pod")] == READY
    assert [found.name for found in default_stages("node")] == ["node-initialize"]


def test_a_bound_pod_runs_at_once(cluster: Cluster) -> None:
    cluster.create(pod("a", initContainers=[{"name": "i", "image": "j"}], readinessGates=[{"conditionType": "x/y"}]))
    cluster.settle()
    status = cluster.get("Pod", "a")["status"]
    assert status["phase"] == "Running"
    assert {c["type"] for c in status["conditions"] if c["status"] == "True"} >= {"Ready", "ContainersReady", "x/y"}
    assert status["initContainerStatuses"][0]["state"]["terminated"]["exitCode"] == 0


def test_a_pod_with_a_run_duration_succeeds_when_it_is_over(cluster: Cluster) -> None:
    cluster.create(pod("a", annotations={RUN: "90s"}))
    cluster.settle(89 * SECOND)
    assert cluster.get("Pod", "a")["status"]["phase"] == "Running"
    cluster.settle(2 * SECOND)
    status = cluster.get("Pod", "a")["status"]
    assert status["phase"] == "Succeeded"
    assert status["containerStatuses"][0]["state"]["terminated"]["finishedAt"] == "2030-01-01T00:01:30Z"


def test_a_pod_with_an_exit_code_fails(cluster: Cluster) -> None:
    cluster.create(pod("a", annotations={RUN: "1s", EXIT: "3"}, restartPolicy="Never"))
    cluster.settle(2 * SECOND)
    status = cluster.get("Pod", "a")["status"]
    assert (status["phase"], status["containerStatuses"][0]["state"]["terminated"]["exitCode"]) == ("Failed", 3)


def test_a_deleted_pod_goes(cluster: Cluster) -> None:
    cluster.create(pod("a"))
    cluster.settle()
    cluster.delete({"kind": "Pod", "name": "a"})
    cluster.settle()
    assert not cluster.all("Pod")


def test_a_deleted_pod_with_a_finalizer_ends_first(cluster: Cluster) -> None:
    made = pod("a")
    made["metadata"]["finalizers"] = ["x.y/z"]
    cluster.create(made)
    cluster.settle()
    cluster.delete({"kind": "Pod", "name": "a"})
    cluster.settle()
    assert cluster.get("Pod", "a")["status"]["phase"] == "Failed"


def test_a_node_without_conditions_becomes_ready() -> None:
    cluster = Cluster()
    cluster.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}})
    cluster.settle()
    found = cluster.get("Node", "n")
    assert {c["type"]: c["status"] for c in found["status"]["conditions"]}["Ready"] == "True"
    assert "taints" not in found["spec"]


def test_a_node_stays_as_it_is_told_to_be(cluster: Cluster) -> None:
    conditions = [{"type": "Ready", "status": "False", "reason": "R", "message": "m"}]
    cluster.patch(
        {"kind": "Node", "name": "n0", "subresource": "status", "body": {"status": {"conditions": conditions}}}
    )
    cluster.settle()
    assert [c["status"] for c in cluster.get("Node", "n0")["status"]["conditions"] if c["type"] == "Ready"] == ["False"]


def test_stage_objects_take_the_place_of_the_default_ones(cluster: Cluster) -> None:
    selector = {"matchExpressions": [{"key": ".spec.nodeName", "operator": "Exists"}]}
    cluster.create(stage("slow", selector=selector, next={"statusTemplate": "message: mine\nphase: Running"}))
    cluster.create(pod("a"))
    cluster.settle()
    status = cluster.get("Pod", "a")["status"]
    assert (status["phase"], status["message"]) == ("Running", "mine")
    assert "containerStatuses" not in status


def test_stages_without_a_selector_concern_nobody(cluster: Cluster) -> None:
    cluster.create(stage("never", next={"delete": True}))
    cluster.create(pod("a"))
    cluster.settle()
    assert cluster.get("Pod", "a")["status"]["phase"] == "Running"


def test_delays_come_from_the_object_or_the_stage(cluster: Cluster) -> None:
    delay = {"durationMilliseconds": 1000, "durationFrom": {"jq": {"expression": '.metadata.annotations["wait"]'}}}
    selector = {"matchExpressions": [{"jq": {"key": ".status.phase", "operator": "In", "values": ["Pending"]}}]}
    cluster.create(stage("later", selector=selector, delay=delay, next={"statusTemplate": "phase: Running"}))
    cluster.create(pod("a"), pod("b", annotations={"wait": "5s"}))
    cluster.settle(2 * SECOND)
    assert [cluster.get("Pod", name)["status"]["phase"] for name in "ab"] == ["Running", "Pending"]
    cluster.settle(4 * SECOND)
    assert cluster.get("Pod", "b")["status"]["phase"] == "Running"


@pytest.mark.parametrize(
    ("delay", "least", "most"),
    [
        ({}, 0, 0),
        ({"durationMilliseconds": 1000}, 1 * SECOND, 1 * SECOND),
        ({"durationMilliseconds": 1000, "jitterDurationMilliseconds": 5000}, 1 * SECOND, 5 * SECOND),
        ({"durationMilliseconds": 5000, "jitterDurationMilliseconds": 1000}, 1 * SECOND, 1 * SECOND),
        ({"durationFrom": {"expressionFrom": ".metadata.at"}}, 60 * SECOND, 60 * SECOND),
        ({"durationFrom": {"expressionFrom": ".metadata.empty"}, "durationMilliseconds": 9}, 0, 0),
        ({"durationMilliseconds": 7, "jitterDurationFrom": {"expressionFrom": ".metadata.none"}}, 7000, 7000),
        ({"durationFrom": {"cel": {"expression": "self.metadata.span"}}}, 2 * SECOND, 2 * SECOND),
    ],
)
def test_a_delay_lies_between_its_duration_and_its_jitter(delay: dict[str, Any], least: int, most: int) -> None:
    meta = {"name": "a", "uid": "u", "at": "1970-01-01T00:01:00Z", "empty": "", "span": "2s"}
    found = Stage(stage("s", selector={}, delay=delay))
    for chance in (0.0, 0.5, 0.999):
        assert least <= found.delay({"metadata": meta}, 0, partial(float, chance)) <= most


def test_weights_decide_between_stages_that_match() -> None:
    heavy, light, none = stages(
        stage("heavy", selector={}, weight=99), stage("light", selector={}, weight=1), stage("none", selector={})
    )
    chosen = [choose([heavy, light, none], {"metadata": {"name": f"p{n}", "uid": str(n)}}) for n in range(300)]
    assert chosen.count(heavy) > 270
    assert none not in chosen


def test_a_weight_may_come_from_the_object() -> None:
    source = {"expressionFrom": '.metadata.annotations["w"]'}
    found = Stage(stage("s", selector={}, weight=3, weightFrom=source))
    assert found.weight({"metadata": {}}) == 3
    assert found.weight({"metadata": {"annotations": {"w": "12"}}}) == 12
    assert found.weight({"metadata": {"annotations": {"w": "many"}}}) is None


def test_the_same_object_throws_the_same_dice() -> None:
    both = stages(stage("a", selector={}), stage("b", selector={}))
    document = {"metadata": {"name": "p", "uid": "1"}}
    assert len({choose(both, document) for _ in range(10)}) == 1


@pytest.mark.parametrize(
    ("selector", "matches"),
    [
        ({"matchLabels": {"app": "web"}}, True),
        ({"matchLabels": {"app": "db"}}, False),
        ({"matchAnnotations": {"k": "v"}}, True),
        ({"matchExpressions": [{"key": ".status.phase", "operator": "In", "values": ["Running", "Pending"]}]}, True),
        ({"matchExpressions": [{"key": ".status.phase", "operator": "NotIn", "values": ["Running"]}]}, False),
        ({"matchExpressions": [{"key": ".metadata.deletionTimestamp", "operator": "DoesNotExist"}]}, True),
        ({"matchExpressions": [{"key": '.metadata.annotations["k"]', "operator": "Exists"}]}, True),
        ({"matchExpressions": [{"key": ".spec.hostNetwork", "operator": "In", "values": ["true"]}]}, True),
        ({"matchExpressions": [{"key": ".metadata.finalizers.[]", "operator": "In", "values": ["f"]}]}, True),
        ({"matchExpressions": [{"cel": {"expression": "self.status.phase == 'Running'"}}]}, True),
        ({"matchExpressions": [{"cel": {"expression": "has(self.spec.missing)"}}]}, False),
        ({"matchExpressions": [{"cel": {"expression": "self.spec.missing.deep == 1"}}]}, False),
    ],
)
def test_a_selector_matches_by_labels_jq_and_cel(selector: dict[str, Any], matches: bool) -> None:
    document = {
        "metadata": {"name": "p", "labels": {"app": "web"}, "annotations": {"k": "v"}, "finalizers": ["f"]},
        "spec": {"hostNetwork": True},
        "status": {"phase": "Running"},
    }
    assert read_selector(selector).matches(document) is matches
    sieve = SelectorCache([Stage(stage("some", selector=selector))])
    for revision in (1, 2):
        stored = Stored(Kind("", "v1", "Pod", "pods"), "", "p", revision, encode(document))
        assert bool(sieve.matching(Seen(stored))) is matches
        assert sieve.possible(stored) or not matches


@pytest.mark.parametrize(
    ("key", "paths", "only_presence"),
    [
        (".status.phase", [("status", "phase")], True),
        ('.status.conditions.[] | select( .type == "Ready" ) | .status', [("status", "conditions")], False),
        (".metadata.finalizers.[]", [("metadata", "finalizers")], False),
        (".spec.a | length", [("spec", "a")], False),
        (".spec.a // .spec.b", [], False),
        (".spec.a, .spec.b | length", [], False),
        ('select((.spec.a | length) == 0 or .b != "x") | .metadata.name', [("spec", "a"), ("b",)], False),
        ('select(.spec.a == "x") | .metadata.uid', [], False),
        ('select(.spec.a == "x" | not) | .metadata.name', [], False),
        ("select(length == 0) | .metadata.name", [], False),
    ],
)
def test_a_condition_knows_where_it_looks(key: str, paths: list[tuple[str, ...]], only_presence: bool) -> None:
    (condition,) = read_selector({"matchExpressions": [{"key": key, "operator": "Exists"}]}).conditions
    assert ([*condition.paths], condition.only_presence) == (paths, only_presence)


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"resourceRef": {}}, "kind"),
        ({"selector": {"matchExpressions": [{"operator": "Exists"}]}}, "selector"),
        ({"selector": {"matchExpressions": [{"key": ".a", "operator": "Has"}]}}, "selector"),
        ({"selector": {"matchExpressions": [{"key": ".a", "operator": "In"}]}}, "selector"),
        ({"selector": {"matchExpressions": [{"key": ".a |", "operator": "Exists"}]}}, "jq"),
        ({"selector": {"matchExpressions": [{"cel": {"expression": "self."}}]}}, "selector"),
        ({"next": {"statusTemplate": "{{ if }}"}}, "template"),
        ({"next": {"patches": [{"type": "binary", "template": ""}]}}, "type"),
        ({"delay": {"durationFrom": {}}}, "durationFrom"),
    ],
)
def test_a_stage_that_cannot_be_read_says_which_field(spec: dict[str, Any], field: str) -> None:
    with pytest.raises(ConfigError, match=field):
        Stage(stage("bad", **spec))


def test_steps_patch_delete_tell_and_make_other_objects(cluster: Cluster) -> None:
    selector = {"matchExpressions": [{"cel": {"expression": "self.spec.storageClassName == 'mine'"}}, {
        "cel": {"expression": "!has(self.spec.volumeName)"}}]}  # fmt: skip
    head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: 'of-{{ .metadata.name }}'}\n"
    template = head + "data: {uid: '{{ .metadata.uid }}'}"
    steps = [
        {"apply": {"template": template}},
        {"patch": {"root": "metadata", "template": "annotations: {seen: 'yes'}"}},
        {"patch": {"root": "spec", "template": "volumeName: v"}},
        {"event": {"type": "Normal", "reason": "Seen", "message": "hello"}},
    ]
    cluster.create(stage("claims", kind="PersistentVolumeClaim", selector=selector, steps=steps))
    claim = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "mine",
        "resources": {"requests": {"storage": "1Gi"}},
    }
    cluster.create({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c"}, "spec": claim})
    cluster.settle()
    found = cluster.get("PersistentVolumeClaim", "c")
    assert (found["metadata"]["annotations"]["seen"], found["spec"]["volumeName"]) == ("yes", "v")
    assert cluster.get("ConfigMap", "of-c")["data"]["uid"] == found["metadata"]["uid"]
    assert [event["reason"] for event in cluster.all("Event")] == ["Seen"]


def test_finalizers_are_added_removed_and_emptied(cluster: Cluster) -> None:
    add = {"matchExpressions": [{"key": ".metadata.finalizers", "operator": "DoesNotExist"}]}
    cluster.create(
        stage("add", kind="ConfigMap", selector=add, next={"finalizers": {"add": [{"value": "x.y/z"}]}}),
        stage(
            "free",
            kind="ConfigMap",
            selector={"matchExpressions": [{"key": ".metadata.deletionTimestamp", "operator": "Exists"}]},
            next={"finalizers": {"empty": True}},
        ),
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}},
    )
    cluster.settle()
    assert cluster.get("ConfigMap", "m")["metadata"]["finalizers"] == ["x.y/z"]
    cluster.delete({"kind": "ConfigMap", "name": "m"})
    cluster.settle()
    assert "m" not in [found["metadata"]["name"] for found in cluster.all("ConfigMap")]


def test_json_patches_go_below_their_root(cluster: Cluster) -> None:
    selector = {"matchExpressions": [{"key": ".data.done", "operator": "DoesNotExist"}]}
    patch = {"type": "json", "root": "data", "template": '[{"op": "add", "path": "/done", "value": "yes"}]'}
    cluster.create(stage("mark", kind="ConfigMap", selector=selector, next={"patches": [patch]}))
    cluster.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": {"a": "b"}})
    cluster.settle()
    assert cluster.get("ConfigMap", "m")["data"] == {"a": "b", "done": "yes"}


def later(name: str = "later", **delay: Any) -> dict[str, Any]:
    """A stage that has pods run after some time."""
    selector = {"matchExpressions": [{"jq": {"key": ".status.phase", "operator": "In", "values": ["Pending"]}}]}
    return stage(name, selector=selector, delay=delay, next={"statusTemplate": "phase: Running"})


def phase(cluster: Cluster, name: str) -> str:
    return str(cluster.get("Pod", name)["status"]["phase"])


@pytest.mark.parametrize("looks_between", [True, False])
def test_a_pod_waits_although_one_of_its_name_had_waited(cluster: Cluster, looks_between: bool) -> None:
    cluster.create(later(durationMilliseconds=10_000))
    cluster.create(pod("a"))
    cluster.settle()
    assert cluster.clock.fire_next(outer=True)
    options = DeleteOptions(grace_period_seconds=0)
    cluster.store.delete(cluster.kind("Pod"), "a", namespace="default", writer="user:test", options=options)
    assert not cluster.all("Pod")
    if looks_between:
        cluster.work()
    cluster.create(pod("a"))
    cluster.settle(9 * SECOND)
    assert phase(cluster, "a") == "Pending"
    cluster.settle(2 * SECOND)
    assert phase(cluster, "a") == "Running"


@pytest.mark.parametrize("write", ["another stage", "a label"])
def test_a_write_to_a_stage_that_changes_nothing_of_it_lets_delays_run_on(cluster: Cluster, write: str) -> None:
    cluster.create(later(durationMilliseconds=10_000))
    cluster.create(pod("a"))
    cluster.settle(6 * SECOND)
    if write == "another stage":
        cluster.create(stage("other", selector={"matchLabels": {"no": "one"}}, next={"delete": True}))
    else:
        cluster.patch({"kind": "Stage", "name": "later", "body": {"metadata": {"labels": {"a": "b"}}}})
    cluster.settle(3 * SECOND)
    assert phase(cluster, "a") == "Pending"
    cluster.settle(2 * SECOND)
    assert phase(cluster, "a") == "Running"


def test_a_stage_that_changes_begins_its_delay_anew(cluster: Cluster) -> None:
    cluster.create(later(durationMilliseconds=10_000))
    cluster.create(pod("a"))
    cluster.settle(6 * SECOND)
    cluster.patch({"kind": "Stage", "name": "later", "body": {"spec": {"delay": {"durationMilliseconds": 8_000}}}})
    cluster.settle(7 * SECOND)
    assert phase(cluster, "a") == "Pending"
    cluster.settle(2 * SECOND)
    assert phase(cluster, "a") == "Running"


@pytest.mark.parametrize(("text", "is_kept"), [("startTime: {{ Now | Quote }}", True), ("message: {{ Now }}", False)])
def test_pods_of_one_second_share_a_status_unless_it_shows_more_than_the_second(
    cluster: Cluster, text: str, is_kept: bool
) -> None:
    cluster.create(stage("s", selector={"matchLabels": {}}, next={"statusTemplate": f"phase: Running\n{text}"}))
    field = text.partition(":")[0]
    seen = []
    for number in range(3):
        cluster.create(pod(f"p{number}"))
        cluster.settle(SECOND // 4)
        seen.append(cluster.get("Pod", f"p{number}")["status"][field])
    assert len(set(seen)) == (1 if is_kept else 3)


@pytest.mark.parametrize("first", ["a", "b"])
def test_a_second_patch_reads_the_pod_as_it_was_before_the_first(cluster: Cluster, first: str) -> None:
    patches = [
        {"subresource": "status", "root": "status", "type": "merge", "template": "phase: Running"},
        {"subresource": "status", "root": "status", "type": "merge", "template": "message: was {{ .status.phase }}"},
    ]
    selector = {
        "matchLabels": {"go": "yes"},
        "matchExpressions": [{"key": ".status.message", "operator": "DoesNotExist"}],
    }
    cluster.create(stage("two", selector=selector, next={"patches": patches}))
    for name, found in (("a", "Pending"), ("b", "Running")):
        cluster.create(pod(name, nodeName="n1"))
        cluster.patch({"kind": "Pod", "name": name, "subresource": "status", "body": {"status": {"phase": found}}})
    for name in sorted("ab", reverse=first == "b"):
        cluster.patch({"kind": "Pod", "name": name, "body": {"metadata": {"labels": {"go": "yes"}}}})
        cluster.settle()
    assert [cluster.get("Pod", name)["status"]["message"] for name in "ab"] == ["was Pending", "was Running"]


def test_a_stage_whose_patch_is_refused_says_so(cluster: Cluster, caplog: pytest.LogCaptureFixture) -> None:
    selector = {"matchExpressions": [{"key": ".spec.nodeName", "operator": "Exists"}]}
    cluster.create(stage("broken", selector=selector, next={"statusTemplate": "phase: Running\ncontainerStatuses: 5"}))
    cluster.create(pod("a"))
    cluster.create(pod("b"))
    cluster.settle(SECOND)
    assert [phase(cluster, name) for name in "ab"] == ["Pending", "Pending"]
    (said,) = [record.getMessage() for record in caplog.records]
    assert said.startswith("broken: ")
