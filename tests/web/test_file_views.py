"""Every view of the pages that are files: at four widths in light and dark, to axe, and by keyboard."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.web.conftest import Opened, fits_and_passes_axe, settled, unreached_by_tab
from tests.web.test_command_pages import EXAMPLES, compared, seatrial, swept
from tests.web.test_pages import opened

__all__ = ["compared", "opened", "swept"]
pytestmark = pytest.mark.browser

VIEWS = [
    *(("storm", view) for view in ("play", "decision", "timeline", "workloads", "pods", "nodes")),
    ("gangs", "queues"),
    *(("compared", view) for view in ("verdict", "play", "moved", "curves")),
    ("swept", "front"),
]


@pytest.fixture(scope="module")
def storm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with preemptions."""
    folder = tmp_path_factory.mktemp("storm")
    seatrial("run", EXAMPLES / "preemption-storm/scenario.yaml", "--out", folder)
    return folder / "report.html"


@pytest.fixture(scope="module")
def gangs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of Volcano."""
    folder = tmp_path_factory.mktemp("gangs")
    seatrial("run", EXAMPLES / "volcano-idle-but-pending/scenario.yaml", "--out", folder)
    return folder / "report.html"


@pytest.mark.parametrize(("path", "view"), VIEWS)
def test_a_view_fits_passes_axe_and_is_reached_by_tab(
    path: str, view: str, opened: Callable[..., Opened], request: pytest.FixtureRequest
) -> None:
    page = opened(request.getfixturevalue(path), f"#view={view}", width=1440).page
    settled(page)
    assert unreached_by_tab(page) == []
    fits_and_passes_axe(page, f"file-{path}-{view}")


@pytest.mark.parametrize("path", ["storm", "compared"])
def test_the_help_passes_axe_and_escape_closes_it(
    path: str, opened: Callable[..., Opened], request: pytest.FixtureRequest
) -> None:
    shown = opened(request.getfixturevalue(path))
    shown.page.keyboard.press("?")
    expect(shown.page.get_by_role("dialog", name="Help")).to_be_visible()
    assert shown.serious_violations() == []
    shown.page.keyboard.press("Escape")
    expect(shown.page.get_by_role("dialog", name="Help")).to_be_hidden()
