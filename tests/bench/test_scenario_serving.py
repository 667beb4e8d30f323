"""What others feel while a scenario runs is measured to its end, though the scenario empties the cluster first."""

from pathlib import Path

from seatrial.bench.scenario import write_scenario
from seatrial.bench.scenario_serving import measure_latency


def test_the_lease_that_the_beginning_removes_is_created_again(tmp_path: Path) -> None:
    path = tmp_path / "scenario.json"
    write_scenario(path, nodes=3000, pods=20, steps=10)
    figures = {figure.name: figure.value for figure in measure_latency(path)}
    assert figures["requests while a scenario runs"] >= 100
