"""Attacks on a server process: its connections, its users' browsers, and its data directory."""

import http.client
import json
import os
import random
import resource
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.server.hardening.items import ITEMS, KEPT
from tests.server.test_process import SEATRIAL, Process, serving

MAPS = "/api/v1/namespaces/default/configmaps"
OPEN = ("--port", "0", "--insecure")


def ask(
    url: str, method: str, path: str, body: bytes | None = None, timeout: float = 120, **headers: str
) -> tuple[int, Any]:
    """The status and the JSON of an answer."""
    with closing(http.client.HTTPConnection(urlsplit(url).netloc, timeout=timeout)) as connection:
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, fields)
        answer = connection.getresponse()
        text = answer.read()
    try:
        return answer.status, json.loads(text)
    except ValueError:
        return answer.status, text


def config_map(name: str, size: int = 10) -> bytes:
    return json.dumps({"metadata": {"name": name}, "data": {"value": "v" * size}}).encode()


def create(url: str, name: str, size: int = 10) -> int:
    return ask(url, "POST", MAPS, config_map(name, size), content_type="application/json")[0]


def names(url: str) -> set[str]:
    status, found = ask(url, "GET", MAPS)
    assert status == 200
    return {item["metadata"]["name"] for item in found["items"]}


def test_a_server_without_users_answers_loopback_names_only(tmp_path: Path) -> None:
    """A page elsewhere whose name resolves to 127.0.0.1 could read the cluster otherwise."""
    with serving(tmp_path, *OPEN) as server:
        assert ask(server.url, "GET", "/version")[0] == 200
        assert ask(server.url, "GET", "/version", host="evil.example")[0] == 403


def test_a_page_elsewhere_cannot_write_to_a_server_without_users(tmp_path: Path) -> None:
    with serving(tmp_path, *OPEN) as server:
        body = config_map("stolen")
        assert ask(server.url, "POST", MAPS, body, origin="https://evil.example")[0] == 403
        assert ask(server.url, "POST", MAPS, body, sec_fetch_site="cross-site")[0] == 403
        assert "stolen" not in names(server.url)


@pytest.mark.parametrize("media", ["text/plain", "application/x-www-form-urlencoded"])
def test_a_form_of_a_page_cannot_import_a_cluster(tmp_path: Path, media: str) -> None:
    """A browser sends these types without asking first."""
    with serving(tmp_path, *OPEN) as server:
        body = json.dumps({"namespaces": [{"metadata": {"name": "stolen"}}]}).encode()
        assert ask(server.url, "POST", "/api/v1/import", body, content_type=media)[0] == 415
        assert ask(server.url, "GET", "/api/v1/namespaces/stolen")[0] == 404


def test_headers_are_limited_before_anybody_is_known(tmp_path: Path) -> None:
    with serving(tmp_path, *OPEN) as server:
        host, port = urlsplit(server.url).netloc.split(":")
        with socket.create_connection((host, int(port)), 120) as connection:
            head = b"GET /version HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n"
            filler = b"x-filler: " + b"v" * 8000 + b"\r\n"
            try:
                connection.sendall(head)
                for _ in range(200):
                    connection.sendall(filler)
                connection.sendall(b"\r\n")
            except ConnectionError:
                pass
            assert b" 431 " in connection.recv(1000).split(b"\r\n")[0]


def test_connections_are_limited_so_that_files_are_left(tmp_path: Path) -> None:
    """Without a limit no file can be opened any more: new clients wait for ever, and so does the store."""
    few = 200

    def lower() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (few, few))

    environment = os.environ | {"XDG_STATE_HOME": str(tmp_path)}
    command = [str(SEATRIAL), "serve", "--no-scheduler", "--controllers", "", *OPEN]
    started = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, preexec_fn=lower)
    try:
        assert started.stdout is not None
        url = [started.stdout.readline() for _ in range(2)][1].strip().removeprefix("ready: ")
        host, port = urlsplit(url).netloc.split(":")
        idle = [socket.create_connection((host, int(port)), 60) for _ in range(few)]
        try:
            idle[-1].sendall(b"GET /version HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
            assert b" 503 " in idle[-1].recv(1000).split(b"\r\n")[0]
        finally:
            for connection in idle:
                connection.close()
    finally:
        started.send_signal(signal.SIGTERM)
        started.wait(60)
        started.stdout and started.stdout.close()


@contextmanager
def begun(home: Path, data: Path) -> Iterator[tuple[Process | None, str]]:
    """A server on a data directory, or why it does not start."""
    errors = home / "errors"
    with errors.open("w") as stderr:
        command = [str(SEATRIAL), "serve", "--no-scheduler", "--controllers", "", *OPEN, "--data-dir", str(data)]
        environment = os.environ | {"XDG_STATE_HOME": str(home)}
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True, env=environment)
        assert process.stdout is not None
        lines = [process.stdout.readline().strip() for _ in range(2)]
        try:
            if lines[1].startswith("ready: "):
                server = Process.__new__(Process)
                server.process, server.output, server.url = process, process.stdout, lines[1].removeprefix("ready: ")
                yield server, ""
            else:
                code = process.wait(60)
                text = errors.read_text()
                assert "Traceback" not in text, text
                assert code == 2, text
                yield None, text
        finally:
            if process.poll() is None:
                process.kill()
                process.wait(60)
            process.stdout.close()


