"""Result annotations: kube-scheduler-simulator's keys and shapes, rendered from a decision."""

import json

from seatrial.clock.virtual import Clock
from seatrial.scenario.cluster import fresh_store
from seatrial.scheduler.scheduler import Scheduler
from seatrial.timeline.annotations import HISTORY, LIMIT, POINTER, PREFIX, SELECTED, Annotator, annotate
from tests.known_kinds import known_kind
from tests.scenario.running import node, pod

KEYS = {
    "prefilter-result-status", "prefilter-result", "filter-result", "postfilter-result", "prescore-result",
    "score-result", "finalscore-result", "reserve-result", "permit-result", "permit-result-timeout",
    "prebind-result", "bind-result", "selected-node", "result-history",
}  # fmt: skip


def annotated(*pods: dict[str, object], summary: bool = False) -> dict[str, dict[str, str]]:
    """The annotations of pods after every one was tried."""
    store = fresh_store(Clock())
    scheduler = Scheduler(store, store.clock, recorder=Annotator(store, summary=summary))
    scheduler.start()
    nodes, kind = (known_kind(store.kinds, "v1", name) for name in ("Node", "Pod"))
    ready: dict[str, object] = {"taints": []}
    for name in ("a", "b"):
        store.create(nodes, {**node(name), "spec": ready}, writer="test")
        store.modify(nodes, name, lambda document: document["spec"].pop("taints", None), writer="test")
    for document in pods:
        store.create(kind, document, writer="test", namespace="default")
    while scheduler.has_work():
        scheduler.schedule_one()
    return {stored.name: stored.document()["metadata"].get("annotations", {}) for stored in store.list(kind)}


def test_all_keys_are_written_at_every_attempt() -> None:
    for annotations in annotated(pod("fits"), pod("huge", cpu="64")).values():
        assert {f"{PREFIX}{key}" for key in KEYS} <= set(annotations)


def test_a_summary_is_the_node_alone() -> None:
    annotations = annotated(pod("fits"), summary=True)["fits"]
    assert {key for key in annotations if key.startswith(PREFIX)} == {SELECTED, POINTER}
    assert annotations[SELECTED] in ("a", "b")


def test_a_bound_pod_shows_filters_scores_and_its_node() -> None:
    annotations = annotated(pod("fits"))["fits"]
    assert annotations[SELECTED] in ("a", "b")
    filters = json.loads(annotations[f"{PREFIX}filter-result"])
    assert filters["a"]["NodeResourcesFit"] == "passed"
    scores = json.loads(annotations[f"{PREFIX}score-result"])
    assert scores["a"]["NodeResourcesFit"].isdigit()
    final = json.loads(annotations[f"{PREFIX}finalscore-result"])
    assert final["a"]["TaintToleration"] == "300"
    assert json.loads(annotations[f"{PREFIX}bind-result"]) == {"DefaultBinder": "success"}


def test_a_pending_pod_shows_why() -> None:
    annotations = annotated(pod("huge", cpu="64"))["huge"]
    assert annotations[SELECTED] == ""
    assert json.loads(annotations[f"{PREFIX}filter-result"])["a"]["NodeResourcesFit"] == "Insufficient cpu"


def test_the_history_grows_with_each_attempt() -> None:
    metadata: dict[str, object] = {}
    for number in ("1", "2"):
        annotate(metadata, {SELECTED: number})
    annotations = metadata["annotations"]
    assert isinstance(annotations, dict)
    assert [attempt[SELECTED] for attempt in json.loads(annotations[HISTORY])] == ["1", "2"]


def test_what_does_not_fit_leaves_a_pointer() -> None:
    metadata: dict[str, object] = {"annotations": {"mine": "kept"}}
    annotate(metadata, {SELECTED: "n", f"{PREFIX}filter-result": "x" * LIMIT})
    annotations = metadata["annotations"]
    assert isinstance(annotations, dict)
    assert annotations["mine"] == "kept"
    assert annotations[SELECTED] == "n"
    assert POINTER in annotations


def test_annotations_never_wake_the_queue() -> None:
    """A pod that was tried and annotated is not tried again for that."""
    annotations = annotated(pod("huge", cpu="64"))["huge"]
    assert len(json.loads(annotations[HISTORY])) == 1
