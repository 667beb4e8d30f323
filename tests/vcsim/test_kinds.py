"""What SimulatorCluster and SimulatorJob files may say, and how mistakes in them are told."""

from pathlib import Path

import pytest

from seatrial.model.documents import Document
from seatrial.model.errors import ConfigError
from seatrial.vcsim.kinds import SimulatorCluster, SimulatorJob
from seatrial.vcsim.load import read_load
from seatrial.vcsim.nodes import allocatable
from tests.proofs import proves
from tests.vcsim.files import AMOUNTS, cluster, deployment, group, simulator_job, written
from tests.vcsim.processes import User


def refusal(path: Path, kind: type[SimulatorCluster] | type[SimulatorJob]) -> str:
    with pytest.raises(ConfigError) as caught:
        kind.read(path)
    return str(caught.value)


@proves("VC-003")
def test_a_mistake_is_told_with_file_line_and_field(tmp_path: Path) -> None:
    """Schema errors show file and field path."""
    path = tmp_path / "cluster.yaml"
    path.write_text(
        "apiVersion: scheduling.volcano.sh/v1beta1\nkind: SimulatorCluster\nmetadata: {name: a}\n"
        "spec:\n  nodes:\n  - name: node\n    count: many\n    capacity: {}\n"
    )
    assert refusal(path, SimulatorCluster) == f"{path}:7: spec.nodes[0].count: Expected `int`, got `str`"


@proves("VC-010", "VC-029")
@pytest.mark.parametrize(
    ("change", "field"),
    [({"apiVersion": "v1"}, "apiVersion"), ({"kind": "Cluster"}, "kind"), ({"status": {}}, "status")],
)
def test_other_versions_kinds_and_a_status_are_refused(tmp_path: Path, change: Document, field: str) -> None:
    """ApiVersion and kind are the seed's, and there is no status."""
    path = written(tmp_path / "cluster.yaml", cluster() | change)
    assert f": {field}: " in refusal(path, SimulatorCluster)


@proves("VC-012", "VC-030")
def test_a_cluster_has_the_fields_of_the_seed(tmp_path: Path) -> None:
    """Several groups of nodes with name, count, capacity and allocatable."""
    path = written(
        tmp_path / "cluster.yaml", cluster(group("a", 1), group("b", 2, capacity={"cpu": 4}, allocatable={"cpu": 2}))
    )
    a, b = SimulatorCluster.read(path).spec.nodes
    assert (a.name, a.count, a.capacity, a.allocatable) == ("a", 1, AMOUNTS, AMOUNTS)
    assert (b.name, b.count, b.capacity, b.allocatable) == ("b", 2, {"cpu": 4}, {"cpu": 2})


@pytest.mark.parametrize("allocatable", [{"cpu": "4001m"}, {"cpu": 4, "nvidia.com/gpu": 1}])
def test_more_allocatable_than_capacity_is_refused(tmp_path: Path, allocatable: Document) -> None:
    path = written(tmp_path / "cluster.yaml", cluster(group("a", 1, capacity={"cpu": 4}, allocatable=allocatable)))
    name = list(allocatable)[-1]
    assert f"spec.nodes[0].allocatable.{name}: {allocatable[name]} is more than" in refusal(path, SimulatorCluster)


@proves("VC-013")
def test_allocatable_is_the_capacity_where_it_is_left_out(tmp_path: Path) -> None:
    """An omitted allocatable equals the capacity."""
    without = {"name": "a", "count": 1, "capacity": {"cpu": "4"}}
    (found,) = SimulatorCluster.read(written(tmp_path / "cluster.yaml", cluster(without))).spec.nodes
    assert found.allocatable is None
    assert allocatable(found) == {"cpu": "4"}


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (group(count=0), "spec.nodes[0].count: Expected `int` >= 1"),
        (group(count=100_000_000), "spec.nodes[0].count: Expected `int` <= 1000000"),
        (group(colour="red"), "spec.nodes[0].colour: unknown field"),
        (group(capacity={"cpu": "much"}), "spec.nodes[0].capacity.cpu: 'much'"),
        (group(capacity={"cpu": "-1"}), "spec.nodes[0].capacity.cpu: '-1': expected no negative amount"),
        (group(name="Big_Node"), "spec.nodes[0].name: 'Big_Node'"),
        ({"name": "a"}, "missing required field"),
    ],
)
def test_groups_that_make_no_sense_are_refused(tmp_path: Path, wrong: Document, why: str) -> None:
    assert why in refusal(written(tmp_path / "cluster.yaml", cluster(wrong)), SimulatorCluster)


