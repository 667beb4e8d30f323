"""Stories of four users with a cluster, lived in a real Chromium from end to end."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml
from playwright.sync_api import expect

from tests.web.conftest import Opened
from tests.web.live_server import SEATRIAL, create, live, paste
from tests.web.test_pages import MOST, opened

__all__ = ["opened"]
pytestmark = pytest.mark.browser

SCHEDULING = "scheduling.volcano.sh"


def test_a_user_of_kube_scheduler_simulator_makes_a_cluster_and_changes_a_weight(browser: Any, tmp_path: Path) -> None:
    with live(browser, tmp_path, accept_downloads=True) as cluster:
        page = cluster.page
        create(page, "Node", Name="small", How_many="2", CPU="4")
        create(page, "Node", Name="large", How_many="2", CPU="16", Memory="64Gi")
        create(page, "Pod", Name="first", CPU="2")
        cluster.go("kind=pods&namespace=default&name=first")
        expect(page.locator(".sentence")).to_contain_text("default/first went to large-")
        matrix = page.get_by_role("table", name="Nodes and plugins")
        expect(matrix.get_by_role("columnheader", name="NodeResourcesFit × 1")).to_be_visible()
        expect(matrix.get_by_role("row")).to_have_count(5)
        page.get_by_role("link", name="Scheduler").click()
        page.get_by_label("Weight of NodeResourcesBalancedAllocation").fill("50")
        expect(page.get_by_text("1 change not yet applied")).to_be_visible()
        expect(page.locator(".profile .changed")).to_contain_text("was 1")
        cluster.keep("live-scheduler")
        page.get_by_role("button", name="Apply").click()
        expect(page.get_by_text("Applied: the scheduler was restarted")).to_be_visible()
        create(page, "Pod", Name="second", CPU="2")
        cluster.go("kind=pods&namespace=default&name=second")
        expect(matrix.get_by_role("columnheader", name="NodeResourcesBalancedAllocation × 50")).to_be_visible()
        page.get_by_role("link", name="Import, export, reset").click()
        with page.expect_download() as download:
            page.get_by_role("link", name="Export the cluster").click()
        exported = tmp_path / "cluster.json"
        download.value.save_as(exported)
        found = orjson.loads(exported.read_bytes())
        assert sorted(pod["metadata"]["name"] for pod in found["pods"]) == ["first", "second"]
        page.get_by_role("button", name="Reset the server…").click()
        page.get_by_role("dialog").get_by_role("button", name="Reset").click()
        expect(page.get_by_text("The server is as it was when it started.")).to_be_visible()
        page.get_by_role("link", name="Cluster", exact=True).click()
        expect(page.get_by_text("This cluster has no node yet.")).to_be_visible()
        page.get_by_role("link", name="Import, export, reset").click()
        page.get_by_label("File to import").set_input_files(exported)
        expect(page.get_by_text("Imported cluster.json.")).to_be_visible()
        page.get_by_role("link", name="Cluster", exact=True).click()
        expect(page.get_by_role("img", name="Map of 4 nodes")).to_be_visible()
        cluster.check()


def test_a_wrong_configuration_is_refused_at_its_line(browser: Any, tmp_path: Path) -> None:
    with live(browser, tmp_path) as cluster:
        page = cluster.go("view=scheduler")
        editor = page.get_by_role("textbox", name="Scheduler configuration")
        text = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"
        paste(editor, f"{text}- plugins:\n    score:\n      enabled:\n      - name: NoSuchPlugin\n")
        expect(page.locator(".problems")).to_contain_text("NoSuchPlugin")
        expect(page.get_by_role("button", name="Apply")).to_be_disabled()
        paste(editor, f"{text}- plugins:\n    score:\n      disabled:\n      - name: ImageLocality\n")
        expect(page.locator(".profile .gone")).to_contain_text("ImageLocality")
        expect(page.get_by_role("button", name="Apply")).to_be_enabled()


def _fleet() -> list[dict[str, Any]]:
    """Twelve nodes of two pools, each with a small pod: two nodes would be enough."""
    amounts = {"cpu": "8", "memory": "32Gi", "pods": "110"}
    objects: list[dict[str, Any]] = []
    for number in range(12):
        name, pool = f"node-{number:02}", "blue" if number % 2 else "green"
        labels = {"kubernetes.io/hostname": name, "eks.amazonaws.com/nodegroup": pool}
        status = {"allocatable": amounts, "capacity": amounts}
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}
        objects.append({**node, "status": status})
        container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}
        meta = {"name": f"web-{number:02}", "namespace": "default", "labels": {"app": "web"}}
        spec = {"nodeName": name, "containers": [container]}
        objects.append({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec})
    return objects


def test_a_platform_engineer_finds_the_nodes_to_switch_off(tmp_path: Path, opened: Callable[..., Opened]) -> None:
    snapshot, config = tmp_path / "cluster.yaml", tmp_path / "most.yaml"
    snapshot.write_text(yaml.safe_dump_all(_fleet()))
    config.write_text(yaml.safe_dump(MOST))
    command = [str(SEATRIAL), "compare", "--snapshot", str(snapshot), "--unbind", "all"]
    command += ["--scheduler-config", str(config)]
    subprocess.run([*command, "--out", str(tmp_path)], check=True, capture_output=True)
    view = opened(tmp_path / "compare.html", width=1440)
    page = view.page
    expect(page.locator(".verdict").first).to_contain_text("10 fewer nodes")
    freed = page.get_by_role("table", name="with most").get_by_role("row").filter(has_text="blue")
    expect(freed).to_contain_text("node-03")
    for column, value in (("cpu cores", "40"), ("memory", "160Gi"), ("gpus", "0"), ("price an hour", "unknown")):
        expect(freed.locator(f"[data-run='{column}']")).to_have_text(value)
    expect(page.get_by_role("heading", name="Workloads")).to_be_visible()
    page.get_by_role("link", name="Play").click()
    page.get_by_role("slider", name="Moment of the run").press("Home")
    expect(page.locator(".where")).to_contain_text("snapshot, before the first step")
    page.get_by_role("link", name="Moved pods").click()
    moved = page.locator(".moved tbody button").first
    name = moved.inner_text()
    moved.click()
    expect(page.get_by_role("heading", name=f"Why {name} with most?")).to_be_visible()
    expect(page.locator(".decisions .sentence").last).to_contain_text("went to node-")
    view.keep("story-switch-off")


PLUGIN = """
from seatrial.plugins import Plugin


