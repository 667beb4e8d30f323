"""Kubernetes' own end-to-end tests pass against `seatrial serve` with three plain nodes and nothing prepared by hand.

`make test-conformance` runs all of them (most of an hour); the subset is part of what a change is landed with.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.outside.conformance.left_out import LEFT_OUT
from tests.outside.conformance.program import E2eProgram, spec_names
from tests.outside.conftest import built
from tests.outside.processes import OF_THE_PROGRAMS, Kubectl, Serve

DOCS = Path(__file__).parents[2] / "docs" / "serve.md"
SKIP = "|".join(LEFT_OUT)
GROUPS = {
    "scheduling": r"\[sig-scheduling\]",
    "apps": r"\[sig-apps\].*\[Conformance\]",
    "api-machinery": r"\[sig-api-machinery\].*\[Conformance\]",
    "auth": r"\[sig-auth\].*\[Conformance\]",
    "node": r"\[sig-node\].*\[Conformance\]",
}
UNFINISHED = r"\[Slow\]|\[Disruptive\]|\[Alpha\]|Feature:OffByDefault"
"""Specs of scheduling that are slow, disturb the cluster, or are of a feature that is off."""
SUBSET = "|".join(
    (
        r"\[sig-scheduling\] LimitRange.*\[Conformance\]",
        r"PriorityClass endpoints",
        r"validates that NodeSelector is respected if matching",
        r"Deployment should run the lifecycle of a Deployment",
        r"StatefulSet.*Should recreate evicted statefulset",
        r"should run and stop complex daemon",
        r"Job should adopt matching orphans",
        r"MutatingAdmissionPolicy.*should mutate a Deployment ",
        r"custom resource defaulting for requests and from storage",
        r"CustomResourcePublishOpenAPI.*preserving unknown fields at the schema root",
        r"Garbage collector should not be blocked by dependency circle",
        r"should support CSR API operations",
        r"RuntimeClass should schedule a Pod requesting a RuntimeClass",
        r"Node Lifecycle should run through the lifecycle of a node",
        r"should get a host IP",
    )
)


@pytest.fixture(scope="module")
def program() -> Path:
    return built("e2e.test", "kubectl") / "e2e.test"


@pytest.fixture
def e2e(program: Path, tmp_path: Path) -> Iterator[E2eProgram]:
    """The program, and a server with three plain nodes."""
    with Serve(tmp_path / "state", *OF_THE_PROGRAMS) as server:
        kubectl = Kubectl(program.with_name("kubectl"), server.kubeconfig, tmp_path)
        kubectl.create(*(plain_node(number) for number in range(1, 4)))
        yield E2eProgram(program, program.with_name("kubectl"), server.kubeconfig, tmp_path)


def plain_node(number: int) -> dict[str, Any]:
    name = f"node-{number}"
    labels = {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "topology.kubernetes.io/zone": f"zone-{number}",
    }
    amounts = {"cpu": "4", "memory": "16Gi", "pods": "110", "ephemeral-storage": "100Gi"}
    status = {"capacity": amounts, "allocatable": amounts}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "status": status}


def check(e2e: E2eProgram, focus: str, skip: str, seconds: int) -> None:
    specs = e2e.run(focus, skip, seconds)
    passed = [spec for spec in specs if spec.state == "passed"]
    others = [f"{spec.state}: {spec.name}: {spec.message}" for spec in specs if spec.state != "passed"]
    print(f"{len(passed)} passed in {sum(spec.seconds for spec in specs):.0f} s, {len(others)} did not")
    assert passed
    assert not others, "\n".join(others)


def test_a_subset_passes(e2e: E2eProgram) -> None:
    check(e2e, SUBSET, SKIP, seconds=600)


@pytest.mark.long
@pytest.mark.parametrize("group", GROUPS)
def test_the_specs_of_a_group_pass(e2e: E2eProgram, group: str) -> None:
    check(e2e, GROUPS[group], f"{SKIP}|{UNFINISHED}" if group == "scheduling" else SKIP, seconds=3600)


def test_every_spec_that_is_left_out_exists(program: Path) -> None:
    names = [name for name in spec_names(program) if "[Conformance]" in name]
    assert not [pattern for pattern in LEFT_OUT if not any(re.search(pattern, name) for name in names)]


def test_every_reason_for_leaving_a_spec_out_is_documented() -> None:
    text = " ".join(DOCS.read_text().split())
    assert not [reason for reason in LEFT_OUT.values() if reason not in text]
