"""A server without tokens answers loopback names only, and pages elsewhere cannot write to it."""

import asyncio
from typing import Any

import pytest

from seatrial.server.origins import OriginCheck, is_loopback


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:3131", "127.0.0.1:80", "127.9.9.9", "[::1]:443", "a.localhost"]
)
def test_a_name_of_this_machine_is_a_loopback_name(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["example.com", "127.0.0.1.example.com", "10.0.0.1", "[", "", "localhost.evil.com"])
def test_any_other_name_is_not(host: str) -> None:
    assert not is_loopback(host)


def status(method: str, check: dict[str, Any] | None = None, **headers: str) -> int:
    found: list[int] = []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        found.append(200)

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            found.append(message["status"])

    async def receive() -> dict[str, Any]:
        raise AssertionError("no body is read")

    fields = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    wrapped = OriginCheck(application, **(check or {}))
    asyncio.run(wrapped({"type": "http", "method": method, "headers": fields}, receive, send))
    return found[0]


def test_a_foreign_host_is_refused_even_for_reading() -> None:
    assert status("GET", host="evil.example:3131") == 403
    assert status("GET", host="127.0.0.1:3131") == 200


def test_a_write_from_a_page_elsewhere_is_refused() -> None:
    assert status("POST", host="127.0.0.1:3131", origin="https://evil.example") == 403
    assert status("PUT", host="127.0.0.1:3131", origin="null") == 403
    assert status("DELETE", host="127.0.0.1:3131", sec_fetch_site="cross-site") == 403
    assert status("POST", host="127.0.0.1:3131", origin="http://127.0.0.1:9999") == 403


def test_a_write_from_the_servers_own_page_or_a_client_is_answered() -> None:
    assert status("POST", host="127.0.0.1:3131", origin="http://127.0.0.1:3131") == 200
    assert status("POST", host="127.0.0.1:3131") == 200


def test_an_origin_that_was_listed_may_write() -> None:
    listed = {"origins": ["https://page.example"]}
    assert status("POST", listed, host="127.0.0.1:3131", origin="https://page.example") == 200


def test_a_server_on_another_address_answers_every_host() -> None:
    assert status("GET", {"loopback_only": False}, host="simulator.default.svc") == 200
    assert status("POST", {"loopback_only": False}, host="s.default.svc", origin="https://evil.example") == 403
