"""The dependency-free client: what it asks, and every form of configuration."""

import ast
import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from seatrial.outside import client
from seatrial.outside.client import SeatrialClientError, check_scenario_step_phase, next_pod, simulation_controller
from tests.proofs import proves


class Recorder(HTTPServer):
    """Answers with the statuses it is given, and keeps what was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[tuple[str, str]] = []
        self.statuses: list[int] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def kubeconfig(self) -> dict[str, Any]:
        return {
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
            "clusters": [{"name": "k", "cluster": {"server": self.url}}],
            "users": [{"name": "u", "user": {"token": "secret"}}],
        }


class _Handler(BaseHTTPRequestHandler):
    server: Recorder

    def do_POST(self) -> None:
        self.server.asked.append((self.path, self.headers.get("Authorization", "")))
        self.send_response(self.server.statuses.pop(0) if self.server.statuses else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    server = Recorder()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


CHECKED = ("/scenario/check-step-phase?name=hoge-controller", "Bearer secret")


@proves("V2-073")
def test_it_takes_a_name_and_a_connection(recorder: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The path of a kubeconfig in JSON or YAML, its content, a client configuration, or KUBECONFIG."""
    in_json, in_yaml = tmp_path / "json", tmp_path / "yaml"
    in_json.write_text(json.dumps(recorder.kubeconfig))
    in_yaml.write_text(yaml.safe_dump(recorder.kubeconfig))
    monkeypatch.setenv("KUBECONFIG", str(in_json))
    of_client = SimpleNamespace(host=recorder.url, api_key={"authorization": "Bearer secret"})
    for config in (str(in_json), in_yaml, recorder.kubeconfig, of_client, None):
        check_scenario_step_phase("hoge-controller", config)
    assert recorder.asked == [CHECKED] * 5


def test_it_asks_again_until_it_may_go_on(recorder: Recorder) -> None:
    recorder.statuses = [202, 202, 200]
    next_pod("default/a", recorder.kubeconfig)
    assert [path for path, _ in recorder.asked] == ["/scenario/next-pod?pod=default%2Fa"] * 3


@proves("V2-072")
def test_the_decorator_checks_at_the_end_of_each_loop(recorder: Recorder) -> None:
    """Also of one that raises."""

    @simulation_controller("hoge-controller", recorder.kubeconfig)
    def run_once(fails: bool) -> str:
        assert recorder.asked == [CHECKED] * fails
        if fails:
            raise ValueError
        return "done"

    assert run_once(False) == "done"
    with pytest.raises(ValueError):
        run_once(True)
    assert recorder.asked == [CHECKED] * 2


def test_a_refusal_names_the_server_and_the_answer(recorder: Recorder) -> None:
    recorder.statuses = [403]
    with pytest.raises(SeatrialClientError, match="403"):
        next_pod("default/a", recorder.kubeconfig)
    with pytest.raises(SeatrialClientError, match="names no server"):
        next_pod("default/a", {})


def test_it_needs_the_standard_library_alone() -> None:
    tree = ast.parse(Path(client.__file__).read_text())
    top = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {alias.name for node in top if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "." for node in top if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names
