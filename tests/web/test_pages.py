"""The report and the comparison in a real Chromium."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from seatrial.api import Simulation
from seatrial.results.comparison.comparison import compare
from seatrial.results.comparison.verdict import verdicts
from seatrial.results.run import Run
from seatrial.scenario.engine.controller_registry import Registry
from seatrial.web.comparison import page_parts
from seatrial.web.page import _filled, compare_page, report_page, write_page
from seatrial.web.payload import payload
from tests.web.conftest import Opened, played, scenario

pytestmark = pytest.mark.browser

EXAMPLES = Path(__file__).parents[2] / "examples"

MOST = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {
            "pluginConfig": [
                {
                    "name": "NodeResourcesFit",
                    "args": {"scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 1}]}},
                }
            ]
        }
    ],
}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_page(report_page(played(scenario("harbour", 12, 60, 5, urgent=3), "harbour")), path)
    return path


@pytest.fixture(scope="module")
def wide_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("wide") / "report.html"
    write_page(report_page(played(scenario("ocean", 2000, 1000, 10), "ocean")), path)
    return path


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Path:
    document = scenario("harbour", 12, 60, 5)
    found = compare([played(document, "least"), played(document, "most", MOST)])
    path = tmp_path_factory.mktemp("compare") / "compare.html"
    write_page(compare_page(list(found.runs), found.moved, *page_parts(found), verdicts(found)), path)
    return path


@pytest.fixture
def opened(browser: Any) -> Iterator[Callable[..., Opened]]:
    pages: list[Opened] = []

    def open_page(path: Path, fragment: str = "", **context: Any) -> Opened:
        pages.append(Opened(browser, path, fragment, **context))
        return pages[-1]

    yield open_page
    for page in pages:
        page.close()
        assert not page.complaints


def test_the_report_shows_headline_map_queue_decision_and_timeline(report: Path, opened: Callable[..., Opened]) -> None:
    page = opened(report).page
    assert "harbour" in page.title()
    expect(page.get_by_text("Pods bound")).to_be_visible()
    expect(page.get_by_role("img", name="Map of 12 nodes")).to_be_visible()
    expect(page.get_by_role("region", name="Queue")).to_be_visible()
    expect(page.get_by_role("heading", name="Why default/urgent-")).to_be_visible()
    page.get_by_role("link", name="Timeline").click()
    expect(page.get_by_role("img", name="Timeline of 6 steps")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_accessibility_violation(report: Path, opened: Callable[..., Opened], scheme: str) -> None:
    view = opened(report, "#pod=default/urgent-0", color_scheme=scheme)
    view.keep(f"report-{scheme}")
    assert not view.serious_violations()


def test_a_phone_sees_it_without_scrolling_sideways(report: Path, browser: Any) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 800})
    page = context.new_page()
    page.goto(f"file://{report}")
    page.wait_for_selector("h1")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    context.close()


def test_pods_are_searched_and_explained(report: Path, opened: Callable[..., Opened]) -> None:
    view = opened(report, "#view=pods")
    page = view.page
    page.get_by_role("searchbox", name="Search pods").fill("pod-00007")
    expect(page.get_by_text("1 of 63 pods")).to_be_visible()
    page.get_by_role("button", name="default/pod-00007").click()
    expect(page.get_by_role("heading", name="Why default/pod-00007?")).to_be_visible()
    expect(page.locator(".sentence")).to_contain_text("went to")
    expect(page.get_by_role("columnheader", name="NodeResourcesFit")).to_be_visible()
    view.keep("report-explanation")


def test_a_tie_is_told_without_the_matrix(opened: Callable[..., Opened], tmp_path: Path) -> None:
    """A page of many attempts has the two best nodes of each, and not all scores."""
    shown = payload(played(scenario("harbour", 12, 60, 5), "harbour"), most_cells=0)
    document = {"kind": "report", "runs": [shown], "measures": [], "differences": [], "spread": [], "verdict": []}
    write_page(_filled(document), tmp_path / "report.html")
    sentence = opened(tmp_path / "report.html", "#decision=1").page.locator(".sentence")
    expect(sentence).to_contain_text("it shares the highest total")
    expect(sentence).to_contain_text("of 12 feasible nodes with others and won the tie")


def test_a_preemption_names_its_victims(report: Path, opened: Callable[..., Opened]) -> None:
    page = opened(report, "#pod=default/urgent-0&attempt=0").page
    expect(page.get_by_role("heading", name="Preemption")).to_be_visible()
    expect(page.locator(".preemption li").first).to_be_visible()


def test_an_address_reopens_the_view(report: Path, opened: Callable[..., Opened]) -> None:
    page = opened(report, "#step=2&colour=memory&group=topology.kubernetes.io/zone&pod=default/pod-00003").page
    expect(page.get_by_label("Colour by")).to_have_value("memory")
    expect(page.get_by_label("Group by")).to_have_value("topology.kubernetes.io/zone")
    expect(page.get_by_role("heading", name="Why default/pod-00003?")).to_be_visible()
    expect(page.locator(".where")).to_contain_text("step 2.")
    page.get_by_role("link", name="Nodes").click()
    expect(page.get_by_role("heading", name="Nodes at step 2")).to_be_visible()


def test_the_timeline_zooms_pans_and_chooses_a_step(report: Path, opened: Callable[..., Opened]) -> None:
    page = opened(report, "#view=timeline").page
    page.get_by_role("button", name="Zoom in").click()
    page.get_by_role("button", name="Later").click()
    page.wait_for_url("**#view=timeline&range=3.00-6.00")
    timeline = page.get_by_role("img", name="Timeline")
    timeline.click(position={"x": 300, "y": 60})
    page.wait_for_url("**&step=4.12&decision=48")
    timeline.press("ArrowLeft")
    page.wait_for_url("**&step=3.12&decision=36")


def test_the_timeline_tells_the_phases_of_a_step(report: Path, opened: Callable[..., Opened]) -> None:
    page = opened(report, "#view=timeline&range=0.00-1.00").page
    timeline = page.get_by_role("img", name="Timeline")
    timeline.hover(position={"x": 130, "y": 46})
    expect(page.get_by_text("step 1, minor step 0: Operating")).to_be_visible()
    timeline.hover(position={"x": 1100, "y": 46})
    expect(page.get_by_text(re.compile(r"minor step [1-9]\d*: ControllerRunning"))).to_be_visible()


def test_the_map_of_two_thousand_nodes_tells_of_a_node(wide_report: Path, opened: Callable[..., Opened]) -> None:
    view = opened(wide_report)
    page = view.page
    page.get_by_role("img", name="Map of 2,000 nodes").hover(position={"x": 5, "y": 6})
    expect(page.get_by_text("node-00000:")).to_be_visible()
    page.get_by_label("Group by").select_option("topology.kubernetes.io/zone")
    view.keep("report-2000-nodes")


def test_the_comparison_shows_both_and_their_difference(comparison: Path, opened: Callable[..., Opened]) -> None:
    view = opened(comparison)
    page = view.page
    expect(page.get_by_role("heading", name="least against most")).to_be_visible()
    expect(page.get_by_role("rowheader", name="nodes_used")).to_be_visible()
    expect(page.get_by_role("heading", name="Who moved, and why")).to_be_visible()
    page.get_by_role("link", name="Play").click()
    expect(page.get_by_role("img", name="Map of 12 nodes")).to_have_count(3)
    page.get_by_role("link", name="Moved pods").click()
    expect(page.get_by_text("NodeResourcesFit now prefers").first).to_be_visible()
    view.keep("compare")
    assert not view.serious_violations()


def test_pages_of_shipped_examples_open(tmp_path: Path, opened: Callable[..., Opened]) -> None:
    storm = tmp_path / "report.html"
    write_page(report_page(played(EXAMPLES / "preemption-storm" / "scenario.yaml", "storm")), storm)
    view = opened(storm)
    expect(view.page.get_by_role("term").filter(has_text="Preempted")).to_be_visible()
    view.keep("report-preemption-storm")
    saving = EXAMPLES / "node-saving"
    configs = (("default", None), ("most", saving / "scheduler.most.yaml"))
    found = compare([played(saving / "scenario.yaml", name, config) for name, config in configs])
    path = tmp_path / "compare.html"
    write_page(compare_page(list(found.runs), found.moved, *page_parts(found), verdicts(found)), path)
    view = opened(path)
    expect(view.page.get_by_role("heading", name="default against most")).to_be_visible()
    view.keep("compare-node-saving")
    assert not view.serious_violations()


def test_volcano_has_its_queues_and_jobs(tmp_path: Path, opened: Callable[..., Opened]) -> None:
    scenario_file = EXAMPLES / "volcano-idle-but-pending" / "scenario.yaml"
    Simulation(scenario_file, registry=Registry()).run().save(tmp_path)
    path = tmp_path / "report.html"
    write_page(report_page(Run.load(tmp_path)), path)
    shown = opened(path, "#view=queues")
    expect(shown.page.get_by_text("Queue default", exact=True)).to_be_visible()
    jobs = shown.page.get_by_role("table", name="Jobs")
    expect(jobs.get_by_text("2 of 2")).to_be_visible()
    expect(shown.page.get_by_role("list", name="Why jobs wait")).to_contain_text("not let in by plugin overcommit")
    assert not shown.serious_violations()
