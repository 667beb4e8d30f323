"""The player: one cursor that map, queue, decision and address follow, by mouse and by keyboard."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from seatrial.web.page import report_page, write_page
from tests.web.conftest import Opened, played, scenario
from tests.web.test_pages import opened

__all__ = ["opened"]
pytestmark = pytest.mark.browser

Open = Callable[..., Opened]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("player") / "report.html"
    write_page(report_page(played(scenario("harbour", 12, 60, 5, urgent=3), "harbour")), path)
    return path


def test_next_decision_names_its_pod_and_the_address_follows(report: Path, opened: Open) -> None:
    page = opened(report, "#step=before").page
    expect(page.locator(".where")).to_contain_text("before the first step")
    page.get_by_role("button", name="Next decision").click()
    expect(page.get_by_role("heading", name="Why default/pod-00000?")).to_be_visible()
    expect(page.locator(".sentence")).to_contain_text("default/pod-00000 went to node-")
    page.wait_for_url("**#step=1.1&decision=1")
    page.get_by_role("button", name="Next step").click()
    page.wait_for_url("**#step=1.12&decision=12")
    expect(page.get_by_text("12 pods on nodes")).to_be_visible()


def test_the_keyboard_plays_steps_searches_and_helps(report: Path, opened: Open) -> None:
    page = opened(report, "#step=before").page
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".where")).to_contain_text("decision 2 of")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".where")).to_contain_text("decision 1 of")
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(page.locator(".where")).to_contain_text(re.compile(r"decision ([2-9]|\d\d) of"))
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("urgent-1")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Why default/urgent-1?")).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Help")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Help")).to_be_hidden()


def test_the_queue_shows_who_waits_at_the_cursor(report: Path, opened: Open) -> None:
    page = opened(report, "#pod=default/urgent-0&attempt=0").page
    lane = page.locator(".queue .lane").filter(has_text="Unschedulable")
    expect(lane.get_by_role("button", name="default/urgent-0")).to_be_visible()
    page.get_by_role("button", name="2. scheduled in step 5").click()
    expect(page.locator(".sentence")).to_contain_text("went to")
    expect(lane.get_by_role("button", name="default/urgent-0")).to_have_count(0)


def test_scrubbing_back_and_forth_gives_the_same_cluster(report: Path, opened: Open) -> None:
    page = opened(report).page
    end = page.locator(".queue .sum").inner_text()
    slider = page.get_by_role("slider", name="Moment of the run")
    for moment in ("0", "100", "37", "80", slider.get_attribute("max")):
        slider.evaluate(
            """(element, value) => {
                Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(element, value);
                element.dispatchEvent(new Event("input", { bubbles: true }));
            }""",
            moment,
        )
    assert page.locator(".queue .sum").inner_text() == end


def test_a_node_that_was_rejected_tells_by_how_much(report: Path, opened: Open) -> None:
    page = opened(report, "#pod=default/urgent-0&attempt=0&view=decision").page
    page.get_by_label("Why not").fill("node-00005")
    page.get_by_role("button", name="Ask").click()
    answer = page.locator(".answer")
    expect(answer).to_contain_text("NodeResourcesFit is the first filter that rejects it: Insufficient cpu")
    expect(answer).to_contain_text("cpu is short by")


def test_two_nodes_are_compared_plugin_by_plugin(report: Path, opened: Open) -> None:
    page = opened(report, "#decision=14&view=decision").page
    rows = page.get_by_role("table", name="Nodes and plugins").get_by_role("row")
    rows.nth(1).get_by_role("button").click()
    rows.last.get_by_role("button").click()
    expect(page.locator(".duel caption")).to_contain_text("Why node-")
    expect(page.get_by_text("tied").first).to_be_attached()


def test_the_map_is_coloured_by_the_score_of_a_plugin(report: Path, opened: Open) -> None:
    page = opened(report, "#decision=14").page
    page.get_by_label("Colour by").select_option("score:NodeResourcesFit")
    expect(page.locator(".nodemap .legend")).to_contain_text("normalised score of NodeResourcesFit in this decision")
