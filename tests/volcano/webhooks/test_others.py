"""Admission of PodGroups, HyperNodes and of pods that Volcano schedules.

Tests: volcano/webhooks/podgroups.py, volcano/webhooks/hypernodes.py, volcano/webhooks/pods.py
"""

import pytest

from seatrial.model.documents import Document
from seatrial.model.errors import Invalid
from seatrial.volcano.apis import TOPOLOGY
from seatrial.volcano.apis.labels import JDB_MAX_UNAVAILABLE, JDB_MIN_AVAILABLE, QUEUE_NAME
from seatrial.volcano.webhooks import Denied
from tests.volcano.objects import create, pod_group, queue, template, volcano_store


def pod(**annotations: str) -> Document:
    metadata = {"name": "p", "namespace": "default", "annotations": annotations}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata} | template(schedulerName="volcano")


def hyper_node(selector: Document) -> Document:
    spec = {"tier": 1, "members": [{"type": "Node", "selector": selector}]}
    return {"apiVersion": TOPOLOGY, "kind": "HyperNode", "metadata": {"name": "h"}, "spec": spec}


def test_a_group_of_the_default_queue_takes_the_queue_of_its_namespace() -> None:
    store = volcano_store()
    create(store, queue("team"))
    annotated = {"name": "lab", "annotations": {QUEUE_NAME: "team"}}
    create(store, {"apiVersion": "v1", "kind": "Namespace", "metadata": annotated})
    group = pod_group()
    group["metadata"]["namespace"] = "lab"
    assert create(store, group)["spec"]["queue"] == "team"


def test_a_group_needs_a_queue_that_exists() -> None:
    with pytest.raises(Denied, match=r'unable to find queue: queue.scheduling.volcano.sh "none" not found'):
        create(volcano_store(), pod_group(queue="none"))


@pytest.mark.parametrize("wrong", [pod_group(), queue("q")], ids=["PodGroup", "Queue"])
@pytest.mark.parametrize("spec", ["x", [], 1, True], ids=str)
def test_the_definition_refuses_a_spec_that_is_no_object(wrong: Document, spec: object) -> None:
    with pytest.raises(Invalid, match=r"spec: Invalid value: .* must be of type object"):
        create(volcano_store(), wrong | {"spec": spec})


def test_a_tier_is_given_by_number_or_by_name() -> None:
    topology = {"mode": "hard", "highestTierAllowed": 1, "highestTierName": "rack"}
    with pytest.raises(Denied, match="must not specify 'highestTierAllowed' and 'highestTierName'"):
        create(volcano_store(), pod_group(networkTopology=topology))


@pytest.mark.parametrize(
    ("annotations", "why"),
    [
        ({JDB_MIN_AVAILABLE: "0"}, "it must be a positive integer"),
        ({JDB_MIN_AVAILABLE: "100%"}, "between 1% ~ 99%"),
        ({JDB_MIN_AVAILABLE: "x"}, "invalid syntax"),
        ({JDB_MIN_AVAILABLE: "1", JDB_MAX_UNAVAILABLE: "1"}, "not allow configure multiple annotations"),
    ],
)
def test_a_disruption_budget_is_a_number_or_a_share(annotations: dict[str, str], why: str) -> None:
    with pytest.raises(Denied) as refusal:
        create(volcano_store(), pod(**annotations))
    assert why in refusal.value.message


def test_a_pattern_of_a_hyper_node_compiles() -> None:
    store = volcano_store()
    with pytest.raises(Denied, match="member regexMatch pattern is invalid"):
        create(store, hyper_node({"regexMatch": {"pattern": "("}}))
    with pytest.raises(Invalid, match="Only one of ExactMatch, RegexMatch, or LabelMatch can be specified"):
        create(store, hyper_node({"exactMatch": {"name": "a"}, "labelMatch": {"matchLabels": {"a": "b"}}}))
    create(store, hyper_node({"exactMatch": {"name": "a"}}))
