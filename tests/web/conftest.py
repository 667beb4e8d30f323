"""Pages of real runs, and a real Chromium to open them."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from seatrial.api import run as run_scenario
from seatrial.results.run import Run

SCREENSHOTS = Path(__file__).parents[2] / "screenshots"
WIDTHS = (390, 768, 1440, 2560)
GROUP = "simulation.kube-scheduler-simulator.x-k8s.io/v1alpha1"


def scenario(name: str, nodes: int, pods: int, steps: int, *, urgent: int = 0) -> dict[str, Any]:
    """Nodes in three zones, pods of four shapes spread over steps, and some that preempt at the end."""
    amounts = {"cpu": "4", "memory": "16Gi", "pods": "110"}
    operations: list[dict[str, Any]] = []
    for i in range(nodes):
        labels = {"topology.kubernetes.io/zone": f"zone-{i % 3}", "kubernetes.io/hostname": f"node-{i:05}"}
        node = {
            "metadata": {"name": f"node-{i:05}", "labels": labels},
            "status": {"allocatable": amounts, "capacity": amounts},
        }
        operations.append(_create(1, {"apiVersion": "v1", "kind": "Node", **node}))
    operations += [_create(1 + i * steps // pods, _pod(f"pod-{i:05}", f"{250 * (1 + i % 4)}m")) for i in range(pods)]
    urgency = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "urgent"},
        "value": 1000,
    }
    operations.append(_create(1, urgency))
    for i in range(urgent):
        pod = _pod(f"urgent-{i}", "3")
        pod["spec"]["priorityClassName"] = "urgent"
        operations.append(_create(steps, pod))
    operations.append({"step": steps + 1, "doneOperation": {}})
    controllers = {"simulationControllers": {"enabled": [{"name": "scheduler"}]}}
    spec = {"controllers": controllers, "operations": operations}
    return {"apiVersion": GROUP, "kind": "Scenario", "metadata": {"name": name}, "spec": spec}


def _create(step: int, document: dict[str, Any]) -> dict[str, Any]:
    return {"step": step, "createOperation": {"object": document}}


def _pod(name: str, cpu: str) -> dict[str, Any]:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu, "memory": "512Mi"}}}
    meta = {"name": name, "namespace": "default", "labels": {"app": "web"}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"containers": [container]}}


def create_pods(step: int, count: int, name: str, cpu: str) -> list[dict[str, Any]]:
    """Operations that create pods of one shape."""
    return [_create(step, _pod(f"{name}-{i:05}", cpu)) for i in range(count)]


def played(document: dict[str, Any] | Path, name: str, config: dict[str, Any] | Path | None = None) -> Run:
    result = run_scenario(document, config)
    assert result.phase == "Succeeded", result.message
    return replace(result.run, name=name)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    executable = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if executable is None:
        pytest.skip("SKIPPED: no Chromium on PATH (Debian: apt-get install chromium)")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=30_000)  # of a machine that does much else; what is there is found at once
    SCREENSHOTS.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"],
        )
        yield browser
        browser.close()


QUIET = """() => new Promise((done) => {
    let quiet = 0;
    const changes = new MutationObserver(() => (quiet = 0));
    changes.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    const frame = () => {
        const isMoving = document.getAnimations().some((each) => each.playState === "running");
        quiet = isMoving ? 0 : quiet + 1;
        if (quiet < 8) return requestAnimationFrame(frame);
        changes.disconnect();
        done();
    };
    requestAnimationFrame(frame);
})"""


def settled(page: Any) -> None:
    """Wait until eight frames in turn have changed nothing, however long a frame takes."""
    page.evaluate(QUIET)


def serious_violations(page: Any) -> list[str]:
    """What axe calls serious or worse."""
    from axe_playwright_python.sync_playwright import Axe

    return [
        f"{violation['id']}: {violation['nodes'][0]['html'][:160]}"
        for violation in Axe().run(page).response["violations"]
        if violation["impact"] in ("serious", "critical")
    ]


def fits_and_passes_axe(page: Any, name: str) -> None:
    """Look at a view at four widths in light and dark; axe reads it once in each scheme."""
    for width, scheme in product(WIDTHS, ("light", "dark")):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        settled(page)
        page.screenshot(path=SCREENSHOTS / f"{name}-{width}-{scheme}.png")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (width, scheme)
        if (width, scheme) in ((390, "light"), (1440, "dark")):
            assert serious_violations(page) == [], (width, scheme)


CONTROLS = """() => {
    const wanted = "a[href], button, input, select, textarea, summary, .editor, [tabindex='0']";
    const isControl = (each) => !each.disabled && (each.tabIndex >= 0 || each.matches(".editor"));
    const shown = [...document.querySelectorAll(wanted)].filter((each) => each.checkVisibility());
    window.unreached = new Set(shown.filter(isControl));
    return window.unreached.size;
}"""
START = """() => {
    document.body.tabIndex = -1;
    document.body.focus();
    document.body.removeAttribute("tabindex");
}"""
REACHED = """() => {
    window.unreached.delete(document.activeElement);
    return document.activeElement.matches(".editor");
}"""
UNREACHED = "() => [...window.unreached].map((each) => each.outerHTML.slice(0, 120))"


def unreached_by_tab(page: Any) -> list[str]:
    """Controls that neither Tab from the start of a page nor Shift+Tab from its end reaches.

    A long table brings more rows while Tab goes through it, so what is below it is reached from the end. Escape comes
    first in an editor, where Tab indents.
    """
    count = page.evaluate(CONTROLS)
    assert count > 0
    for key in ("Tab", "Shift+Tab"):
        page.evaluate(START)
        for _ in range(count + 8):
            page.keyboard.press(key)
            if page.evaluate(REACHED):
                page.keyboard.press("Escape")
    found: list[str] = page.evaluate(UNREACHED)
    return found


class Opened:
    """A page in the browser that remembers what its console said."""

    def __init__(self, browser: Any, path: Path, fragment: str = "", width: int = 1280, **context: Any) -> None:
        self._context = browser.new_context(viewport={"width": width, "height": 900}, **context)
        self.page = self._context.new_page()
        self.complaints: list[str] = []
        self.page.on("console", lambda message: self._hear(message))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.goto(f"file://{path}{fragment}")
        self.page.wait_for_selector("h1")

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def keep(self, name: str) -> None:
        """Keep a screenshot."""
        settled(self.page)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)

    def serious_violations(self) -> list[str]:
        """What axe calls serious or worse."""
        return serious_violations(self.page)

    def close(self) -> None:
        self._context.close()
