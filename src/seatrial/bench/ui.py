"""`seatrial bench ui`: the pages in a real Chromium. How fast a large run opens and scrubs, and whether the live view
keeps up with a thousand changes a second.

Frames are measured in script time on the page's own thread, so that other load on the machine does not count. Opening
and the live view are measured both by that thread's time and by the clock. Needs Playwright and Chromium, which nothing
else of Seatrial does.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import typer

from seatrial.bench.figures import Figure, all_met
from seatrial.bench.scale import Scale
from seatrial.model.errors import ConfigError

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NODES, PODS, STEPS = 5_000, 20_000, 20
FRAMES = 120
CHANGES, SECONDS = 1_000, 10
"""Pods that come in each second of the live view, and for how many seconds."""
SEATRIAL = Path(sys.executable).with_name("seatrial")
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")
SCRUB = """async (i) => {
    const slider = document.querySelector("input[type=range]");
    const [from, to] = [Number(slider.min), Number(slider.max)];
    // A hand that goes back and forth over the whole run.
    const value = Math.round(from + (to - from) * Math.abs(Math.sin(i / 12)));
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(slider, value);
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    await new Promise(requestAnimationFrame);
}"""
FRAME = "() => new Promise(requestAnimationFrame)"
SHOWN = """(wanted) =>
    [...document.querySelectorAll(".tools .hint")].some((each) => each.textContent.endsWith(wanted))"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("ui")(bench_ui)


def bench_ui(scale: Scale = 1.0) -> None:
    """Measure the pages in a Chromium of this machine: opening, frames, memory, and the live view."""
    figures: list[Figure] = []
    with TemporaryDirectory(prefix="seatrial-ui-") as folder, chromium() as browser:
        figures.append(measure_demo(Path(folder)))
        figures += measure_report(browser, _report(Path(folder), scale))
        figures += measure_live(browser, Path(folder), max(1, round(CHANGES * scale)))
    for figure in figures:
        typer.echo(figure.text())
    if not all_met(figures):
        raise typer.Exit(1)


@contextmanager
def chromium() -> "Iterator[Browser]":
    """A Chromium of this machine."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise ConfigError("", "bench ui", "needs Playwright: pip install playwright") from None
    executable = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if executable is None:
        raise ConfigError("", "bench ui", "needs Chromium on PATH (Debian: apt-get install chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=list(ARGUMENTS))
        yield browser
        browser.close()


def measure_demo(folder: Path) -> Figure:
    """The size of the page that `make demo` prints a link to."""
    subprocess.run([str(SEATRIAL), "init", str(folder), "--example", "demo"], check=True, capture_output=True)
    report = _run(folder / "demo" / "scenario.yaml", folder / "demo-out")
    return Figure("report.html of the demo", report.stat().st_size / 1e6, "MB", must=1.5)


def measure_report(browser: "Browser", report: Path) -> list[Figure]:
    """Opening, scrubbing, playing and memory of a page."""
    clock, thread = [], []
    for _ in range(3):
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        spent = _spent(page, "TaskDuration")
        began = time.perf_counter()
        page.goto(report.as_uri())
        page.wait_for_selector("h1")
        clock.append(time.perf_counter() - began)
        thread.append(spent())
        if len(clock) < 3:
            page.close()
    scrubbing = script_of_frames(page, FRAMES, SCRUB)
    page.keyboard.press("Home")
    page.get_by_label("Speed").select_option("500")
    page.get_by_role("button", name="Play").click()
    playing = script_of_frames(page, FRAMES, FRAME)
    memory = tab_memory(browser, page)
    page.close()
    return [
        Figure("report.html", report.stat().st_size / 1e6, "MB", must=30),
        Figure("opens in", min(clock), "s", must=2),
        Figure("opening, the page's own thread", min(thread), "s", must=2),
        Figure("scrubbing, 95 % of frames under", scrubbing[int(0.95 * FRAMES)], "ms of script", must=16),
        Figure("playing, 95 % of frames under", playing[int(0.95 * FRAMES)], "ms of script", must=16),
        Figure("memory of the tab", memory, "MB", must=500),
    ]


def script_of_frames(page: "Page", frames: int, move: str) -> list[float]:
    """Milliseconds of script that each frame takes, the shortest first; `move` is called for each."""
    spent = _spent(page, "ScriptDuration")
    spent()
    found = []
    for frame in range(frames):
        page.evaluate(move, frame)
        found.append(spent() * 1000)
    return sorted(found)


def _spent(page: "Page", metric: str) -> Callable[[], float]:
    """Seconds that the page's own thread has spent on something since the last call."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    before = 0.0

    def since() -> float:
        nonlocal before
        metrics = {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
        last, before = before, float(metrics[metric])
        return before - last

    return since


def measure_live(browser: "Browser", folder: Path, changes: int = CHANGES, seconds: int = SECONDS) -> list[Figure]:
    """Whether the table of pods and the map keep up with so many new pods a second: how late they show them."""
    figures = []
    for name, view, ending in (("table", "kind=pods", ""), ("map", "", " pods on nodes")):
        with _served(folder / name) as address:
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.goto(f"{address}#{view}")
            page.wait_for_selector(".pill.live")
            rate, late, busy = _follow(page, address, changes, seconds, ending)
            memory = tab_memory(browser, page)
            page.close()
        figures += [
            Figure(f"live {name}: pods that came", rate, "a second", must=0.9 * changes, more_is_better=True),
            Figure(f"live {name}: shown at most", late, "s after they were written", must=1),
            Figure(f"live {name}: the pods of a second take at most", busy, "s of the page's own thread", must=1),
            Figure(f"live {name}: memory of the tab", memory, "MB", must=500),
        ]
    return figures


def _follow(page: "Page", address: str, changes: int, seconds: int, ending: str) -> tuple[float, float, float]:
    """Write pods second by second; how many came in a second, how late the page showed them, and its work, at most."""
    spent = _spent(page, "TaskDuration")
    spent()
    late, busy, began = 0.0, 0.0, time.perf_counter()
    for second in range(seconds):
        answer = page.request.post(f"{address}api/v1/import", data=_batch(second, changes))
        assert answer.ok, answer.text()
        written = time.perf_counter()
        page.wait_for_function(SHOWN, arg=f"of {(second + 1) * changes:,}{ending}", timeout=60_000)
        late, busy = max(late, time.perf_counter() - written), max(busy, spent())
        time.sleep(max(0.0, began + second + 1 - time.perf_counter()))
    return seconds * changes / (time.perf_counter() - began), late, busy


def tab_memory(browser: "Browser", page: "Page") -> float:
    """Megabytes of the process that draws a page; where the system does not tell, those of its JavaScript heap."""
    found = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
    rollups = [Path(f"/proc/{each['id']}/smaps_rollup") for each in found if each["type"] == "renderer"]
    try:
        lines = [line.split() for rollup in rollups for line in rollup.read_text().splitlines()]
        return max(int(value) for name, value, *_ in lines if name == "Pss:") / 1e3
    except (OSError, ValueError):
        return float(page.evaluate("performance.memory.usedJSHeapSize")) / 1e6


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    """A server that schedules nothing: what is measured is the page."""
    command = [str(SEATRIAL), "serve", "--port", "0", "--insecure", "--no-scheduler"]
    environment = os.environ | {"XDG_STATE_HOME": str(folder)}
    arguments = [*command, "--controllers", ""]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, env=environment) as server:
        assert server.stdout is not None
        try:
            *_, line = (server.stdout.readline() for _ in range(3))
            yield line.strip().removeprefix("Open in a browser: ")
        finally:
            server.terminate()


