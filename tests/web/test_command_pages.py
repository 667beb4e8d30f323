"""The pages that `seatrial compare` and `seatrial sweep` write for shipped examples, in a real Chromium."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from typer.testing import CliRunner

from seatrial.cli.main import build
from tests.web.conftest import Opened

pytestmark = pytest.mark.browser

EXAMPLES = Path(__file__).parents[2] / "examples"


def seatrial(*arguments: object) -> None:
    done = CliRunner().invoke(build(), [str(argument) for argument in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """LeastAllocated, the default, against MostAllocated."""
    folder = tmp_path_factory.mktemp("compared")
    saving = EXAMPLES / "node-saving"
    configs = ("--scheduler-config", "default", "--scheduler-config", saving / "scheduler.most.yaml")
    seatrial("compare", "--scenario", saving / "scenario.yaml", *configs, "--out", folder)
    return folder / "compare.html"


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("swept")
    seatrial("sweep", EXAMPLES / "spread-or-binpack/sweep.yaml", "--out", folder, "--processes", 1)
    return folder / "sweep.html"


@pytest.fixture
def view(browser: Any, request: pytest.FixtureRequest) -> Iterator[Opened]:
    """The page of the named fixture, in light or dark."""
    page, scheme = request.param
    opened = Opened(browser, request.getfixturevalue(page), color_scheme=scheme)
    yield opened
    opened.close()
    assert not opened.complaints


def pages(name: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("view", [(name, "light"), (name, "dark")], indirect=True, ids=["light", "dark"])


@pages("compared")
def test_least_and_most_allocated_are_compared_on_a_page(view: Opened) -> None:
    page = view.page
    row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="nodes_used")).first
    expect(row).to_be_visible()
    assert {"30", "12"} <= set(row.inner_text().split())
    expect(page.get_by_text("scheduler.most").first).to_be_visible()
    expect(page.get_by_text("NodeResourcesFit now prefers").first).to_be_visible()
    expect(row).to_contain_text("better")
    view.keep("compare-command")
    assert not view.serious_violations()


@pages("swept")
def test_the_front_of_a_sweep_is_a_page(view: Opened) -> None:
    page = view.page
    expect(page.get_by_role("heading", name="Sweep spread-or-binpack")).to_be_visible()
    expect(page.get_by_role("img", name="balance_cpu over nodes_used")).to_be_visible()
    expect(page.get_by_text("Best by nodes_used: schedulerConfig scheduler.binpack.yaml")).to_be_visible()
    page.get_by_text("All 8 settings").click()
    expect(page.get_by_role("row")).to_have_count(1 + 4 + 1 + 8)
    view.keep("sweep")
    assert not view.serious_violations()


@pytest.mark.parametrize("page", ["compared", "swept"])
def test_a_phone_needs_no_scrolling_sideways(page: str, browser: Any, request: pytest.FixtureRequest) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 800})
    shown = context.new_page()
    shown.goto(f"file://{request.getfixturevalue(page)}")
    shown.wait_for_selector("h1")
    assert shown.evaluate("document.documentElement.scrollWidth <= innerWidth")
    context.close()
