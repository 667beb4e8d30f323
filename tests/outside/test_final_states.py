"""Shapes end in the same state in `run`, in `serve`, and in `serve` with a real kube-scheduler."""

import http.client
from contextlib import closing
from pathlib import Path

import pytest

from tests.outside.churn import COUNTED, RealScheduler
from tests.outside.processes import OF_THE_PROGRAMS, Serve, free_port
from tests.outside.test_whole_runs import listed
from tests.outside.whole_runs.final_states import Server, configuration_file, state_of_run, waiting_pods
from tests.outside.whole_runs.shape import Shape
from tests.outside.whole_runs.shapes import ALL

NAMES = (
    "claims, slices and classes come one by one",
    "extended resources of devices, pods first",
    "nodes grow and shrink",
    "labels of nodes bring pods with selectors back",
    "cordoned nodes and pods that tolerate it",
    "pods that leave make room",
    "host ports become free",
    "affinity waits for pods and for their labels",
    "anti-affinity keeps pods apart until one leaves or is renamed",
    "scheduling gates are taken away",
    "pending pods change their labels, tolerations and annotations",
    "pods are made again under their names",
    "one preemptor and two victims",
    "a chain of preemptions",
    "pods that never preempt wait",
    "victims without grace are gone at once",
)
"""Shapes in which no other controller of a scenario acts (for budgets, claims, pods of deleted nodes), nor time."""
PORTABLE = [shape for shape in ALL if shape.name in NAMES]


@pytest.mark.parametrize("shape", listed(PORTABLE))
def test_a_shape_ends_in_the_same_state_everywhere(shape: Shape, programs: Path, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    expected = state_of_run(shape, tmp_path / "run")
    config = configuration_file(shape, tmp_path)
    flags = ("--controllers", "", "--insecure", *OF_THE_PROGRAMS)
    with (
        Serve(tmp_path / "embedded", *flags, "--scheduler-config", str(config)) as serve,
        closing(Server(serve.url, lambda: waiting_pods(metrics_of(serve.url)))) as server,
    ):
        embedded = server.play(shape)
    with (
        Serve(tmp_path / "real", "--no-scheduler", *flags) as serve,
        RealScheduler(
            programs / "kube-scheduler", serve.kubeconfig, tmp_path / "scheduler", free_port(), shape.config
        ) as scheduler,
        closing(Server(serve.url, lambda: waiting_pods(scheduler.counts()))) as server,
    ):
        real = server.play(shape)
    assert embedded == real
    assert expected == real


def metrics_of(url: str) -> dict[str, float]:
    """What `serve` says of its own scheduler."""
    with closing(http.client.HTTPConnection(url.removeprefix("http://"), timeout=10)) as connection:
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
    return {name: float(value) for name, value in COUNTED.findall(text)}
