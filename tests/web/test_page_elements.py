"""What a reader looks for on the pages: legend, filters, links to pods, steps, times, and every pod that moved."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from seatrial.results.comparison.comparison import compare
from seatrial.results.comparison.verdict import verdicts
from seatrial.web.comparison import page_parts
from seatrial.web.page import compare_page, report_page, write_page
from tests.web.conftest import Opened, create_pods, played, scenario
from tests.web.test_pages import MOST, opened

__all__ = ["opened"]
pytestmark = pytest.mark.browser

Open = Callable[..., Opened]
STEP_DURATION = "simulation.kube-scheduler-simulator.x-k8s.io/step-duration"
WIDTHS = (1440, 390)


def written(tmp_path_factory: pytest.TempPathFactory, name: str, document: dict[str, Any]) -> Path:
    path = tmp_path_factory.mktemp(name) / "report.html"
    write_page(report_page(played(document, name)), path)
    return path


@pytest.fixture(scope="module")
def six_pending(tmp_path_factory: pytest.TempPathFactory) -> Path:
    document = scenario("six-pending", 12, 60, 5, urgent=3)
    document["spec"]["operations"][-1:-1] = create_pods(5, 6, "huge", "64")
    return written(tmp_path_factory, "six", document)


@pytest.fixture(scope="module")
def one_step(tmp_path_factory: pytest.TempPathFactory) -> Path:
    document = scenario("one-step", 8, 20, 1)
    document["spec"]["operations"][-1]["step"] = 1
    return written(tmp_path_factory, "one", document)


@pytest.fixture(scope="module")
def hundred_steps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    document = scenario("hundred-steps", 30, 200, 99)
    document["metadata"]["annotations"] = {STEP_DURATION: "90s"}
    return written(tmp_path_factory, "hundred", document)


@pytest.fixture(scope="module")
def five_thousand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of 900 nodes in which 5,190 of 5,200 pods are placed elsewhere."""
    document = scenario("harbour", 900, 5200, 5)
    found = compare([played(document, "least"), played(document, "most", MOST)])
    path = tmp_path_factory.mktemp("moved") / "compare.html"
    write_page(compare_page(list(found.runs), found.moved, *page_parts(found), verdicts(found)), path)
    return path


def test_the_timeline_has_a_legend(six_pending: Path, opened: Open) -> None:
    legend = opened(six_pending, "#view=timeline").page.get_by_label("Legend of the timeline")
    for meaning in ("Operating", "create", "bind", "preempt", "unscheduled", "pod waits", "pod on a node"):
        expect(legend).to_contain_text(meaning)


def test_the_number_of_pending_pods_opens_them(six_pending: Path, opened: Open) -> None:
    page = opened(six_pending).page
    page.get_by_role("link", name="6").first.click()
    expect(page.get_by_text("6 of 69 pods")).to_be_visible()
    expect(page.get_by_role("button", name="pending 6")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("button", name="default/huge-00000")).to_be_visible()
    row = page.get_by_role("row").filter(has=page.get_by_role("button", name="default/huge-00000"))
    expect(row).to_contain_text("Insufficient cpu")


def test_a_run_without_pending_pods_offers_none(one_step: Path, opened: Open) -> None:
    page = opened(one_step, "#view=pods").page
    expect(page.get_by_role("button", name="pending 0")).to_be_disabled()
    expect(page.get_by_role("columnheader", name="Why it waits")).to_have_count(0)
    expect(page.get_by_role("columnheader", name="Preemption")).to_have_count(0)
    expect(page.locator(".headline a")).to_have_count(0)


def test_the_row_of_a_preemptor_names_its_victims(six_pending: Path, opened: Open) -> None:
    page = opened(six_pending, "#view=pods&show=preemptors").page
    expect(page.get_by_text("3 of 69 pods")).to_be_visible()
    row = page.get_by_role("row").filter(has=page.get_by_role("button", name="default/urgent-0"))
    expect(row).to_contain_text("preempted 2: pod-")
    page.get_by_role("button", name="default/urgent-0").click()
    expect(page.locator(".sentence")).to_contain_text("It preempted 2 pods: default/pod-")


def test_rejected_nodes_are_grouped_by_what_plugins_said(six_pending: Path, opened: Open) -> None:
    page = opened(six_pending, "#pod=default/huge-00000").page
    funnel = page.get_by_role("group", name="Funnel of filters")
    expect(funnel.locator(".stage").filter(has_text="NodeResourcesFit")).to_contain_text("−12: 12 Insufficient cpu")


def test_a_run_of_one_step_draws_no_curves(one_step: Path, opened: Open) -> None:
    page = opened(one_step, "#view=timeline").page
    expect(page.get_by_role("img", name="Timeline of 1 step")).to_be_visible()
    expect(page.locator(".curves")).to_have_count(0)


