"""`seatrial ui` in a real Chromium: a folder of runs over HTTP."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from seatrial.api import run
from tests.web.conftest import SCREENSHOTS, scenario
from tests.web.test_pages import MOST

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("runs")
    document = scenario("harbour", 12, 60, 5, urgent=3)
    for name, config in (("least", None), ("most", MOST)):
        run(document, config).save(folder / name)
    command = [str(Path(sys.executable).parent / "seatrial"), "ui", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip().removeprefix("Open in a browser: ")
        process.terminate()
        assert process.wait(60) == 0


@pytest.fixture(scope="module")
def page(browser: Any, address: str) -> Iterator[Page]:
    """One browser: the address is good for one."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    complaints: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address)
    yield page
    context.close()
    assert not complaints
    host = address.partition("/?")[0]
    assert all(url.startswith((host, "data:")) for url in asked)
    assert not any("result.json" in url for url in asked)


def home(page: Page, address: str) -> None:
    page.goto(f"{address.partition('/?')[0]}/#")
    expect(page.get_by_role("heading", name="Runs in")).to_be_visible()


def test_runs_are_listed_searched_and_opened(page: Page, address: str) -> None:
    home(page, address)
    assert "token" not in page.url
    expect(page.get_by_role("link", name="most")).to_be_visible()
    page.get_by_role("searchbox").fill("least")
    expect(page.get_by_text("1 of 2 runs")).to_be_visible()
    page.screenshot(path=SCREENSHOTS / "ui-runs.png")
    page.get_by_role("link", name="least").click()
    expect(page.get_by_role("heading", name="harbour")).to_be_visible()
    expect(page.get_by_role("img", name="Map of 12 nodes")).to_be_visible()


def test_every_decision_has_its_matrix_over_http(page: Page, address: str) -> None:
    page.goto(f"{address.partition('/?')[0]}/#run=most&decision=14")
    expect(page.locator(".where")).to_contain_text("decision 14 of")
    expect(page.get_by_role("columnheader", name="× 3")).to_be_visible()
    page.locator(".matrix").get_by_role("combobox", name="Score of").select_option("NodeResourcesFit")
    expect(page.get_by_role("columnheader", name="× 1")).to_be_visible()
    page.get_by_role("heading", name="Nodes and plugins").click()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".where")).to_contain_text("decision 15 of")
    page.get_by_role("link", name="Timeline").click()
    expect(page.get_by_role("img", name="Timeline of 6 steps")).to_be_visible()


def test_two_runs_are_compared(page: Page, address: str) -> None:
    home(page, address)
    page.get_by_role("checkbox", name="Compare least").check()
    page.get_by_role("checkbox", name="Compare most").check()
    page.get_by_role("button", name="Compare 2 runs").click()
    expect(page.locator(".verdict")).to_contain_text("most against least:")
    expect(page.get_by_role("heading", name="Who moved, and why")).to_be_visible()
    page.wait_for_url("**#compare=least,most")
    page.screenshot(path=SCREENSHOTS / "ui-compare.png")


def test_a_second_browser_is_not_let_in(browser: Any, address: str, page: Page) -> None:
    home(page, address)
    other = browser.new_context().new_page()
    answer = other.goto(address)
    assert answer.status == 401
    expect(other.get_by_text("This address was used already")).to_be_visible()
    other.context.close()
