"""Scheduling results are aggregated from the annotations of Pods, as a served cluster and the simulator write them."""

import pytest

from seatrial.clock.virtual import Clock
from seatrial.model.errors import ConfigError
from seatrial.results.annotated_pods import FILTER, annotated_rejections, annotated_results
from seatrial.scenario.cluster import fresh_store
from seatrial.scheduler import Scheduler
from seatrial.timeline import Annotator
from tests.known_kinds import known_kind
from tests.proofs import proves
from tests.scenario.running import node, pod


def annotated_pods() -> list[dict[str, object]]:
    clock = Clock()
    store = fresh_store(clock)
    scheduler = Scheduler(store, clock, recorder=Annotator(store))
    scheduler.start()
    nodes, kind = (known_kind(store.kinds, "v1", name) for name in ("Node", "Pod"))
    for name in ("a", "b"):
        store.create(nodes, node(name), writer="test")
        store.modify(nodes, name, lambda document: document["spec"].pop("taints", None), writer="test")
    for document in (pod("fits"), pod("huge", cpu="64")):
        store.create(kind, document, writer="test", namespace="default")
    while scheduler.has_work():
        scheduler.schedule_one()
    return [stored.document() for stored in store.list(kind)]


@proves("V2-077")
def test_results_are_aggregated_from_annotations_of_pods() -> None:
    pods = annotated_pods()
    cells = annotated_results(pods)
    fits = cells.filter((cells["pod"] == "default/fits") & (cells["plugin"] == "NodeResourcesFit"))
    assert fits["filter"].to_list() == ["passed", "passed"]
    assert fits["score"].to_list() == fits["final"].to_list()
    taints = cells.filter((cells["pod"] == "default/fits") & (cells["plugin"] == "TaintToleration"))
    assert taints["final"].to_list() == [300, 300]
    assert sorted(fits["selected"].to_list()) == [False, True]
    assert annotated_rejections(pods).rows() == [("NodeResourcesFit", "Insufficient cpu", 1, 2)]


def test_a_pod_without_annotations_has_no_results() -> None:
    assert annotated_results([pod("a")]).is_empty()


def test_an_annotation_that_is_no_json_is_named() -> None:
    broken = pod("a")
    broken["metadata"]["annotations"] = {FILTER: "{"}
    with pytest.raises(ConfigError, match=r"default/a: metadata.annotations\[.*filter-result\]: not JSON"):
        annotated_results([broken])
