"""The live cluster in a real Chromium: forms, the map, tables, editing; what viewers and other pages may not do."""

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.web.conftest import SCREENSHOTS, WIDTHS, settled
from tests.web.live_server import LivePage, create, listen, live, paste

pytestmark = pytest.mark.browser

POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: by-yaml\nspec:\n  containers:\n  - name: c\n    image: i\n"
SCENARIO = """apiVersion: simulation.kube-scheduler-simulator.x-k8s.io/v1alpha1
kind: Scenario
metadata: {name: tide}
spec:
  controllers: {simulationControllers: {enabled: [{name: scheduler}]}}
  operations:
  - step: 1
    createOperation:
      object:
        apiVersion: v1
        kind: Node
        metadata: {name: n}
        status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
  - step: 2
    createOperation:
      object:
        apiVersion: v1
        kind: Pod
        metadata: {name: early, namespace: default}
        spec: {containers: [{name: a, image: i}]}
"""
VIEWER = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {"name": "viewer"},
    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
    "subjects": [{"kind": "User", "name": "viewer", "apiGroup": "rbac.authorization.k8s.io"}],
}


@pytest.fixture(scope="module")
def cluster(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LivePage]:
    home = tmp_path_factory.mktemp("live")
    tokens = home / "tokens.csv"
    tokens.write_text('viewer-token,viewer,v1,""\n')
    with live(browser, home, "--token-file", str(tokens)) as found:
        yield found
        found.check()


def test_a_cluster_is_made_by_forms_and_seen_on_the_map(cluster: LivePage) -> None:
    page = cluster.page
    assert "token" not in page.url
    expect(page.get_by_text("This cluster has no node yet.")).to_be_visible()
    create(page, "Node", Name="worker", How_many="3", Labels="pool=fast")
    create(page, "Pod", Name="small", How_many="4")
    create(page, "Pod", Name="huge", How_many="1", CPU="64")
    page.get_by_role("link", name="Cluster").click()
    expect(page.get_by_role("img", name="Map of 3 nodes")).to_be_visible()
    expect(page.get_by_text("4 of 5 pods on nodes")).to_be_visible()
    expect(page.locator(".waiting")).to_contain_text("3 Insufficient cpu")
    cluster.keep("live-cluster")


def test_the_cluster_is_scrubbed_back_until_the_pill_returns_to_now(cluster: LivePage) -> None:
    page = cluster.go()
    where, slider = page.locator(".where"), page.get_by_role("slider", name="Moment of the cluster")
    expect(page.get_by_text("4 of 5 pods on nodes")).to_be_visible()
    expect(where).to_contain_text("now · 12 changes seen")
    slider.press("Home")
    expect(page.get_by_role("heading", name="0 nodes")).to_be_visible()
    page.get_by_role("button", name="Next moment").click()
    expect(page.get_by_role("img", name="Map of 3 nodes")).to_be_visible()
    expect(page.get_by_text("as it was")).to_be_visible()
    cluster.api("POST", "/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "unseen"}})
    expect(where).to_contain_text("of 12 · 1 newer")
    expect(page.get_by_role("img", name="Map of 3 nodes")).to_be_visible()
    cluster.keep("live-past")
    page.get_by_role("button", name="live", exact=True).click()
    expect(page.get_by_role("img", name="Map of 4 nodes")).to_be_visible()
    cluster.api("DELETE", "/api/v1/nodes/unseen")
    expect(where).to_contain_text("now · 14 changes seen")


def test_what_was_seen_is_played_up_to_now_by_keyboard(cluster: LivePage) -> None:
    page = cluster.go()
    expect(page.locator(".where")).to_contain_text("now · 14")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".where")).to_contain_text("change 13 of 14")
    expect(page.get_by_role("heading", name="4 nodes")).to_be_visible()
    page.get_by_label("Speed").select_option("20")
    page.get_by_role("slider", name="Moment of the cluster").press("Home")
    page.keyboard.press("Space")
    expect(page.locator(".where")).to_contain_text("now · 14")
    expect(page.get_by_role("heading", name="3 nodes")).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Help")).to_be_visible()
    page.keyboard.press("Escape")


