"""Every view of `seatrial ui`: at four widths in light and dark, to axe, by keyboard, and with hostile names."""

import subprocess
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import polars as pl
import pytest
from playwright.sync_api import Page, expect

from seatrial.api import run
from tests.sweeps.files import axis, write_sweep
from tests.web.conftest import fits_and_passes_axe, scenario, settled, unreached_by_tab
from tests.web.live_server import SEATRIAL, LivePage, listen
from tests.web.test_live_pages import ATTACK, another_origin
from tests.web.test_pages import MOST

pytestmark = pytest.mark.browser

NASTY = "<img src=x onerror=alert(1)> \u202eevil\u200f \U0001f40b"
LONG = "r" + "-long" * 50
HOSTILE, OTHER = quote(f"{NASTY} least"), quote(f"{NASTY} most")
RUN_VIEWS = ("", "decision", "timeline", "workloads", "pods", "nodes")
VIEWS = {
    "list": "",
    "missing": "run=gone",
    **{f"run-{view or 'play'}": f"run={HOSTILE}&view={view}" for view in RUN_VIEWS},
    **{f"compare-{view}": f"compare={HOSTILE},{OTHER}&view={view}" for view in ("verdict", "play", "moved", "curves")},
    "compare-three": f"compare={HOSTILE},{OTHER},{LONG}",
    "sweep": "sweep=tuned",
    "sweep-hostile": f"sweep={quote(NASTY)}&point=0",
}  # fmt: skip


@pytest.fixture(scope="module")
def ui(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LivePage]:
    """Runs and sweeps in folders of hostile and of very long names."""
    home = tmp_path_factory.mktemp("ui")
    folder = home / "runs"
    document = scenario("harbour", 12, 60, 5, urgent=3)
    for name, config in ((f"{NASTY} least", None), (f"{NASTY} most", MOST), (LONG, None)):
        run(document, config).save(folder / name)
    fields = {
        "axes": [axis("machines", [1, 2, 3])],
        "objectives": ["nodes_used", {"number": "pods_bound", "better": "higher"}],
    }
    command = [str(SEATRIAL), "sweep", str(write_sweep(home, **fields)), "--out", str(folder / "tuned")]
    subprocess.run([*command, "--processes", "1", "--quiet", "--keep-runs"], check=True, capture_output=True)
    (folder / NASTY).mkdir()
    columns = {"point": [0, 1], "scenario": [NASTY] * 2, f"axis.{NASTY}": [LONG] * 2, NASTY: [1.5, 2], LONG: [2, 1]}
    pl.DataFrame(columns, strict=False).write_parquet(folder / NASTY / "sweep.parquet")
    with subprocess.Popen([str(SEATRIAL), "ui", str(folder)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip().removeprefix("Open in a browser: ")
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        found = LivePage(context.new_page(), address.partition("/?")[0], "")
        listen(found.page, found.complaints, found.asked)
        found.page.goto(address)
        yield found
        context.close()
        process.terminate()
        assert process.wait(60) == 0
    found.check()


def shown(ui: LivePage, name: str) -> Page:
    """A view that has read its data."""
    page = ui.go(VIEWS[name])
    expect(page.locator("h1, [role=alert]").first).to_be_visible()
    expect(page.get_by_text("Reading the")).to_have_count(0)
    expect(page.get_by_text("Opening…")).to_have_count(0)
    settled(page)
    return page


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_shows_names_as_text_fits_its_window_and_passes_axe(ui: LivePage, name: str) -> None:
    dialogs: list[str] = []
    ui.page.once("dialog", lambda dialog: dialogs.append(dialog.message))
    page = shown(ui, name)
    fits_and_passes_axe(page, f"ui-{name}")
    assert page.locator("img, #root script").count() == 0
    assert not dialogs


@pytest.mark.parametrize("name", VIEWS)
def test_tab_reaches_every_control_of_a_view(ui: LivePage, name: str) -> None:
    ui.page.set_viewport_size({"width": 1440, "height": 900})
    assert unreached_by_tab(shown(ui, name)) == []


@pytest.mark.parametrize("name", ["list", "compare-verdict", "sweep-hostile"])
def test_markup_in_a_name_is_shown_as_it_is(ui: LivePage, name: str) -> None:
    page = shown(ui, name)
    expect(page.locator("#root").get_by_text("<img src=x onerror=alert(1)>").first).to_be_attached()


def test_a_point_of_the_front_opens_its_run_by_keyboard(ui: LivePage) -> None:
    page = shown(ui, "sweep")
    expect(page.get_by_label("Across")).to_have_value("nodes_used")
    expect(page.get_by_label("Better x")).to_have_value("lower")
    expect(page.get_by_label("Better y")).to_have_value("higher")
    expect(page.get_by_role("table", name="The front").get_by_role("button", name="Open")).to_have_count(1)
    page.get_by_role("button", name="Open the run of point").press("Enter")
    page.wait_for_url("**#run=tuned/runs/0")
    expect(page.get_by_role("heading", name="small")).to_be_visible()
    expect(page.get_by_role("img", name="Map of 1 node")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="Sweep tuned")).to_be_visible()


def test_a_point_whose_run_was_not_kept_says_how_to_keep_it(ui: LivePage) -> None:
    page = shown(ui, "sweep")
    page.get_by_role("button", name="Point 2").click()
    expect(page.locator(".sentence")).to_contain_text("machines 3")
    expect(page.locator(".sentence")).to_contain_text("--keep-runs")


def test_three_runs_are_ticked_and_compared_by_keyboard(ui: LivePage) -> None:
    page = shown(ui, "list")
    for name in ("least", "most", "r-long"):
        page.get_by_role("checkbox", name=name).press("Space")
    page.get_by_role("button", name="Compare 3 runs").press("Enter")
    expect(page.locator(".verdict")).to_have_count(2)


def test_a_page_of_another_origin_reads_no_run(ui: LivePage) -> None:
    with another_origin(ui) as page:
        for path in ("/", "/ui/api/runs", f"/ui/api/runs/{LONG}/summary"):
            assert page.evaluate(ATTACK, [f"{ui.url}{path}", "GET"]) == "refused"
