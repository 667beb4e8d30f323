"""Stories of users, lived in a real Chromium from end to end."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.web.conftest import SCREENSHOTS, Opened
from tests.web.test_pages import opened

__all__ = ["opened"]
pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]


def test_a_newcomer_sees_why_urgent_preempted_and_plays_the_step(tmp_path: Path, opened: Callable[..., Opened]) -> None:
    command = [sys.executable, str(ROOT / "scripts/demo.py"), str(tmp_path)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    link = re.search(r"file://(\S+report.html)(#\S+)", printed)
    assert link is not None
    assert Path(link[1]).stat().st_size < 1_500_000
    view = opened(Path(link[1]), link[2], width=1280)
    page = view.page
    expect(page.locator(".verdict-line")).to_have_text("Succeeded done in step 12")
    answer = page.locator(".sentence")
    expect(answer).to_contain_text("It preempted 6 pods: default/cache-0050")
    assert answer.evaluate("element => element.getBoundingClientRect().bottom <= innerHeight")
    expect(page.get_by_role("group", name="Funnel of filters")).to_contain_text("−499: 499 Insufficient cpu")
    expect(page.get_by_text("Nominated node: node-001")).to_be_visible()
    page.screenshot(path=SCREENSHOTS / "play.png")
    page.get_by_role("button", name="Play").click()
    expect(page.locator(".where")).to_contain_text(re.compile(r"decision 4,(5(0[2-9]|[1-9]\d)|[6-9]\d\d) of 5,005"))
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Next step").click()
    expect(page.get_by_text("No pod waits at this moment")).to_be_visible()
    assert not view.serious_violations()


HOSTILE = "<script>alert(1)</script> <img src=x onerror=alert(2)> \u202eevil \u200f \U0001f40b " + "x" * 190


def test_hostile_names_are_text_in_every_view(tmp_path: Path, opened: Callable[..., Opened]) -> None:
    from seatrial.api import run
    from seatrial.web import page as pages
    from seatrial.web.page import write_page
    from seatrial.web.payload import payload
    from tests.web.conftest import scenario

    shown = payload(run(scenario("harbour", 4, 8, 2, urgent=1)).run)
    shown["title"] = shown["name"] = shown["message"] = HOSTILE
    shown["nodes"]["name"] = [f"{HOSTILE}{name}" for name in shown["nodes"]["name"]]
    shown["nodes"]["labels"] = [{HOSTILE: f"{HOSTILE}{place % 2}"} for place, _ in enumerate(shown["nodes"]["name"])]
    shown["nodes"]["taints"] = [[HOSTILE]] * 4
    shown["pods"]["key"] = [f"{HOSTILE}/{key}" for key in shown["pods"]["key"]]
    shown["pods"]["owner"] = [HOSTILE] * len(shown["pods"]["key"])
    shown["lanes"] = [HOSTILE] * len(shown["lanes"])
    lists = [f"{HOSTILE}{each}" if isinstance(each, str) and " " in each else each for each in shown["lists"]]
    shown["lists"] = lists
    shown["entries"]["what"] = [HOSTILE] * len(shown["entries"]["what"])
    row = dict.fromkeys(("wanted", "ready_start", "ready_min", "ready_end", "moved", "pending", "lost"), 1)
    named = dict.fromkeys(("namespace", "kind", "name", "why"), HOSTILE)
    shown["workloads"] = {"total": 1, "rows": [row | named | {"ready_min_at": None, "ready_end": 0}]}
    path = tmp_path / "report.html"
    document = {"kind": "report", "runs": [shown], "measures": [], "differences": [], "spread": [], "verdict": []}
    write_page(pages._filled(document), path)
    for width in (390, 1280):
        for view in ("", "decision", "timeline", "workloads", "pods", "nodes"):
            seen = opened(path, f"#view={view}", width=width)
            expect(seen.page.locator("h1")).to_contain_text("<script>alert(1)</script>")
            assert seen.page.locator("img, #root script").count() == 0
            assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (view, width)
