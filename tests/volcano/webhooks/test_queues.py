"""Which queues admission lets in, and what it adds to them."""

import pytest

from seatrial.model.documents import Document
from seatrial.volcano.apis import QUEUE, kind_of
from seatrial.volcano.apis.labels import HIERARCHY, HIERARCHY_WEIGHTS
from seatrial.volcano.webhooks import Denied
from seatrial.volcano.webhooks.queue_hierarchy import resource_fault
from tests.volcano.objects import create, found, queue, volcano_store


def test_every_cluster_has_the_queues_root_and_default() -> None:
    store = volcano_store()
    assert found(store, QUEUE, "root")["spec"]["reclaimable"] is False
    assert found(store, QUEUE, "default")["spec"]["reclaimable"] is True


def test_a_queue_is_reclaimable_and_weighs_one() -> None:
    spec = create(volcano_store(), queue("a"))["spec"]
    assert (spec["reclaimable"], spec["weight"], spec["dequeueStrategy"]) == (True, 1, "traverse")


def test_a_hierarchy_begins_at_root() -> None:
    made = create(volcano_store(), queue("a", annotations={HIERARCHY: "sci/dev", HIERARCHY_WEIGHTS: "2/3"}))
    assert made["metadata"]["annotations"] == {HIERARCHY: "root/sci/dev", HIERARCHY_WEIGHTS: "1/2/3"}


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (queue("a", deserved={"cpu": "2"}, capability={"cpu": "1"}), "deserved[cpu]=2 must be <= capability[cpu]=1"),
        (queue("a", guarantee={"resource": {"cpu": "1"}}), "deserved[cpu] must be >= guarantee[cpu]=1"),
        (queue("a", capability={"cpu": "-1"}), "must be greater than or equal to 0"),
        (queue("a", parent="a"), "queue a cannot use itself as parent"),
        (queue("a", parent="none"), 'failed to get parent queue none of queue a: queue.scheduling.volcano.sh "none"'),
        (queue("a", annotations={HIERARCHY: "root/a", HIERARCHY_WEIGHTS: "1"}), "must have the same length with"),
        (queue("a", annotations={HIERARCHY: "root/a", HIERARCHY_WEIGHTS: "1/0"}), "0 in the 1/0 must be larger than 0"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_queue_that_contradicts_itself_is_denied(wrong: Document, why: str) -> None:
    with pytest.raises(Denied) as refusal:
        create(volcano_store(), wrong)
    assert why in refusal.value.message


def test_children_may_not_ask_for_more_than_their_parent_has() -> None:
    store = volcano_store()
    create(store, queue("team", deserved={"cpu": "4"}, capability={"cpu": "8"}))
    create(store, queue("a", parent="team", deserved={"cpu": "3"}))
    with pytest.raises(Denied, match=r"sum of children's deserved \(cpu 5000\.00, memory 0\.00\) exceeds"):
        create(store, queue("b", parent="team", deserved={"cpu": "2"}))
    with pytest.raises(Denied, match=r"queue c capability\[cpu\]=9 exceeds its ancestor's capability=8"):
        create(store, queue("c", parent="team", capability={"cpu": "9"}))


def test_queues_are_at_most_five_deep() -> None:
    store = volcano_store()
    for depth in range(5):
        create(store, queue(f"q{depth}", parent=f"q{depth - 1}" if depth else "root"))
    with pytest.raises(Denied, match="queue q5 exceeds the maximum allowed depth of 5"):
        create(store, queue("q5", parent="q4"))


def test_a_queue_cannot_go_below_itself() -> None:
    store = volcano_store()
    create(store, queue("top"))
    create(store, queue("middle", parent="top"))
    create(store, queue("leaf", parent="middle"))
    top = found(store, QUEUE, "top")
    top["spec"]["parent"] = "leaf"
    with pytest.raises(Denied, match="queue top cannot have parent leaf, which is below it"):
        store.update(kind_of(store, QUEUE), top, writer="user")


def test_built_in_queues_and_parents_stay() -> None:
    store = volcano_store()
    create(store, queue("team"))
    create(store, queue("a", parent="team"))
    for name, why in (("default", "`default` queue can not be deleted"), ("team", "it has 1 child queues: a")):
        with pytest.raises(Denied, match=why):
            store.delete(kind_of(store, QUEUE), name, writer="user")


def test_the_amounts_of_the_root_queue_are_fixed() -> None:
    store = volcano_store()
    root = found(store, QUEUE, "root")
    with pytest.raises(Denied, match="cannot be modified"):
        changed = root | {"spec": root["spec"] | {"deserved": {"cpu": "1"}}}
        store.update(kind_of(store, QUEUE), changed, writer="user")


def test_a_circle_of_an_older_store_ends_the_walk_over_parents_and_children() -> None:
    others = {name: queue(name, parent=parent) for name, parent in (("a", "b"), ("b", "c"), ("c", "a"))}
    changed = queue("a", parent="b", capability={"cpu": "4"})
    assert resource_fault(changed, others) == ""
