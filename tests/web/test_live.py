"""The application of `serve` at `/`: who is let in, as whom, and which requests go on to the API."""

import asyncio
from typing import Any

import pytest

from seatrial.server import CERTIFICATE_USER
from seatrial.server.auth import ADMIN, Identities
from seatrial.store import User
from seatrial.web.live import LivePages

HOST = "127.0.0.1:3131"
VIEWER = User("viewer", ("system:authenticated",))
OWN = {"sec_fetch_site": "same-origin", "sec_fetch_mode": "cors"}


class Browser:
    """Asks the application as a browser does; the API behind it answers 200 and remembers its users."""

    def __init__(self) -> None:
        identities = Identities(b"0" * 32)
        identities.add("viewer-token", VIEWER)
        self.pages = LivePages(self._api, identities, ("https://friend.example",))
        self.users: list[User | None] = []
        self.cookie = ""
        self._body = b""

    async def _api(self, scope: Any, receive: Any, send: Any) -> None:
        self.users.append(scope.get(CERTIFICATE_USER))
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"the API"})

    def ask(self, path: str, method: str = "GET", body: str = "", **headers: str) -> tuple[int, dict[str, str], bytes]:
        path, _, query = path.partition("?")
        given = {"host": HOST, **({"cookie": self.cookie} if self.cookie else {}), **headers}
        scope = {
            "type": "http", "method": method, "path": path, "query_string": query.encode(), "scheme": "https",
            "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in given.items()],
        }  # fmt: skip
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body.encode(), "more_body": False}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        asyncio.run(self.pages(scope, receive, send))
        fields = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        return sent[0]["status"], fields, sent[1]["body"]

    def opened(self) -> "Browser":
        _, fields, _ = self.ask(f"/?token={self.pages.token}", accept="text/html")
        self.cookie = fields["set-cookie"].partition(";")[0]
        return self


@pytest.fixture
def browser() -> Browser:
    return Browser()


def test_the_token_of_the_address_is_good_once_and_becomes_a_cookie(browser: Browser) -> None:
    status, fields, _ = browser.ask(f"/?token={browser.pages.token}", accept="text/html")
    assert (status, fields["location"]) == (303, "/")
    assert fields["set-cookie"].startswith("seatrial_3131=")
    for word in ("HttpOnly", "SameSite=Strict", "Secure"):
        assert word in fields["set-cookie"]
    assert browser.ask(f"/?token={browser.pages.token}", accept="text/html")[0] == 401
    assert browser.ask("/?token=wrong", accept="text/html")[0] == 401


def test_a_session_is_a_user_of_the_api(browser: Browser) -> None:
    browser.ask("/api/v1/pods")
    browser.opened().ask("/api/v1/pods", **OWN)
    browser.ask("/api/v1/pods", "POST", **OWN)
    assert browser.users == [None, ADMIN, ADMIN]
    browser.cookie = "seatrial_3131=guessed"
    browser.ask("/api/v1/pods", **OWN)
    assert browser.users[-1] is None


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize(
    "headers",
    [
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},  # another port of this machine
        {"sec_fetch_site": "same-origin", "origin": "https://127.0.0.1:9999"},
        {"origin": "null"},
        {},
    ],
)
def test_a_page_of_another_origin_writes_nothing(browser: Browser, method: str, headers: dict[str, str]) -> None:
    assert browser.opened().ask("/api/v1/nodes", method, **headers)[0] == 403
    assert browser.ask("/ui/session", method, '{"token": "viewer-token"}', **headers)[0] == 403
    assert browser.users == []


@pytest.mark.parametrize(
    "headers",
    [
        {"sec_fetch_site": "same-site", "sec_fetch_mode": "cors"},
        {"sec_fetch_site": "cross-site", "sec_fetch_mode": "no-cors"},
        {"sec_fetch_site": "same-site", "sec_fetch_mode": "navigate", "sec_fetch_dest": "iframe"},
        {"origin": "http://evil.example"},
    ],
)
def test_a_page_of_another_origin_reads_nothing(browser: Browser, headers: dict[str, str]) -> None:
    assert browser.opened().ask("/api/v1/secrets", **headers)[0] == 403
    assert browser.users == []


def test_a_client_certificate_in_a_browser_is_no_way_around(browser: Browser) -> None:
    answered = []

    async def ask(origin: str) -> None:
        async def send(message: dict[str, Any]) -> None:
            answered.append(message.get("status"))

        headers = [(b"host", HOST.encode()), (b"origin", origin.encode()), (b"sec-fetch-site", b"cross-site")]
        scope = {"type": "http", "method": "POST", "path": "/api/v1/nodes", "headers": headers, CERTIFICATE_USER: ADMIN}
        await browser.pages(scope, None, send)

    asyncio.run(ask("https://evil.example"))
    asyncio.run(ask("https://friend.example"))  # --cors-allowed-origins
    assert answered[::2] == [403, 200]


def test_a_token_of_the_server_signs_in_as_its_user_and_out_again(browser: Browser) -> None:
    assert browser.ask("/ui/session", "POST", '{"token": "wrong"}', **OWN)[0] == 401
    assert browser.ask("/ui/session", "POST", "{", **OWN)[0] == 400
    status, fields, _ = browser.ask("/ui/session", "POST", '{"token": "viewer-token"}', **OWN)
    assert status == 204
    browser.cookie = fields["set-cookie"].partition(";")[0]
    browser.ask("/api/v1/pods", **OWN)
    assert browser.ask("/ui/session", "DELETE", **OWN)[0] == 204
    browser.ask("/api/v1/pods", **OWN)
    assert browser.users == [VIEWER, None]


def test_credentials_of_a_request_go_before_its_session(browser: Browser) -> None:
    browser.opened().ask("/api/v1/pods", "POST", authorization="Bearer other")
    browser.ask("/", authorization="Bearer other", accept="text/html")
    browser.ask("/", accept="application/json")
    assert browser.users == [None, None, ADMIN]


def test_the_page_has_a_strict_policy_and_no_inline_script(browser: Browser) -> None:
    status, fields, body = browser.ask("/", accept="text/html,*/*")
    assert status == 200
    assert "default-src 'none'; script-src 'self'; style-src 'self';" in fields["content-security-policy"]
    assert b"<style" not in body
    assert b"://" not in body
    for name in ("live.js", "app.css"):
        assert f'"/ui/{name}"'.encode() in body
        assert browser.ask(f"/ui/{name}")[0] == 200
    assert browser.ask("/ui/../sessions.py")[2] == b"the API"
