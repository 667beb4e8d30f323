"""A controller that creates two ConfigMaps for each node in one loop, and stops at the end of each loop."""

from typing import Any

from seatrial.outside.client import simulation_controller
from tests.outside.gate.toys.api import NODES, send, watch

MAPS = "/api/v1/namespaces/default/configmaps"


@simulation_controller("hoge-controller")
def run_once(event: dict[str, Any]) -> None:
    if event["type"] == "ADDED":
        for number in (1, 2):
            send("POST", MAPS, {"metadata": {"name": f"{event['object']['metadata']['name']}-{number}"}})


for event in watch(NODES):
    run_once(event)
