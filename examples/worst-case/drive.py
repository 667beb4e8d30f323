"""Adds the worst case while the scenario is Paused: the node with the most pods is cordoned, and a big pod comes."""

import sys
from pathlib import Path

import seatrial

HERE = Path(__file__).parent


def main(out: Path) -> None:
    simulation = seatrial.Simulation(HERE / "scenario.yaml")
    result = simulation.run()
    assert result.phase == "Paused"
    busiest = result.nodes.sort(["pods", "name"], descending=[True, False])["name"][0]
    container = {"name": "app", "image": "example.com/app", "resources": {"requests": {"cpu": "4"}}}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "worst", "namespace": "default"},
        "spec": {"containers": [container]},
    }
    cordon = {
        "typeMeta": {"apiVersion": "v1", "kind": "Node"},
        "objectMeta": {"name": busiest},
        "patch": '{"spec": {"unschedulable": true}}',
        "patchType": "application/merge-patch+json",
    }
    simulation.add(
        [
            {"id": "cordon", "step": 3, "patchOperation": cordon},
            {"id": "worst", "step": 3, "createOperation": {"object": pod}},
            {"id": "done", "step": 3, "doneOperation": {}},
        ]
    )
    result = simulation.run()
    result.save(out)
    print(result.explain("worst"))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("seatrial-out/worst-case"))
