"""The first sentence of an explanation says what a person wants to know."""

from typing import Any

import pytest

from seatrial import Result
from seatrial.api import run
from seatrial.model.errors import NotFound
from seatrial.results.explanation import find_pods, waiting_groups
from seatrial.results.run import Run
from tests.scenario.playing import create, done, operations, scenario
from tests.scenario.running import node, pod, priority_class


def played(*items: dict[str, Any], **options: Any) -> Result:
    result = run(scenario(operations(*items, done(9))), **options)
    assert result.phase == "Succeeded", result.message
    return result


def both(result: Result) -> list[Result]:
    """A result with its timeline, and its Scenario alone."""
    return [result, Result(Run("alone", result.run.data))]


def test_a_preemptor_is_explained_with_its_victims() -> None:
    urgent = pod("urgent", cpu="4", priorityClassName="high")
    result = played(
        create(1, node("n")), create(1, priority_class("high", 100)), create(1, pod("a", cpu="2")),
        create(1, pod("b", cpu="2")), create(2, urgent),
    )  # fmt: skip
    for each in both(result):
        said = each.explain("urgent").sentence
        assert said.startswith(
            "default/urgent went to n after 2 attempts in step 2, for which it preempted 2 pods (default/a, default/b)"
        )
        assert each.explain("a").sentence.endswith("It was preempted by default/urgent in step 2.")
        assert each.explain("urgent").attempts[0].victims == ("default/a", "default/b")


def test_a_pod_that_was_held_until_its_volume_was_bound_had_one_attempt() -> None:
    disk = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "wait"}}
    disk |= {"provisioner": "disk.example.com", "volumeBindingMode": "WaitForFirstConsumer"}
    size = {"requests": {"storage": "1Gi"}}
    wanted = {"accessModes": ["ReadWriteOnce"], "storageClassName": "wait", "resources": size}
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c", "namespace": "default"}}
    user = pod("p", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}])
    result = played(create(1, node("n")), create(1, disk), create(1, {**claim, "spec": wanted}), create(1, user))
    outcomes = [attempt.outcome for attempt in result.explain("p").attempts]
    assert outcomes == ["waiting", "scheduled"], "it was not held"
    assert result.explain("p").sentence.startswith("default/p went to n in step 1")
    assert result.pods["attempts"].to_list() == [1]
    assert result.run.histories.attempts["outcome"].to_list() == ["scheduled"]


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"schedulingGates": [{"name": "example.com/quota"}]}, "is gated by example.com/quota"),
        ({"schedulerName": "other"}, "is claimed by the scheduler other (spec.schedulerName), which never tried it"),
        (
            {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]},
            "Its PersistentVolumeClaim data does not exist",
        ),
        ({"nodeSelector": {"disk": "ssd"}}, "0/1 nodes are available: 1 node(s) didn't match"),
    ],
)
def test_a_pending_pod_is_explained_by_what_holds_it(spec: dict[str, Any], said: str) -> None:
    result = played(create(1, node("n")), create(1, pod("p", **spec)))
    for each in both(result):
        assert said in each.explain("p").sentence


def test_pending_pods_are_grouped_by_reason() -> None:
    result = played(
        create(1, node("n")),
        create(1, pod("gated", schedulingGates=[{"name": "example.com/quota"}])),
        *(create(1, pod(f"big-{i}", cpu="64")) for i in range(3)),
        create(1, pod("fits")),
    )
    for each in both(result):
        assert [(group.reason, group.pods) for group in waiting_groups(each.run)] == [
            ("Insufficient cpu", ("default/big-0", "default/big-1", "default/big-2")),
            ("gated by example.com/quota", ("default/gated",)),
        ]


def test_names_may_be_globs_and_unknown_ones_get_suggestions() -> None:
    result = played(create(1, node("n")), create(1, pod("web-1")), create(1, pod("web-2")), create(1, pod("db")))
    assert find_pods(result.run, "web-*") == ["default/web-1", "default/web-2"]
    assert find_pods(result.run, "*/db") == ["default/db"]
    with pytest.raises(NotFound, match=r"no pod default/wep-1; did you mean default/web-1, default/web-2\?"):
        result.explain("wep-1")


@pytest.mark.parametrize("wanted", ["web", "wbe", "web-7f9*", "other/web", "wep-*"])
def test_the_name_of_a_workload_suggests_its_pods(wanted: str) -> None:
    pods = [create(1, pod(name)) for name in ("web-7f8-abcde", "web-7f8-fghij", "db-0")]
    result = played(create(1, node("n")), *pods)
    with pytest.raises(NotFound, match=r"did you mean default/web-7f8-abcde, default/web-7f8-fghij\?"):
        result.explain(wanted)


def test_a_pod_that_came_with_its_node_had_no_scheduler() -> None:
    bound = pod("bound")
    bound["spec"]["nodeName"] = "n"
    result = played(create(1, node("n")), create(1, bound))
    assert result.explain("bound").sentence == (
        "default/bound is on n since step 1 without a scheduler: it was created with its node."
    )
