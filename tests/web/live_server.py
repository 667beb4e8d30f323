"""A real `seatrial serve` and a real Chromium that has opened its printed address."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
from playwright.sync_api import Locator, Page, expect

from tests.web.conftest import SCREENSHOTS, serious_violations, settled

SEATRIAL = Path(sys.executable).with_name("seatrial")
OPEN = "Open in a browser: "


@dataclass
class LivePage:
    """A page of the server, what its console said, and whom it asked."""

    page: Page
    url: str
    token: str
    complaints: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def go(self, fragment: str = "") -> Page:
        """Open a view by its address."""
        self.page.goto(f"{self.url}/#{fragment}")
        return self.page

    def api(self, method: str, path: str, body: Any = None) -> Any:
        """Ask the API as the administrator, beside the page."""
        headers = {"authorization": f"Bearer {self.token}", "content-type": "application/json"}
        data = None if body is None else orjson.dumps(body)
        answer = self.page.request.fetch(self.url + path, method=method, headers=headers, data=data)
        assert answer.ok, answer.text()
        return answer.json() if answer.body() else None

    def keep(self, name: str) -> None:
        """Keep a screenshot."""
        settled(self.page)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png")

    def check(self) -> None:
        """The console said nothing, and no other server was asked."""
        # Chromium writes every refusal of the server to the console: dry runs are meant to be refused.
        complaints = [text for text in self.complaints if not text.startswith("Failed to load resource")]
        assert not complaints, complaints
        assert all(url.startswith((self.url, "data:", "blob:")) for url in self.asked)

    def serious_violations(self) -> list[str]:
        """What axe calls serious or worse."""
        return serious_violations(self.page)


PASTE = """(element, text) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", text);
    const how = { clipboardData, bubbles: true, cancelable: true, composed: true };
    element.dispatchEvent(new ClipboardEvent("paste", how));
}"""


def paste(editor: Locator, text: str) -> None:
    """Replace the text of an editor, as a user who pastes."""
    editor.click()
    editor.press("Control+a")
    editor.evaluate(PASTE, text)


def create(page: Page, kind: str, **values: str) -> None:
    """Fill in the form of a kind and send it."""
    page.get_by_role("link", name="Create…").click()
    page.get_by_role("group", name="What to create").get_by_role("button", name=kind, exact=True).click()
    for title, value in values.items():
        page.get_by_label(title.replace("_", " "), exact=True).fill(value)
    page.get_by_role("button", name=f"Create {kind}").click()
    expect(page.get_by_role("status").filter(has_text="Created")).to_be_visible()
    # It closes by itself after some seconds: perhaps before a slow machine can press its button.
    page.evaluate("document.querySelector('.notice button')?.click()")


def listen(page: Page, complaints: list[str], asked: list[str]) -> None:
    """Remember what a page says and asks."""
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))


@contextmanager
def live(browser: Any, home: Path, *flags: str, **context: Any) -> Iterator[LivePage]:
    """Serve, and open the printed address."""
    environment = os.environ | {"XDG_STATE_HOME": str(home)}
    command = [str(SEATRIAL), "serve", "--port", "0", *flags]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        kubeconfig, ready, address = (process.stdout.readline().strip() for _ in range(3))
        state = Path(kubeconfig.removeprefix("kubeconfig: ")).parent
        context.setdefault("viewport", {"width": 1440, "height": 900})
        opened = browser.new_context(ignore_https_errors=True, **context)
        page = opened.new_page()
        found = LivePage(page, ready.removeprefix("ready: "), (state / "token").read_text().strip())
        listen(page, found.complaints, found.asked)
        try:
            page.goto(address.removeprefix(OPEN))
            page.wait_for_selector(".app.live")
            yield found
        finally:
            opened.close()
            process.terminate()
            assert process.wait(60) == 0
