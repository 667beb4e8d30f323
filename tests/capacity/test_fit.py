"""Whether a chart fits, and how many nodes must be added for it."""

from random import Random
from typing import Any

import pytest

from seatrial.capacity import fit_objects
from seatrial.capacity.trial import Trial
from tests.capacity.objects import node, pod, setting

ZONE = "topology.kubernetes.io/zone"


def deployment(name: str, replicas: int, cpu: str = "1") -> dict[str, Any]:
    made = pod(name, cpu=cpu)
    template = {"metadata": {"labels": made["metadata"]["labels"]}, "spec": made["spec"]}
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "chart"},
        "spec": spec,
    }


def test_workloads_are_created_with_their_replicas() -> None:
    chart = [deployment("web", 3), deployment("api", 1)]
    assert fit_objects(setting(node()), chart, None, 64).sentence == "All pods of 2 objects fit."
    answer = fit_objects(setting(node()), [deployment("web", 6), *chart[1:]], node("new"), 64)
    # By hand: 4 of 7 cores are there, and a new node has 4.
    assert not answer.fits
    assert answer.nodes is not None and answer.nodes.nodes == 1
    assert answer.sentence.endswith("with 1 more of new they do.")


def test_pods_that_are_pending_already_do_not_count() -> None:
    asked = setting(node(), pod("stuck", cpu="100"))
    assert fit_objects(asked, [deployment("web", 2), deployment("api", 2)], None, 64).fits


def volume(zone: str) -> list[dict[str, Any]]:
    term = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}
    common = {"accessModes": ["ReadWriteOnce"], "storageClassName": "zonal"}
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "name": "data", "namespace": "default"}
    spec = {**common, "capacity": {"storage": "1Gi"}, "claimRef": claim, "hostPath": {"path": "/x"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}}}  # fmt: skip
    asked = {**common, "volumeName": "pv", "resources": {"requests": {"storage": "1Gi"}}}
    return [
        {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv"}, "spec": spec},
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": "default"},
         "spec": asked, "status": {"phase": "Bound"}},
    ]  # fmt: skip


def in_zone(zone: str, **more: Any) -> dict[str, Any]:
    made = node(f"in-{zone}", **more)
    made["metadata"]["labels"][ZONE] = zone
    return made


@pytest.mark.parametrize(
    ("new", "reason"),
    [
        (in_zone("b"), "VolumeBinding says node(s) didn't match PersistentVolume's node affinity"),
        (in_zone("a", cpu="1"), "NodeResourcesFit says Insufficient cpu"),
        (in_zone("a", taints=[{"key": "k", "value": "v", "effect": "NoSchedule"}]), "TaintToleration says node(s) had"),
    ],
)
def test_the_search_ends_where_no_number_of_such_nodes_helps(new: dict[str, Any], reason: str) -> None:
    """The node that is there is only full: other pods could leave it, so one try is not enough to know."""
    claimed: dict[str, Any] = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]}
    full = pod("full", cpu="3", nodeName="in-a")
    here = [in_zone("a"), full, *volume("a")]
    answer = fit_objects(setting(*here), [pod("db", cpu="2", **claimed), deployment("web", 1)], new, 5000)
    assert answer.nodes is not None
    assert answer.nodes.nodes is None
    assert len(answer.nodes.tried) <= 4
    assert f"No number of {new['metadata']['name']} is enough for the snapshot: default/db fits none" in answer.sentence
    assert reason in answer.sentence


@pytest.mark.parametrize("seed", range(50))
def test_a_chart_needs_the_smallest_of_all_counts_in_random_clusters(seed: int) -> None:
    dice = Random(seed)
    here = [node(f"here-{number}", cpu=str(dice.randint(1, 4))) for number in range(dice.randint(0, 2))]
    chart = [
        deployment(f"app-{number}", dice.randint(1, 4), dice.choice(["500m", "1", "2", "3"]))
        for number in range(dice.randint(2, 3))
    ]
    new = node("new", cpu=str(dice.randint(3, 5)))
    answer = fit_objects(setting(*here), chart, new, 64)
    found = 0 if answer.fits else answer.nodes.nodes if answer.nodes is not None else None
    assert found == next(count for count in range(13) if fits(here, chart, new, count))


def fits(here: list[dict[str, Any]], chart: list[dict[str, Any]], new: dict[str, Any], count: int) -> bool:
    """Try a count: the chart is created as a user would."""
    added = [{**new, "metadata": {**new["metadata"], "name": f"try-{number}"}} for number in range(count)]
    trial = Trial(setting(*here, *added))
    trial.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "chart"}})
    for each in chart:
        trial.create(each)
    trial.settle()
    return not list(trial.pending())