class QuietNodes(Plugin):
    def filter_one(self, pod, node):
        if pod.labels.get("app") == "broken":
            raise ValueError("no such noise: " + pod.name)
        return node.labels.get("noisy") != "true" or "node(s) were noisy"

    def score_one(self, pod, node):
        return 100 - 10 * len(node.pods)
"""


def test_a_plugin_author_sees_verdicts_and_the_line_of_an_exception(browser: Any, tmp_path: Path) -> None:
    plugin, config = tmp_path / "quiet.py", tmp_path / "scheduler.yaml"
    plugin.write_text(PLUGIN)
    enabled = {"multiPoint": {"enabled": [{"name": "QuietNodes", "weight": 3}]}}
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    config.write_text(yaml.safe_dump({**head, "profiles": [{"plugins": enabled}]}))
    with live(browser, tmp_path, "--plugins", str(plugin), "--scheduler-config", str(config)) as cluster:
        page = cluster.page
        create(page, "Node", Name="quiet", How_many="2")
        create(page, "Node", Name="noisy", How_many="2", Labels="noisy=true")
        create(page, "Pod", Name="good")
        cluster.go("kind=pods&namespace=default&name=good")
        expect(page.get_by_role("group", name="Funnel of filters")).to_contain_text("−2: 2 node(s) were noisy")
        expect(page.get_by_role("columnheader", name="QuietNodes × 3")).to_be_visible()
        create(page, "Pod", Name="bad", Labels="app=broken")
        cluster.go("kind=pods&namespace=default&name=bad")
        sentence = page.locator(".sentence, .empty").first
        expect(sentence).to_contain_text("no such noise: bad")
        expect(sentence).to_contain_text("quiet.py, line 8")
        cluster.keep("live-plugin-exception")
        cluster.check()


def test_a_user_of_volcano_sees_why_a_job_waits_and_what_a_queue_deserves(browser: Any, tmp_path: Path) -> None:
    with live(browser, tmp_path, "--volcano") as cluster:
        page = cluster.page
        create(page, "Node", Name="worker", How_many="2", CPU="4")
        shares = {"deserved": {"cpu": "6"}, "capability": {"cpu": "8"}, "guarantee": {"resource": {"cpu": "2"}}}
        version = f"{SCHEDULING}/v1beta1"
        queue = {"apiVersion": version, "kind": "Queue", "metadata": {"name": "research"}, "spec": shares}
        cluster.api("POST", f"/apis/{SCHEDULING}/v1beta1/queues", queue)
        container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "3", "memory": "1Gi"}}}
        task = {"name": "t", "replicas": 4, "template": {"spec": {"containers": [container], "restartPolicy": "Never"}}}
        spec = {"schedulerName": "volcano", "queue": "research", "minAvailable": 4, "tasks": [task]}
        meta = {"name": "train", "namespace": "default"}
        job = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": meta, "spec": spec}
        cluster.api("POST", "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs", job)
        page.get_by_role("link", name="Queues and gangs").click()
        research = page.get_by_role("article", name="Queue research")
        expect(research).to_contain_text("deserved 6 · guarantee 2 · capability 8")
        row = research.get_by_role("row").filter(has_text="default/train")
        expect(row).to_contain_text("4 pods")
        expect(row.locator(".why")).to_contain_text("not let in: resource in cluster is overused: overused cpu")
        cluster.keep("live-queues")
        cluster.check()
