"""Playing an example on a server over plain HTTP."""

import json
import time
import urllib.error
import urllib.request
from typing import Any

SCENARIOS = "/apis/simulation.kube-scheduler-simulator.x-k8s.io/v1alpha1/scenarios"
ENDED = ("Succeeded", "Failed", "Paused")


def request(url: str, body: object = None, method: str = "GET", kind: str = "application/json") -> Any:
    """One request; a body that is not bytes is sent as JSON. What the server refuses is its Status."""
    data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    asked = urllib.request.Request(url, data, {"Content-Type": kind}, method=method)
    try:
        with urllib.request.urlopen(asked, timeout=60) as answer:
            return json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        with error:
            return json.loads(error.read())


def status_of(url: str, name: str) -> dict[str, Any]:
    return request(f"{url}{SCENARIOS}/{name}").get("status") or {}


def play(url: str, scenario: bytes, name: str, seconds: float = 60) -> dict[str, Any]:
    """Create a Scenario from YAML and wait until it rests; the Scenario as it is then."""
    request(url + SCENARIOS, scenario, "POST", "application/yaml")
    return wait_for(url, name, ENDED, seconds)


def wait_for(url: str, name: str, phases: tuple[str, ...], seconds: float = 60) -> dict[str, Any]:
    """The Scenario once it is in one of these phases."""
    end = time.monotonic() + seconds
    while status_of(url, name).get("phase") not in phases:
        assert time.monotonic() < end, f"{name} is not {' or '.join(phases)} within {seconds:g} s"
        time.sleep(0.05)
    scenario: dict[str, Any] = request(f"{url}{SCENARIOS}/{name}")
    return scenario