def test_a_file_that_is_no_yaml_or_not_there_is_told(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("{")
    assert "yaml: line" in refusal(tmp_path / "bad.yaml", SimulatorCluster)
    assert "No such file" in refusal(tmp_path / "none.yaml", SimulatorCluster)


@proves("VC-021", "VC-031", "VC-032", "VC-033")
def test_a_test_has_the_fields_of_the_seed(tmp_path: Path) -> None:
    """Kind, names and types of a SimulatorJob; 0.5 is a rate."""
    case = simulator_job(timing={"qps": 0.5, "duration": 1.5})
    found = SimulatorJob.read(written(tmp_path / "test.yaml", case))
    assert (found.metadata.name, found.spec.namespaces, found.spec.replicas_per_namespace) == (
        "scheduling-throughput",
        1,
        2,
    )
    assert (found.spec.timing.qps, found.spec.timing.duration) == (0.5, 1.5)
    assert [(item.name, item.object_path) for item in found.spec.objects] == [("test-pod", "deployment.yaml")]


@proves("VC-021", "VC-024")
@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (simulator_job() | {"kind": "Job"}, "kind: expected SimulatorJob, got 'Job'"),
        (simulator_job(namespaces=0), "spec.namespaces: Expected `int` >= 1"),
        (simulator_job(replicasPerNamespace=-1), "spec.replicasPerNamespace: Expected `int` >= 1"),
        (simulator_job(namespaces=2000, replicasPerNamespace=1000), "2,000,000 objects are more than 1,000,000"),
        (simulator_job(timing={"qps": 0, "duration": 1}), "spec.timing.qps: Expected `float` > 0"),
        (simulator_job(objects=[]), "spec.objects: Expected `array` of length >= 1"),
        (simulator_job(objects=[{"name": "a", "objectPath": "x"}] * 2), "spec.objects[1].name: 'a' is used twice"),
    ],
)
def test_tests_that_make_no_sense_are_refused(tmp_path: Path, wrong: Document, why: str) -> None:
    """A wrong kind and a duplicate name are errors."""
    assert why in refusal(written(tmp_path / "test.yaml", wrong), SimulatorJob)


def namespaced(api_version: str, kind: str) -> bool:
    return kind != "Queue"


@proves("VC-022", "VC-024")
def test_object_files_are_found_next_to_the_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Relative paths belong to the test file; every namespace gets its copies."""
    (tmp_path / "objects").mkdir()
    monkeypatch.chdir("/")
    written(tmp_path / "objects" / "web.yaml", deployment(3))
    path = written(tmp_path / "test.yaml", simulator_job("objects/web.yaml", namespaces=2))
    load = read_load(SimulatorJob.read(path), path, namespaced)
    assert load.submitted == 2 * 2 * 3
    assert [(made["metadata"]["namespace"], made["metadata"]["name"]) for _, made in load.copies()] == [
        ("scheduling-throughput-0", "web-0"),
        ("scheduling-throughput-1", "web-0"),
        ("scheduling-throughput-0", "web-1"),
        ("scheduling-throughput-1", "web-1"),
    ]


@proves("VC-033")
def test_a_missing_object_file_is_named_before_anything_runs(tmp_path: Path) -> None:
    """The error names the file that is not there."""
    path = written(tmp_path / "test.yaml", simulator_job("none.yaml"))
    with pytest.raises(ConfigError, match=r"spec\.objects\[0\]\.objectPath: .*none\.yaml does not exist"):
        read_load(SimulatorJob.read(path), path, namespaced)


@proves("VC-003", "VC-010", "VC-029", "VC-030")
@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (cluster(group() | {"count": "many"}), ":12: spec.nodes[0].count: Expected `int`, got `str`"),
        (cluster() | {"apiVersion": "v1"}, "apiVersion: expected scheduling.volcano.sh/v1beta1, got 'v1'"),
        (cluster() | {"kind": "Cluster"}, "kind: expected SimulatorCluster, got 'Cluster'"),
        (cluster() | {"status": {}}, "status: unknown field"),
        (cluster(name="a/b"), "metadata.name: 'a/b'"),
    ],
)
def test_create_refuses_a_wrong_cluster_and_makes_nothing(user: User, wrong: Document, why: str) -> None:
    """One message with file and field, exit code 2."""
    path = written(user.home / "cluster.yaml", wrong)
    answer = user("create", "cluster", f"--config={path}")
    assert (answer.code, answer.output) == (2, "")
    assert answer.errors.startswith(f"vcsimctl: {path}")
    assert why in answer.errors
    assert not (user.home / ".vcsimctl").exists()


@proves("VC-021", "VC-024", "VC-031", "VC-033")
@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (simulator_job() | {"kind": "Job"}, "kind: expected SimulatorJob, got 'Job'"),
        (simulator_job(objects=[{"name": "a", "objectPath": "x"}] * 2), "spec.objects[1].name: 'a' is used twice"),
        (simulator_job("none.yaml"), "spec.objects[0].objectPath: "),
        (simulator_job(timing={"qps": -1, "duration": 1}), "spec.timing.qps: Expected `float` > 0"),
    ],
)
def test_run_refuses_a_wrong_test_before_it_starts(user: User, wrong: Document, why: str) -> None:
    """One message with file and field, exit code 2, no report."""
    config = written(user.home / "cluster.yaml", cluster())
    path = written(user.home / "test.yaml", wrong)
    answer = user("run", f"--test={path}", "--clock", "virtual", "--config", config)
    assert (answer.code, answer.output) == (2, "")
    assert answer.errors.startswith(f"vcsimctl: {path}")
    assert why in answer.errors
    assert not (user.home / ".vcsimctl").exists()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"spec": "x"}, "document 1: spec: Expected `object`, got `str`"),
        ({"spec": {"replicas": "many"}}, "document 1: spec.replicas: Expected `int | null`, got `str`"),
        ({"metadata": "web"}, "document 1: metadata: expected an object"),
        (
            {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "spec": {"tasks": [3]}},
            "document 1: spec.tasks[0]: Expected `object`, got `int`",
        ),
    ],
)
def test_an_object_of_wrong_types_is_refused_with_its_file_and_field(
    tmp_path: Path, change: Document, why: str
) -> None:
    path = written(tmp_path / "deployment.yaml", deployment() | change)
    test = written(tmp_path / "test-case.yaml", simulator_job())
    with pytest.raises(ConfigError) as caught:
        read_load(SimulatorJob.read(test), test, lambda api_version, kind: True)
    assert str(caught.value) == f"{path}: {why}"