def _batch(number: int, pods: int) -> dict[str, Any]:
    return {"pods": [_pod(f"pod-{number}-{i}", "100m") for i in range(pods)]}


def _report(folder: Path, scale: float) -> Path:
    """The page of a run of many nodes and pods, by the command that a user types."""
    scenario = folder / "scenario.json"
    scenario.write_text(json.dumps(_scenario(max(10, round(NODES * scale)), max(20, round(PODS * scale)))))
    return _run(scenario, folder / "out")


def _run(scenario: Path, out: Path) -> Path:
    """The page of a run."""
    subprocess.run([str(SEATRIAL), "run", str(scenario), "--out", str(out)], check=True, capture_output=True)
    return out / "report.html"


def _scenario(nodes: int, pods: int) -> dict[str, Any]:
    amounts = {"cpu": "4", "memory": "16Gi", "pods": "110"}
    operations: list[dict[str, Any]] = []
    for i in range(nodes):
        metadata = {"name": f"node-{i:05}", "labels": {"topology.kubernetes.io/zone": f"zone-{i % 3}"}}
        status = {"allocatable": amounts, "capacity": amounts}
        operations.append(_create(1, {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": status}))
    operations += [_create(1 + i * STEPS // pods, _pod(f"pod-{i:05}", f"{250 * (1 + i % 4)}m")) for i in range(pods)]
    operations.append({"step": STEPS + 1, "doneOperation": {}})
    controllers = {"simulationControllers": {"enabled": [{"name": "scheduler"}]}}
    spec = {"controllers": controllers, "operations": operations}
    head = {"apiVersion": "simulation.kube-scheduler-simulator.x-k8s.io/v1alpha1", "kind": "Scenario"}
    return {**head, "metadata": {"name": "fleet"}, "spec": spec}


def _create(step: int, document: dict[str, Any]) -> dict[str, Any]:
    return {"step": step, "createOperation": {"object": document}}


def _pod(name: str, cpu: str) -> dict[str, Any]:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu, "memory": "512Mi"}}}
    meta = {"name": name, "namespace": "default", "labels": {"app": "web"}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"containers": [container]}}