@pytest.fixture
def filled(tmp_path: Path) -> tuple[Path, set[str]]:
    """A data directory after an unclean end, and what was acknowledged."""
    data = tmp_path / "data"
    with begun(tmp_path, data) as (server, why):
        assert server is not None, why
        written = {f"kept-{number}" for number in range(30)}
        assert {create(server.url, name, 200) for name in written} == {201}
    return data, written


def check_whole(home: Path, data: Path, written: set[str]) -> None:
    """Either everything that was acknowledged is there, or the start is refused with a reason that names a file."""
    with begun(home, data) as (server, why):
        if server is None:
            assert str(data) in why, why
        else:
            assert written <= names(server.url)


@pytest.mark.parametrize("seed", range(2))
def test_a_flipped_byte_loses_nothing_in_silence(tmp_path: Path, filled: tuple[Path, set[str]], seed: int) -> None:
    data, written = filled
    files = [path for path in data.rglob("*") if path.is_file() and path.stat().st_size]
    largest = max(files, key=lambda path: path.stat().st_size)
    content = bytearray(largest.read_bytes())
    content[random.Random(seed).randrange(len(content) // 2, len(content) * 9 // 10)] ^= 0xFF
    largest.write_bytes(content)
    check_whole(tmp_path, data, written)


def test_zero_bytes_at_the_end_and_odd_files_stop_no_start(tmp_path: Path, filled: tuple[Path, set[str]]) -> None:
    data, written = filled
    folders = {path.parent for path in data.rglob("*") if path.is_file()}
    for path in [path for path in data.rglob("*") if path.is_file() and path.stat().st_size]:
        with path.open("ab") as file:
            file.write(bytes(8))
    for folder in folders:
        (folder / "notes.txt").write_text("not ours")
        (folder / "journal-x").write_bytes(b"\xff")
        (folder / "odd").mkdir()
    check_whole(tmp_path, data, written)


def test_a_full_disk_serves_nothing_that_is_not_stored(tmp_path: Path) -> None:
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("only root can mount a small file system; tests/store/durable does it with a faulty VFS, too")
    try:
        written: set[str] = set()
        with begun(tmp_path, place / "data") as (server, why):
            assert server is not None, why
            for number in range(60):
                try:
                    if create(server.url, f"kept-{number}", 40_000) == 201:
                        written.add(f"kept-{number}")
                    status, listed = ask(server.url, "GET", MAPS)
                except (ConnectionError, http.client.HTTPException):
                    break
                if status == 200:
                    shown = {item["metadata"]["name"] for item in listed["items"]}
                    assert {name for name in shown if name.startswith("kept-")} == written
        assert 0 < len(written) < 60
        subprocess.run(["mount", "-o", "remount,size=20m", str(place)], check=True)
        with begun(tmp_path, place / "data") as (server, why):
            assert server is not None, why
            found = {name for name in names(server.url) if name.startswith("kept-")}
            assert found >= written
            assert len(found) <= len(written) + 1, "a write that was refused has come back"
    finally:
        subprocess.run(["umount", "-l", str(place)], check=False)


def test_an_object_that_is_refused_stops_no_later_start(tmp_path: Path) -> None:
    data = tmp_path / "data"
    stages = "/apis/kwok.x-k8s.io/v1alpha1/stages"
    with begun(tmp_path, data) as (server, why):
        assert server is not None, why
        status, _ = ask(server.url, "POST", stages, b'{"metadata":{"name":"x"}}', content_type="application/json")
        assert 400 <= status < 500
        assert ask(server.url, "GET", f"{stages}/x")[0] == 404
    with begun(tmp_path, data) as (server, why):
        assert server is not None, why


@pytest.mark.parametrize("test", [test for tests in (ITEMS | KEPT).values() for test in tests])
def test_every_item_has_its_test(test: str) -> None:
    file, _, name = test.partition("::")
    assert f"\ndef {name}(" in (Path(__file__).parents[2] / file).read_text()
