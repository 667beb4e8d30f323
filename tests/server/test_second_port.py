"""`seatrial serve` in a Pod: all addresses, a second port for kube-scheduler-simulator's API, other origins' pages."""

import http.client
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.outside.processes import Serve

ORIGIN = "http://localhost:3000"


@pytest.fixture(scope="module")
def ports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, int]]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        second = probe.getsockname()[1]
    flags = ("--insecure", "--bind-address", "127.0.0.1", "--simulator-port", str(second))
    origins = ("--cors-allowed-origins", f"http://other,{ORIGIN}")
    with Serve(tmp_path_factory.mktemp("serve"), *flags, *origins, "--no-scheduler", "--controllers", "") as serve:
        yield serve.port, second


def answer(port: int, method: str, path: str, **headers: str) -> tuple[int, dict[str, str]]:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.request(method, path, headers=headers)
        reply = connection.getresponse()
        reply.read()
        return reply.status, {name.lower(): value for name, value in reply.getheaders()}


def test_both_ports_serve_both_apis(ports: tuple[int, int]) -> None:
    for port in ports:
        assert answer(port, "GET", "/api/v1/nodes")[0] == 200
        assert answer(port, "GET", "/api/v1/export")[0] == 200


def test_a_page_of_a_listed_origin_may_call(ports: tuple[int, int]) -> None:
    status, headers = answer(ports[0], "GET", "/api/v1/nodes", Origin=ORIGIN)
    assert (status, headers["access-control-allow-origin"]) == (200, ORIGIN)
    status, headers = answer(ports[0], "OPTIONS", "/api/v1/nodes", Origin=ORIGIN)
    assert (status, headers["access-control-allow-methods"]) == (204, "POST, GET, OPTIONS, PUT, DELETE, PATCH")


def test_a_page_of_another_origin_may_not(ports: tuple[int, int]) -> None:
    for origin in ("http://evil", ""):
        _, headers = answer(ports[0], "GET", "/api/v1/nodes", Origin=origin)
        assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--simulator-port", "{taken}"], "--simulator-port: cannot listen on 127.0.0.1:{taken}"),
        (["--bind-address", "192.0.2.1"], "--port: cannot listen on 192.0.2.1:0"),
    ],
)
def test_an_address_that_cannot_be_used_is_named(flags: list[str], message: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        taken = str(listener.getsockname()[1])
        command = [str(Path(sys.executable).with_name("seatrial")), "serve", "--port", "0", "--insecure"]
        command += [flag.format(taken=taken) for flag in flags]
        environment = {"XDG_STATE_HOME": str(tmp_path), "HOME": str(tmp_path)}
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment, check=False)
    assert done.returncode == 2
    assert message.format(taken=taken) in done.stderr
