"""Tables: what kubectl prints of each kind.

Tests: store/printers/*.py"""

from typing import Any

import pytest

from seatrial.model.times import parse_time
from seatrial.server.tables.paths import finder
from seatrial.store.printers.cells import human_duration, selector_text
from seatrial.store.printers.cluster import address_cells
from seatrial.store.printers.columns import Columns
from seatrial.store.printers.pods import node_cells, pod_cells
from seatrial.store.printers.workloads import autoscaler_cells, job_cells
from seatrial.store.registry.kinds import BUILT_IN
from tests.server.client import Server
from tests.server.documents import PODS, pod

NOW = parse_time("2030-01-01T01:00:00Z")
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "<invalid>"), (0, "0s"), (119, "119s"), (120, "2m"), (125, "2m5s"), (600, "10m"), (10799, "179m"),
        (10800, "3h"), (11000, "3h3m"), (28800, "8h"), (172799, "47h"), (172800, "2d"), (180000, "2d2h"),
        (8 * 86400, "8d"), (729 * 86400, "729d"), (730 * 86400, "2y"), (800 * 86400, "2y70d"), (9 * 365 * 86400, "9y"),
    ],
)  # fmt: skip
def test_durations_read_as_in_kubectl(seconds: int, text: str) -> None:
    assert human_duration(seconds) == text


def running(**status: object) -> dict[str, Any]:
    document = pod("a")
    document["metadata"]["creationTimestamp"] = "2030-01-01T00:55:00Z"
    document["status"] = {"phase": "Running", **status}
    return document


def test_a_ready_pod() -> None:
    ready = {"name": "c", "ready": True, "restartCount": 0, "state": {"running": {}}}
    assert pod_cells(running(containerStatuses=[ready]), NOW)[:5] == ["a", "1/1", "Running", "0", "5m"]


def test_restarts_tell_when_the_last_was() -> None:
    last = {"terminated": {"finishedAt": "2030-01-01T00:59:00Z", "exitCode": 1}}
    status = {"name": "c", "restartCount": 3, "lastState": last, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
    assert pod_cells(running(containerStatuses=[status]), NOW)[2:4] == ["CrashLoopBackOff", "3 (60s ago)"]


def test_init_containers_count_up() -> None:
    document = running(initContainerStatuses=[{"name": "i", "state": {"waiting": {"reason": "PodInitializing"}}}])
    document["spec"]["initContainers"] = [{"name": "i"}]
    assert pod_cells(document, NOW)[2] == "Init:0/1"


def test_a_pod_that_is_being_deleted() -> None:
    document = running()
    document["metadata"]["deletionTimestamp"] = "2030-01-01T01:00:00Z"
    assert pod_cells(document, NOW)[2] == "Terminating"


def test_a_gated_pod() -> None:
    condition = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}
    assert pod_cells(running(conditions=[condition]) | {}, NOW)[2] == "SchedulingGated"


def test_a_cordoned_node_with_a_role() -> None:
    node = {
        "metadata": {"name": "n", "labels": {"node-role.kubernetes.io/control-plane": ""}},
        "spec": {"unschedulable": True},
        "status": {"conditions": [{"type": "Ready", "status": "True"}], "nodeInfo": {"kubeletVersion": "v1"}},
    }
    assert node_cells(node, NOW)[:5] == ["n", "Ready,SchedulingDisabled", "control-plane", "<unknown>", "v1"]


def test_a_finished_job() -> None:
    times = {"startTime": "2030-01-01T00:00:00Z", "completionTime": "2030-01-01T00:01:30Z"}
    conditions = [{"type": "Complete", "status": "True"}]
    status = {"succeeded": 3, "conditions": conditions, **times}
    job = {"metadata": {"name": "j"}, "spec": {"completions": 3}, "status": status}
    assert job_cells(job, NOW)[:4] == ["j", "Complete", "3/3", "90s"]


def test_an_autoscalers_targets() -> None:
    metric = {"type": "Resource", "resource": {"name": "cpu", "target": {"averageUtilization": 80}}}
    spec = {"scaleTargetRef": {"kind": "Deployment", "name": "d"}, "maxReplicas": 5, "metrics": [metric]}
    cells = autoscaler_cells({"metadata": {"name": "h"}, "spec": spec}, NOW)
    assert cells[:6] == ["h", "Deployment/d", "cpu: <unknown>/80%", "<unset>", 5, 0]


def test_selector_text() -> None:
    expressions = [{"key": "a", "operator": "In", "values": ["y", "x"]}, {"key": "b", "operator": "Exists"}]
    assert selector_text({"matchLabels": {"z": "1"}, "matchExpressions": expressions}) == "z=1,a in (x,y),b"


@pytest.mark.parametrize("columns", [each.columns for each in BUILT_IN.values() if each.columns is not None])
def test_every_table_has_a_cell_per_column_even_for_an_empty_object(columns: Columns) -> None:
    # The one of addresses has a cell too many, as upstream's.
    surplus = columns.cells is address_cells
    assert len(columns.cells({}, NOW)) == len(columns.columns) + surplus


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".a.b", [1]), ("{.a.b}", [1]), (".l[0].n", ["x"]), (".l[*].n", ["x", "y"]), (".l[-1].n", ["y"]),
        ('.l[?(@.n=="y")].v', [2]), (".a['b']", [1]), (".none", []), (".d\\.e", [3]), ("..n", ["x", "y"]),
        ("nonsense", []),
    ],
)  # fmt: skip
def test_json_paths(path: str, found: list[object]) -> None:
    document = {"a": {"b": 1}, "l": [{"n": "x", "v": 1}, {"n": "y", "v": 2}], "d.e": 3}
    assert finder(path)(document) == found


def test_one_object_can_be_had_as_a_table(server: Server) -> None:
    server("POST", PODS, pod("a"))
    table = server("GET", f"{PODS}/a", accept=TABLE).json()
    assert table["rows"][0]["cells"][0] == "a"
    assert table["rows"][0]["object"]["kind"] == "PartialObjectMetadata"
    assert server("GET", f"{PODS}/a?includeObject=Object", accept=TABLE).json()["rows"][0]["object"]["kind"] == "Pod"
    assert server("GET", f"{PODS}/a?includeObject=Everything", accept=TABLE).status == 400
