"""`seatrial serve` as a process: its lines, its end, and what it keeps."""

import json
import os
import signal
import ssl
import stat
import subprocess
import sys
import urllib.error
import urllib.request
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from seatrial.scheduler.versions import DEFAULT
from tests.server.probing import seconds_to_end

SEATRIAL = Path(sys.executable).with_name("seatrial")


class Process:
    """A running server and the first two lines it printed."""

    def __init__(self, home: Path, *flags: str) -> None:
        command = [str(SEATRIAL), "serve", "--no-scheduler", "--controllers", "", *flags]
        environment = os.environ | {"XDG_STATE_HOME": str(home)}
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        assert self.process.stdout is not None
        self.output = self.process.stdout
        self.lines = [self.output.readline().strip() for _ in range(2)]
        self.kubeconfig = Path(self.lines[0].removeprefix("kubeconfig: "))
        self.url = self.lines[1].removeprefix("ready: ")

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        code = self.process.wait(60)
        self.output.close()
        return code

    def config(self) -> dict[str, Any]:
        config: dict[str, Any] = yaml.safe_load(self.kubeconfig.read_text())
        return config

    def get(self, path: str, token: str | None = None) -> Any:
        authority = self.config()["clusters"][0]["cluster"].get("certificate-authority-data")
        context = ssl.create_default_context(cadata=b64decode(authority).decode()) if authority else None
        token = self.config()["users"][0]["user"].get("token", "") if token is None else token
        request = urllib.request.Request(self.url + path, headers={"Authorization": f"Bearer {token}"} if token else {})
        try:
            with urllib.request.urlopen(request, context=context, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return json.load(error)


@contextmanager
def serving(home: Path, *flags: str) -> Iterator[Process]:
    server = Process(home, *flags)
    try:
        yield server
    finally:
        # Also after a kill: end closes the pipe.
        server.end()


def test_prints_two_lines_wants_a_token_and_ends_cleanly(tmp_path: Path) -> None:
    with serving(tmp_path, "--port", "0") as server:
        port = server.url.rpartition(":")[2]
        assert server.lines == [
            f"kubeconfig: {tmp_path}/seatrial/{port}/kubeconfig",
            f"ready: https://127.0.0.1:{port}",
        ]
        assert stat.S_IMODE(server.kubeconfig.stat().st_mode) == 0o600
        assert server.get("/version")["gitVersion"].startswith(f"{DEFAULT.release}+seatrial-")
        assert server.get("/version", token="")["code"] == 401
        server.process.send_signal(signal.SIGTERM)
        assert seconds_to_end(server.process) < 5
        assert server.end() == 0


def test_a_server_on_any_port_leaves_nothing_behind(tmp_path: Path) -> None:
    with serving(tmp_path, "--port", "0") as server:
        assert server.kubeconfig.parent.parent == tmp_path / "seatrial"
        server.end()
    assert list((tmp_path / "seatrial").iterdir()) == []


def test_a_server_on_a_port_of_its_own_keeps_its_token(tmp_path: Path) -> None:
    with serving(tmp_path, "--port", "0") as server:
        port = server.url.rpartition(":")[2]
    with serving(tmp_path, "--port", port) as server:
        before = server.config()
    with serving(tmp_path, "--port", port) as server:
        assert server.config() == before


def test_token_certificates_and_objects_survive_a_restart(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(tmp_path, "--port", "0", "--data-dir", str(data)) as server:
        assert server.kubeconfig == data / "kubeconfig"
        before = server.config()
        uid = server.get("/api/v1/namespaces/default")["metadata"]["uid"]
        server.end(signal.SIGKILL)
    with serving(tmp_path, "--port", server.url.rpartition(":")[2], "--data-dir", str(data)) as server:
        assert server.config() == before
        assert server.get("/api/v1/namespaces/default")["metadata"]["uid"] == uid


def test_insecure_means_plain_http_and_no_token(tmp_path: Path) -> None:
    target = tmp_path / "kubeconfig"
    with serving(tmp_path, "--port", "0", "--insecure", "--kubeconfig", str(target)) as server:
        assert server.url.startswith("http://")
        assert server.kubeconfig == target
        assert server.get("/api/v1/namespaces/default")["kind"] == "Namespace"


def test_a_port_in_use_is_an_error_of_usage(tmp_path: Path) -> None:
    with serving(tmp_path, "--port", "0") as server:
        port = server.url.rpartition(":")[2]
        second = subprocess.run(
            [str(SEATRIAL), "serve", "--port", port], capture_output=True, text=True, timeout=120, check=False
        )
    assert second.returncode == 2
    assert port in second.stderr
