"""A page of 5,000 nodes and 20,000 pods: how fast it opens, scrubs and plays, and what it holds."""

import time
from pathlib import Path
from typing import Any

import pytest

from seatrial.web.page import report_page, write_page
from tests.web.conftest import Opened, played, scenario

pytestmark = pytest.mark.browser

SCRUB = """async (i) => {
    const slider = document.querySelector("input[type=range]");
    const [from, to] = [Number(slider.min), Number(slider.max)];
    // A hand that goes back and forth over the whole run.
    const value = Math.round(from + (to - from) * Math.abs(Math.sin(i / 12)));
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(slider, value);
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    await new Promise(requestAnimationFrame);
}"""


def script_of_frames(view: Opened, frames: int) -> list[float]:
    """Milliseconds of script that each frame of a scrub takes, in time of the page's thread: others may be busy."""
    session = view.page.context.new_cdp_session(view.page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent() -> float:
        metrics = {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
        return float(metrics["ScriptDuration"]) * 1000

    found, before = [], spent()
    for frame in range(frames):
        view.page.evaluate(SCRUB, frame)
        found.append((now := spent()) - before)
        before = now
    return sorted(found)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("fleet") / "report.html"
    write_page(report_page(played(scenario("fleet", 5000, 20000, 20), "fleet")), path)
    return path


def _seconds_to_open(browser: Any, path: Path) -> float:
    began = time.perf_counter()
    view = Opened(browser, path)
    seconds = time.perf_counter() - began
    view.close()
    return seconds


def test_it_opens_fast_and_stays_small(page: Path, browser: Any, capsys: pytest.CaptureFixture[str]) -> None:
    seconds = min(_seconds_to_open(browser, page) for _ in range(3))
    megabytes = page.stat().st_size / 1e6
    with capsys.disabled():
        print(f"\nreport of 5,000 nodes and 20,000 pods: {megabytes:.1f} MB, opens in {seconds:.2f} s")
    assert megabytes < 30
    assert seconds < 3


def test_scrubbing_keeps_most_frames_short(page: Path, browser: Any, capsys: pytest.CaptureFixture[str]) -> None:
    view = Opened(browser, page, width=1440)
    frames = script_of_frames(view, 120)
    p95 = frames[114]
    heap = view.page.evaluate("performance.memory.usedJSHeapSize") / 1e6
    view.keep("fleet-1440")
    view.close()
    with capsys.disabled():
        print(
            f"\nscrubbing: 95 % of frames under {p95:.1f} ms of script, median {frames[60]:.1f} ms; heap {heap:.0f} MB"
        )
    assert p95 < 16
    assert heap < 500