def test_the_table_follows_what_others_do(cluster: LivePage) -> None:
    page = cluster.go("kind=nodes")
    expect(page.get_by_role("button", name="worker-2")).to_be_visible()
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "late"}}
    cluster.api("POST", "/api/v1/nodes", node)
    expect(page.get_by_role("button", name="late")).to_be_visible()
    cluster.api("DELETE", "/api/v1/nodes/late")
    expect(page.get_by_role("button", name="late")).to_have_count(0)


def test_a_node_is_cordoned_drained_and_deleted(cluster: LivePage) -> None:
    page = cluster.go("kind=nodes&name=worker-2")
    page.get_by_role("button", name="Cordon", exact=True).click()
    expect(page.get_by_role("button", name="Uncordon")).to_be_visible()
    page.get_by_role("button", name="Drain…").click()
    page.get_by_role("dialog").get_by_role("button", name="Drain").click()
    expect(page.get_by_text("Drained worker-2")).to_be_visible()
    page.get_by_role("button", name="Delete…").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("Deleted Node worker-2")).to_be_visible()
    expect(page.get_by_role("button", name="worker-2")).to_have_count(0)


def test_a_deployment_is_scaled_and_its_pods_lead_back_to_it(cluster: LivePage) -> None:
    page = cluster.go()
    create(page, "Deployment", Name="web", Replicas="2", CPU="100m")
    cluster.go("kind=deployments.apps&namespace=default&name=web")
    page.get_by_role("button", name="Scale…").click()
    page.get_by_role("dialog").get_by_label("Replicas").fill("3")
    page.get_by_role("dialog").get_by_role("button", name="Scale").click()
    expect(page.get_by_text("Scaled web to 3.")).to_be_visible()
    cluster.go("kind=pods&search=web-")
    expect(page.get_by_text("3 of ")).to_be_visible()
    page.get_by_role("button", name="web-").first.click()
    expect(page.get_by_role("table", name="Nodes and plugins")).to_be_visible()
    page.get_by_role("link", name="About").click()
    expect(page.locator(".chain")).to_contain_text("Deployment web")


def test_yaml_is_completed_checked_and_created(cluster: LivePage) -> None:
    page = cluster.go("view=create&of=configmaps")
    editor = page.get_by_role("textbox", name="YAML of new objects")
    paste(editor, POD.replace("image", "imag"))
    expect(page.locator(".problems")).to_contain_text("line 8: unknown field spec.containers[0].imag")
    paste(editor, f"{POD}  ")
    editor.press("Control+End")
    editor.press_sequentially("nodeNa")
    expect(page.locator(".cm-tooltip-autocomplete")).to_contain_text("nodeName")
    cluster.keep("live-completion")
    editor.press("Enter")
    editor.press_sequentially("worker-0")
    expect(page.locator(".problems")).to_contain_text("The server would accept this.")
    page.get_by_role("button", name="Create", exact=True).click()
    expect(page.get_by_text("Created Pod by-yaml.")).to_be_visible()


def test_an_object_is_edited_as_yaml_and_keeps_its_results(cluster: LivePage) -> None:
    page = cluster.go("kind=pods&namespace=default&name=small-0&tab=yaml")
    editor = page.get_by_role("textbox", name="YAML of the object")
    expect(editor).to_contain_text("name: small-0")
    expect(editor).not_to_contain_text("finalscore-result")
    editor.locator(".cm-line").filter(has_text="app: small").click()
    editor.press("End")
    for _ in "small":
        editor.press("Backspace")
    editor.press_sequentially("changed")
    expect(page.locator(".problems")).to_contain_text("The server would accept this.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved Pod small-0.")).to_be_visible()
    metadata = cluster.api("GET", "/api/v1/namespaces/default/pods/small-0")["metadata"]
    assert metadata["labels"]["app"] == "changed"
    assert any(key.endswith("finalscore-result") for key in metadata["annotations"])


