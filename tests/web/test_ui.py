"""The server of `seatrial ui`: who may read, and what is answered."""

import asyncio
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import orjson
import pytest

from seatrial.api import run
from seatrial.web.library import Library, binary
from seatrial.web.ui import RunPages
from tests.scenario.playing import create, done, operations, scenario
from tests.scenario.running import node, pod

HOST = "127.0.0.1:4000"
COOKIE = "seatrial_4000"
"""Browsers send a cookie to every port of a host, so its name has the port."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three runs, one of them in a folder of a folder and with pods that are too large."""
    folder = tmp_path_factory.mktemp("runs")
    for name, cpu in (("one", "1"), ("deep/two", "64"), ("three", "1")):
        pods = [create(1, pod(f"p{number}", cpu=cpu)) for number in range(3)]
        document = scenario(operations(create(1, node("n1")), create(1, node("n2")), *pods, done(2)))
        run(document).save(folder / name)
    return folder


class Browser:
    """Asks the application as a browser does."""

    def __init__(self, folder: Path) -> None:
        self.pages = RunPages(Library(folder))
        self.cookie = ""

    def get(self, path: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], bytes]:
        path, _, query = path.partition("?")
        given = {"host": HOST, **({"cookie": self.cookie} if self.cookie else {}), **headers}
        scope = {
            "type": "http", "method": method, "path": unquote(path), "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in given.items()],
        }  # fmt: skip
        sent: list[dict[str, Any]] = []

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        asyncio.run(self.pages(scope, None, send))
        fields = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        return sent[0]["status"], fields, sent[1]["body"]

    def let_in(self) -> "Browser":
        _, fields, _ = self.get(f"/?token={self.pages.token}")
        self.cookie = fields["set-cookie"].partition(";")[0]
        return self


@pytest.fixture
def browser(folder: Path) -> Browser:
    return Browser(folder)


def test_the_token_of_the_address_is_good_once_and_becomes_a_cookie(browser: Browser) -> None:
    status, fields, _ = browser.get(f"/?token={browser.pages.token}")
    assert (status, fields["location"]) == (303, "/")
    assert fields["set-cookie"].startswith(f"{COOKIE}=")
    assert "HttpOnly" in fields["set-cookie"]
    assert "SameSite=Strict" in fields["set-cookie"]
    assert browser.get(f"/?token={browser.pages.token}")[0] == 401


@pytest.mark.parametrize("path", ["/", "/ui/app.js", "/ui/api/runs", "/?token=wrong", "/ui/api/runs/one/summary"])
def test_nothing_is_answered_without_the_cookie(browser: Browser, path: str) -> None:
    assert browser.get(path)[0] == 401
    browser.cookie = f"{COOKIE}=guessed"
    assert browser.get(path)[0] == 401


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example:4000"},
        {"origin": "http://evil.example"},
        {"sec_fetch_site": "cross-site", "sec_fetch_mode": "cors"},
        {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate", "sec_fetch_dest": "iframe"},
    ],
)
def test_pages_of_other_origins_read_nothing(browser: Browser, headers: dict[str, str]) -> None:
    assert browser.let_in().get("/ui/api/runs", **headers)[0] == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_nothing_can_be_written(browser: Browser, method: str) -> None:
    assert browser.let_in().get("/ui/api/runs", method)[0] == 405


def test_pages_have_a_strict_policy_and_no_inline_script(browser: Browser) -> None:
    status, fields, body = browser.let_in().get("/")
    assert status == 200
    assert "script-src 'self';" in fields["content-security-policy"]
    assert "default-src 'none'" in fields["content-security-policy"]
    assert b"<script type" in body
    assert b"<style" not in body
    assert b"://" not in body


def test_runs_are_listed_with_their_verdicts(browser: Browser) -> None:
    found = orjson.loads(browser.let_in().get("/ui/api/runs")[2])
    assert sorted(each["id"] for each in found["runs"]) == ["deep/two", "one", "three"]
    assert {each["phase"] for each in found["runs"]} == {"Succeeded"}


@pytest.mark.parametrize("path", ["..", "%2Fetc", "one%2F..%2F..", "missing"])
def test_only_runs_of_the_list_are_read(browser: Browser, path: str) -> None:
    assert browser.let_in().get(f"/ui/api/runs/{path}/summary")[0] == 404


def test_a_decision_is_read_by_its_number(browser: Browser) -> None:
    browser.let_in()
    found = orjson.loads(browser.get("/ui/api/runs/deep%2Ftwo/decisions/0")[2])
    lists, cells = found["lists"], found["detail"]["cells"]
    assert lists[cells["nodes"]] == ["n1", "n2"]
    assert found["verdicts"][0][0] == "NodeResourcesFit"
    assert browser.get("/ui/api/runs/one/decisions/99")[0] == 404
    assert browser.get("/ui/api/runs/one/decisions/x")[0] == 400


def test_two_runs_are_compared(browser: Browser) -> None:
    found = orjson.loads(browser.let_in().get("/ui/api/compare?run=one&run=three")[2])
    assert found["differences"] == []
    assert "three" in found["verdict"][0]
    assert {row["measure"] for row in found["measures"]} >= {"nodes_used", "pods_bound"}


def test_attempts_are_sent_in_ranges_of_binary_columns(browser: Browser) -> None:
    body = browser.let_in().get("/ui/api/runs/one/attempts?from=1&to=3")[2]
    head = orjson.loads(body[4 : 4 + int.from_bytes(body[:4], "little")])
    assert head["total"] == 3
    assert head["attempts"]["pod"] == [1, 2]


def test_a_run_of_volcano_sends_its_attempts_and_each_decision(tmp_path: Path) -> None:
    """Its attempts have matrices without a node, so texts and lists of numbers stand in one list."""
    example = Path(__file__).parents[2] / "examples" / "volcano-idle-but-pending" / "scenario.yaml"
    run(example).save(tmp_path / "gang")
    browser = Browser(tmp_path).let_in()
    status, _, body = browser.get("/ui/api/runs/gang/attempts?from=0&to=100")
    assert status == 200
    head = orjson.loads(body[4 : 4 + int.from_bytes(body[:4], "little")])
    assert head["total"] > 0
    assert all(browser.get(f"/ui/api/runs/gang/decisions/{number}")[0] == 200 for number in range(head["total"]))


def test_a_list_of_texts_and_numbers_keeps_its_order() -> None:
    body = binary({"lists": ["text", np.arange(8)]})
    head = orjson.loads(body[4 : 4 + int.from_bytes(body[:4], "little")])
    assert head["lists"] == ["text", {"column": ["i4", 0, 8]}]


def test_columns_begin_at_multiples_of_eight() -> None:
    numbers, large = list(range(9)), [2**40] * 8
    body = binary({"a": numbers, "b": np.array(large), "c": [[1] * 8], "d": "text"})
    size = int.from_bytes(body[:4], "little")
    head, base = orjson.loads(body[4 : 4 + size]), -(-(4 + size) // 8) * 8
    assert head["d"] == "text"
    assert head["c"][0]["column"][0] == "i4"
    for name, kind, expected in (("a", "<i4", numbers), ("b", "<f8", large)):
        _, offset, length = head[name]["column"]
        assert np.frombuffer(body, kind, length, base + offset).tolist() == expected
