"""Pods that have one name one after the other: the pages explain each by its own attempts."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from seatrial.results.comparison.comparison import compare
from seatrial.results.comparison.verdict import verdicts
from seatrial.web.comparison import page_parts
from seatrial.web.page import compare_page, report_page, write_page
from tests.scenario.playing import create, delete, done, operations
from tests.scenario.playing import scenario as scenario_of
from tests.scenario.running import node, pod
from tests.web.conftest import Opened, played
from tests.web.test_pages import MOST, opened

__all__ = ["opened"]
pytestmark = pytest.mark.browser

Open = Callable[..., Opened]


def name_used_again() -> dict[str, Any]:
    """The first pod of the name has a choice of two nodes, the second can use a third one alone."""
    bound_to_n3 = pod("a", nodeSelector={"kubernetes.io/hostname": "n3"})
    items = [
        create(1, node("n1", cpu="2")), create(1, node("n2", cpu="8")), create(2, pod("a")), delete(3, pod("a")),
        create(4, node("n3")), create(4, bound_to_n3), done(5),
    ]  # fmt: skip
    return scenario_of(operations(*items))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_page(report_page(played(name_used_again(), "reused")), path)
    return path


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = compare([played(name_used_again(), "least"), played(name_used_again(), "most", MOST)])
    path = tmp_path_factory.mktemp("compare") / "compare.html"
    write_page(compare_page(list(found.runs), found.moved, *page_parts(found), verdicts(found)), path)
    return path


def test_a_moved_pod_is_explained_by_its_own_attempts(comparison: Path, opened: Open) -> None:
    page = opened(comparison, "#view=moved").page
    page.get_by_role("button", name="default/a").click()
    sentences = page.locator(".decisions .sentence")
    expect(sentences.nth(0)).to_contain_text("default/a went to n2")
    expect(sentences.nth(1)).to_contain_text("default/a went to n1")
    expect(page.get_by_role("heading", name="Why default/a with least? (1 of 2 pods of this name)")).to_be_visible()
    page.wait_for_url("**#view=moved&pod=default/a&life=1")
    page.get_by_role("button", name="default/a").click()
    expect(sentences).to_have_count(0)


def test_each_row_of_a_name_opens_its_own_pod(report: Path, opened: Open) -> None:
    page = opened(report, "#view=pods").page
    rows = page.get_by_role("table", name="Pods").get_by_role("button", name="default/a")
    rows.nth(0).click()
    expect(page.locator(".sentence")).to_contain_text("default/a went to n2")
    expect(page.get_by_role("heading", name="Why default/a? (1 of 2 pods of this name)")).to_be_visible()
    page.get_by_role("link", name="Pods").click()
    rows.nth(1).click()
    expect(page.locator(".sentence")).to_contain_text("default/a went to n3")


@pytest.mark.parametrize(("fragment", "went_to"), [("life=1", "n2"), ("life=2", "n3"), ("", "n3")])
def test_an_address_names_a_pod_of_a_name(report: Path, opened: Open, fragment: str, went_to: str) -> None:
    page = opened(report, f"#pod=default/a&{fragment}").page
    expect(page.locator(".sentence")).to_contain_text(f"default/a went to {went_to}")
    page.get_by_role("link", name="Pods").click()
    expect(page.get_by_role("table", name="Pods").locator("[aria-selected=true]")).to_have_count(1)