# React renders a moment after a key, as on a machine that is busy.
BUSY = """const post = MessagePort.prototype.postMessage;
MessagePort.prototype.postMessage = function (...args) { setTimeout(() => post.apply(this, args), 60); };"""


def test_keys_land_at_the_cursor_while_the_page_is_busy_and_the_object_changes(cluster: LivePage) -> None:
    path = "/api/v1/namespaces/default/configmaps"
    document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "typed"}, "data": {"a": "1", "z": "word"}}
    cluster.api("POST", path, document)
    page = cluster.page.context.new_page()
    page.add_init_script(BUSY)
    page.goto(f"{cluster.url}/#kind=configmaps&namespace=default&name=typed&tab=yaml")
    editor = page.get_by_role("textbox", name="YAML of the object")
    editor.locator(".cm-line").filter(has_text="z: word").click()
    editor.press("End")
    cluster.api("PUT", f"{path}/typed", {**document, "data": {"a": "one\ntwo", "z": "word"}})
    expect(editor).to_contain_text("two")
    editor.press_sequentially("-and-more", delay=20)
    expect(editor.locator(".cm-line").filter(has_text="z: word-and-more")).to_be_visible()
    page.get_by_role("button", name="Undo all changes").click()
    expect(editor).not_to_contain_text("more")
    page.close()


def test_a_viewer_signs_in_and_sees_no_buttons(cluster: LivePage, browser: Any) -> None:
    cluster.api("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", VIEWER)
    context = browser.new_context(ignore_https_errors=True)
    page = context.new_page()
    page.goto(cluster.url)
    page.get_by_label("Token").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("knows no user")
    signing_in = LivePage(page, cluster.url, "")
    for width, scheme in product(WIDTHS, ("light", "dark")):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        page.screenshot(path=SCREENSHOTS / f"sign-in-{width}-{scheme}.png")
        assert signing_in.serious_violations() == [], (width, scheme)
    page.set_viewport_size({"width": 1440, "height": 900})
    page.get_by_label("Token").fill("viewer-token")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name="Pod", exact=True).click()
    with page.expect_response(lambda answer: '"delete"' in (answer.request.post_data or "")):
        page.get_by_role("button", name="small-0").click()
    expect(page.get_by_role("table", name="Nodes and plugins")).to_be_visible()
    settled(page)  # answers about rights would bring buttons
    for name in ("Delete…", "Create", "Save", "Scale…", "Create…"):
        expect(page.get_by_role("button", name=name)).to_have_count(0)
    expect(page.get_by_role("link", name="Create…")).to_have_count(0)
    page.get_by_role("link", name="Import, export, reset").click()
    expect(page.get_by_role("button", name="Reset the server…")).to_have_count(0)
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    context.close()


def test_a_scenario_runs_pauses_and_takes_operations_while_it_runs(browser: Any, tmp_path: Path) -> None:
    with live(browser, tmp_path) as cluster:
        page = cluster.go("view=scenarios")
        expect(page.get_by_role("group", name="Plan")).to_contain_text("Plan: 3 operations in 3 steps")
        editor = page.get_by_role("textbox", name="YAML of the scenario")
        text = cluster.page.evaluate("document.querySelector('.editor').shadowRoot.textContent")
        assert "doneOperation" in text
        paste(editor, SCENARIO)
        expect(page.get_by_role("group", name="Plan")).to_contain_text("Plan: 2 operations in 2 steps")
        page.get_by_role("button", name="Run", exact=True).click()
        play = page.get_by_role("article", name="Scenario tide")
        expect(play.get_by_role("status")).to_have_text("Paused")
        play.get_by_role("button", name="Add operation…").click()
        later = SCENARIO.partition("- step: 2")[2].replace("early", "late")
        play.get_by_label("Operation").fill("step: 3" + later.replace("\n    ", "\n"))
        play.get_by_role("button", name="Add", exact=True).click()
        expect(play).to_contain_text("step 3.")
        cluster.keep("live-scenarios")
        play.get_by_role("button", name="Finish").click()
        expect(play.get_by_role("status")).to_have_text("Succeeded")
        pods = cluster.api("GET", "/api/v1/namespaces/default/pods")["items"]
        assert {pod["metadata"]["name"]: pod["spec"].get("nodeName") for pod in pods} == {"early": "n", "late": "n"}
        cluster.check()