@pytest.mark.parametrize("width", WIDTHS)
def test_the_legend_of_a_curve_has_the_values_of_the_chosen_step(hundred_steps: Path, opened: Open, width: int) -> None:
    page = opened(hundred_steps, "#view=timeline&step=50", width=width).page
    legend = page.locator(".curves", has_text="Allocation of the cluster").locator(".legend")
    expect(legend).to_have_text("step 50cpu 52.7%memory 10.6%")


def test_a_phone_shows_the_node_of_a_pod_whole(six_pending: Path, opened: Open) -> None:
    page = opened(six_pending, "#view=pods", width=390).page
    cell = page.get_by_role("table", name="Pods").get_by_role("cell", name="node-00000").first
    assert cell.evaluate("cell => cell.scrollWidth <= cell.clientWidth")
    assert cell.evaluate("cell => cell.getBoundingClientRect().right <= innerWidth")


def test_the_address_names_the_step(hundred_steps: Path, opened: Open) -> None:
    page = opened(hundred_steps, "#step=37&view=nodes").page
    expect(page.get_by_role("heading", name="Nodes at step 37")).to_be_visible()


def test_steps_are_on_a_time_axis(hundred_steps: Path, opened: Open) -> None:
    page = opened(hundred_steps, "#view=timeline").page
    timeline = page.get_by_role("img", name="Timeline of 100 steps")
    timeline.hover(position={"x": 700, "y": 46})
    expect(page.locator(".told")).to_contain_text("after the first")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_every_page_fits_its_window(
    one_step: Path, six_pending: Path, hundred_steps: Path, five_thousand: Path, browser: Any, width: int, scheme: str
) -> None:
    for path in (one_step, six_pending, hundred_steps, five_thousand):
        view = Opened(browser, path, width=width, color_scheme=scheme)
        assert view.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
        view.keep(f"{path.parent.name.rstrip('0')}-{width}-{scheme}")
        assert not view.complaints
        assert not view.serious_violations()
        view.close()


def test_the_comparison_begins_with_its_verdict(five_thousand: Path, opened: Open) -> None:
    page = opened(five_thousand).page
    expect(page.locator(".verdict")).to_contain_text("most against least:")
    expect(page.locator(".verdict")).to_contain_text("pods went elsewhere")


def test_changed_measures_are_shown_and_equal_ones_folded(five_thousand: Path, opened: Open) -> None:
    page = opened(five_thousand).page
    expect(page.get_by_role("rowheader", name="nodes_used")).to_be_visible()
    expect(page.get_by_role("rowheader", name="pods_bound")).to_be_hidden()
    page.get_by_text("measures are equal in all runs").click()
    expect(page.get_by_role("rowheader", name="pods_bound")).to_be_visible()


def test_only_curves_that_differ_are_drawn(five_thousand: Path, opened: Open) -> None:
    page = opened(five_thousand, "#view=curves").page
    expect(page.get_by_role("img", name="Nodes in use over 6 steps")).to_be_visible()
    expect(page.get_by_role("img", name="Allocation of cpu")).to_have_count(0)
    expect(page.get_by_text("Equal in all runs: Allocation of cpu")).to_be_visible()


def test_every_moved_pod_is_found_with_its_whole_reason(five_thousand: Path, opened: Open) -> None:
    page = opened(five_thousand, "#view=moved").page
    expect(page.get_by_text("5,190 of 5,190 moved pods")).to_be_visible()
    page.get_by_role("searchbox", name="Search moved pods").fill("pod-00002")
    expect(page.get_by_text("1 of 5,190 moved pods")).to_be_visible()
    expect(page.locator(".why")).to_have_text(
        "NodeResourcesFit now prefers node-00000 by 7 (before: node-00774 by 4): node-00000 overtakes node-00774 by 7"
    )
    page.get_by_role("searchbox", name="Search moved pods").fill("pod-05199")
    expect(page.locator(".why")).to_have_text("open the pod for its decision in each run")


@pytest.mark.parametrize("width", WIDTHS)
def test_a_moved_pod_opens_its_decision_in_each_run(five_thousand: Path, opened: Open, width: int) -> None:
    page = opened(five_thousand, "#view=moved", width=width).page
    first = page.locator(".moved tbody button").first
    expect(first).to_be_visible()
    name = first.inner_text()
    first.click()
    for run in ("least", "most"):
        heading = page.get_by_role("heading", name=f"Why {name} with {run}?")
        expect(heading).to_be_visible()
    expect(page.locator(".decisions .sentence")).to_have_count(2)
    if width == 390:  # one plugin at a time is chosen there
        expect(page.get_by_label("Score of").first).to_contain_text("NodeResourcesFit")
    else:
        expect(page.get_by_role("columnheader", name="NodeResourcesFit").first).to_be_visible()
