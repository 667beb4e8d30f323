"""An Eviction as an operation: the server's answer is its result."""

from typing import Any

import pytest

from tests.scenario.playing import create, done
from tests.scenario.running import SPELLINGS, Run, node, pod


def eviction(name: str, **more: Any) -> dict[str, Any]:
    return {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": "default"}, **more}


def guarded(name: str) -> dict[str, Any]:
    made = pod(name)
    made["metadata"]["labels"] = {"app": "guarded"}
    return made


BUDGET = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": "two", "namespace": "default"},
    "spec": {"minAvailable": 2, "selector": {"matchLabels": {"app": "guarded"}}},
}


@pytest.fixture(params=sorted(SPELLINGS))
def run(request: pytest.FixtureRequest) -> Run:
    """Three pods, of which a budget needs two; two evictions, and one of a pod that has no budget."""
    pods = [create(1, guarded(f"p{number}")) for number in range(3)]
    evictions = [create(step, eviction(f"p{step - 2}"), id=f"evict-{step}") for step in (2, 3)]
    free = [create(1, pod("free")), create(3, eviction("free", deleteOptions={"gracePeriodSeconds": 0}), id="free")]
    return Run(SPELLINGS[request.param](create(1, node("n")), create(1, BUDGET), *pods, *evictions, *free, done(4)))


def result(run: Run, id: str) -> dict[str, Any]:
    (entry,) = [entry for entry in run.entries("create") if entry["id"] == id]
    assert entry["create"]["operation"]["object"]["kind"] == "Eviction"
    answer: dict[str, Any] = entry["create"]["result"]
    return answer


def test_an_eviction_that_the_budget_allows_deletes_the_pod(run: Run) -> None:
    assert result(run, "evict-2") == {
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201
    }  # fmt: skip
    assert run.get("Pod", "p0") is None
    assert run.get("Pod", "free") is None


def test_a_refusal_by_a_budget_is_a_result_and_the_scenario_goes_on(run: Run) -> None:
    answer = result(run, "evict-3")
    assert (answer["status"], answer["code"], answer["reason"]) == ("Failure", 429, "TooManyRequests")
    assert answer["details"]["causes"] == [
        {"reason": "DisruptionBudget", "message": "The disruption budget two needs 2 healthy pods and has 2 currently"}
    ]
    assert run.get("Pod", "p1") is not None
    assert run.status["phase"] == "Succeeded"


def test_an_eviction_of_a_pod_that_is_not_there_fails_the_scenario() -> None:
    run = Run(SPELLINGS["operations"](create(1, node("n")), create(1, eviction("lost"), id="lost"), done(1)))
    assert run.status["phase"] == "Failed"
    assert "lost" in run.status["message"]
    assert 'pods "lost" not found' in run.status["message"]


def test_a_dry_run_leaves_the_pod() -> None:
    asked = create(2, eviction("p", deleteOptions={"dryRun": ["All"]}), id="dry")
    run = Run(SPELLINGS["operations"](create(1, node("n")), create(1, pod("p")), asked, done(2)))
    assert result(run, "dry")["code"] == 201
    assert run.get("Pod", "p") is not None