def test_the_picture_of_the_readme_is_taken(browser: Any, tmp_path: Path) -> None:
    """Twenty-four nodes in three zones, as full as their pods make them, and two pods that wait."""
    amounts = {"cpu": "8", "memory": "32Gi", "pods": "110"}
    nodes = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"node-{i:02}", "labels": {"topology.kubernetes.io/zone": f"zone-{'abc'[i % 3]}"}},
            "status": {"allocatable": amounts, "capacity": amounts},
        }
        for i in range(24)
    ]
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"web-{i:03}", "namespace": "default", "labels": {"app": "web"}},
            "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]},
        }
        for i, cpu in enumerate([*(f"{500 + i * 37 % 1900}m" for i in range(90)), "12", "16"])
    ]
    with live(browser, tmp_path) as cluster:
        cluster.api("POST", "/api/v1/import", {"nodes": nodes, "pods": pods})
        page = cluster.go("group=topology.kubernetes.io/zone")
        expect(page.get_by_text("90 of 92 pods on nodes")).to_be_visible()
        expect(page.get_by_role("heading", name="2 pods wait")).to_be_visible()
        cluster.keep("live")


class _Evil(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(b"<h1>another server of this machine</h1>")

    def log_message(self, *_: object) -> None:
        pass


ATTACK = """async ([url, method]) => {
    try {
        const node = '{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "evil"}}';
        const [mode, body] = method === "GET" ? ["cors", undefined] : ["no-cors", node];
        const answer = await fetch(url, { method, credentials: "include", mode, body });
        return answer.type === "opaque" ? "sent" : `read ${answer.status}: ${await answer.text()}`;
    } catch { return "refused"; }
}"""


@contextmanager
def another_origin(signed_in: LivePage) -> Iterator[Page]:
    """A page of another port of this machine: the same site, so that a browser does send the cookie."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Evil)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    page = signed_in.page.context.new_page()
    page.goto(f"http://127.0.0.1:{server.server_port}/")
    yield page
    page.close()
    server.shutdown()
    server.server_close()


def test_a_page_of_another_origin_neither_reads_nor_writes(cluster: LivePage) -> None:
    with another_origin(cluster) as page:
        assert page.evaluate(ATTACK, [f"{cluster.url}/api/v1/nodes", "GET"]) == "refused"
        page.evaluate(ATTACK, [f"{cluster.url}/api/v1/nodes", "POST"])
    names = [node["metadata"]["name"] for node in cluster.api("GET", "/api/v1/nodes")["items"]]
    assert "evil" not in names


def test_without_the_interface_the_api_answers_as_before(browser: Any, tmp_path: Path) -> None:
    import os
    import subprocess

    from tests.web.live_server import SEATRIAL

    environment = os.environ | {"XDG_STATE_HOME": str(tmp_path)}
    command = [str(SEATRIAL), "serve", "--port", "0", "--no-ui"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        url = [process.stdout.readline().strip() for _ in range(2)][1].removeprefix("ready: ")
        context = browser.new_context(ignore_https_errors=True)
        complaints: list[str] = []
        page = context.new_page()
        listen(page, complaints, [])
        answer = page.goto(url)
        assert answer is not None
        assert answer.status == 401
        context.close()
        process.terminate()
        assert process.stdout.read() == ""
        assert process.wait(60) == 0
