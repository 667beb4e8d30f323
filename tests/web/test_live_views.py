"""Every view of the live pages: at four widths in light and dark, to axe, by keyboard, and with hostile names."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.web.conftest import fits_and_passes_axe, serious_violations, settled, unreached_by_tab
from tests.web.live_server import LivePage, live

pytestmark = pytest.mark.browser

NASTY = "<script>alert(1)</script><img src=x onerror=alert(2)> \u202eevil\u200f \U0001f40b"
LONG = "n" + "-long" * 50 + "er"
VIEWS = {
    "cluster": "",
    "pods": "kind=pods",
    "nodes": "kind=nodes",
    "crds": "kind=wrecks.evil.example",
    "pod": f"kind=pods&namespace=default&name={LONG}",
    "pod-about": f"kind=pods&namespace=default&name={LONG}&tab=about",
    "pod-events": f"kind=pods&namespace=default&name={LONG}&tab=events",
    "pod-yaml": f"kind=pods&namespace=default&name={LONG}&tab=yaml",
    "node": f"kind=nodes&name={LONG}",
    "deployments": "kind=deployments.apps",
    "deployment": "kind=deployments.apps&namespace=default&name=web&tab=about",
    "create-node": "view=create&of=nodes",
    "create": "view=create&of=pods",
    "create-deployment": "view=create&of=deployments.apps",
    "yaml": "view=create&of=configmaps",
    "scheduler": "view=scheduler",
    "scenarios": "view=scenarios",
    "queues": "view=queues",
    "data": "view=data",
}


def _definition() -> dict[str, Any]:
    """A kind whose printed columns carry what its objects say."""
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    columns = [{"name": NASTY[:60], "type": "string", "jsonPath": ".spec.said"}]
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": free}}
    names = {"plural": "wrecks", "singular": "wreck", "kind": "Wreck"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "wrecks.evil.example"},
        "spec": {
            "group": "evil.example",
            "scope": "Cluster",
            "names": names,
            "versions": [{**version, "additionalPrinterColumns": columns}],
        },
    }


@pytest.fixture(scope="module")
def cluster(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LivePage]:
    """Objects whose every free field has markup, and names as long as they may be."""
    with live(browser, tmp_path_factory.mktemp("views"), "--volcano") as found:
        amounts = {"cpu": "4", "memory": "16Gi", "pods": "110"}
        for name in (LONG, "plain"):
            meta = {"name": name, "labels": {"pool": "a"}, "annotations": {"said": NASTY}}
            status = {
                "allocatable": amounts,
                "capacity": amounts,
                "conditions": [{"type": "Ready", "status": "True", "reason": NASTY, "message": NASTY}],
            }
            taints = [{"key": "said", "value": "so", "effect": "PreferNoSchedule"}]
            node = {"apiVersion": "v1", "kind": "Node", "metadata": meta, "spec": {"taints": taints}, "status": status}
            found.api("POST", "/api/v1/nodes", node)
        for name, cpu in ((LONG, "1"), ("huge", "64")):
            container = {"name": "c", "image": NASTY, "resources": {"requests": {"cpu": cpu}}}
            pod = {"metadata": {"name": name, "annotations": {"said": NASTY}}, "spec": {"containers": [container]}}
            found.api("POST", "/api/v1/namespaces/default/pods", {"apiVersion": "v1", "kind": "Pod", **pod})
        uid = found.api("GET", f"/api/v1/namespaces/default/pods/{LONG}")["metadata"]["uid"]
        about = {"kind": "Pod", "namespace": "default", "name": LONG, "uid": uid, "apiVersion": "v1"}
        event = {
            "metadata": {"name": "e"},
            "involvedObject": about,
            "reason": NASTY,
            "message": NASTY,
            "type": "Normal",
        }
        found.api("POST", "/api/v1/namespaces/default/events", {"apiVersion": "v1", "kind": "Event", **event})
        found.api("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", _definition())
        wreck = {"apiVersion": "evil.example/v1", "kind": "Wreck", "metadata": {"name": "w"}, "spec": {"said": NASTY}}
        found.api("POST", "/apis/evil.example/v1/wrecks", wreck)
        template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        spec = {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template}
        web = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}
        found.api("POST", "/apis/apps/v1/namespaces/default/deployments", web)
        found.page.reload()
        found.page.wait_for_selector(".app.live")
        yield found
        found.check()


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_shows_names_as_text_fits_its_window_and_passes_axe(cluster: LivePage, name: str) -> None:
    page = cluster.page
    dialogs: list[str] = []
    page.once("dialog", lambda dialog: dialogs.append(dialog.message))
    cluster.go(VIEWS[name])
    expect(page.locator("main h2").first).to_be_visible()
    expect(page.locator(".pill.loading")).to_have_count(0)
    fits_and_passes_axe(page, f"view-{name}")
    assert page.locator("img, #root script").count() == 0
    assert not dialogs


@pytest.mark.parametrize("name", VIEWS)
def test_tab_reaches_every_control_of_a_view(cluster: LivePage, name: str) -> None:
    page = cluster.page
    page.set_viewport_size({"width": 1440, "height": 900})
    cluster.go(VIEWS[name])
    expect(page.locator("main h2").first).to_be_visible()
    expect(page.locator(".pill.loading")).to_have_count(0)
    settled(page)
    assert unreached_by_tab(page) == []


@pytest.mark.parametrize(
    ("name", "button"),
    [("pods", "Help"), ("pod-about", "Delete…"), ("deployment", "Scale…"), ("data", "Reset the server…")],
)
def test_a_dialog_passes_axe_and_escape_closes_it(cluster: LivePage, name: str, button: str) -> None:
    page = cluster.go(VIEWS[name])
    page.get_by_role("button", name=button).first.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert serious_violations(page) == []
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


@pytest.mark.parametrize("name", ["crds", "pod-events", "pod-yaml", "node"])
def test_markup_in_a_field_is_shown_as_it_is(cluster: LivePage, name: str) -> None:
    cluster.page.set_viewport_size({"width": 1440, "height": 900})
    page = cluster.go(VIEWS[name])
    expect(page.locator("main").get_by_text("<script>alert(1)</script>").first).to_be_visible()


def test_a_pod_is_opened_and_left_by_keyboard_alone(cluster: LivePage) -> None:
    page = cluster.go("kind=pods")
    expect(page.get_by_role("button", name="huge")).to_be_visible()
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Find a kind")).to_be_focused()
    page.get_by_role("button", name="huge").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".sentence")).to_contain_text("default/huge was not placed")
    page.get_by_role("link", name="About").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".facts").first).to_be_visible()
    page.get_by_role("button", name="Delete…").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("link", name="YAML").press("Enter")
    editor = page.get_by_role("textbox", name="YAML of the object")
    editor.focus()
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(editor).not_to_be_focused()
