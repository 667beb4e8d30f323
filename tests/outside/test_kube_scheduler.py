"""An unmodified kube-scheduler v1.36.3 with its default configuration works on `seatrial serve`."""

import signal
from pathlib import Path

from tests.outside.objects import node, pod
from tests.outside.processes import Kubectl, KubeScheduler, Serve, wait_until

PENDING = ("get", "pods", "-A", "--field-selector=spec.nodeName=")


def all_bound(kubectl: Kubectl) -> bool:
    return not kubectl.json(*PENDING)["items"]


def test_binds_a_thousand_pods_on_a_hundred_nodes(
    programs: Path, kubectl: Kubectl, serve: Serve, tmp_path: Path
) -> None:
    kubectl.create(*(node(f"n{number}") for number in range(100)))
    kubectl.create(*(pod(f"p{number}") for number in range(1000)))
    with KubeScheduler(programs / "kube-scheduler", serve.kubeconfig, tmp_path / "log") as scheduler:
        wait_until(lambda: all_bound(kubectl), 120, "1,000 pods are bound")
        wait_until(lambda: len(kubectl.json("get", "events")["items"]) >= 1000, 60, "1,000 events are written")
        reasons = {event["reason"] for event in kubectl.json("get", "events")["items"]}
        lease = kubectl.json("get", "lease", "-n", "kube-system", "kube-scheduler")
    assert "Scheduled" in reasons
    assert lease["spec"]["holderIdentity"]
    assert "Failed to watch" not in scheduler.log


def test_preempts(programs: Path, kubectl: Kubectl, serve: Serve, tmp_path: Path) -> None:
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000}
    kubectl.create(node("n", cpu="2"), high, pod("victim", cpu="2"))
    with KubeScheduler(programs / "kube-scheduler", serve.kubeconfig, tmp_path / "log") as scheduler:
        wait_until(lambda: all_bound(kubectl), 60, "the victim is bound")
        kubectl.create(pod("preemptor", cpu="2", priorityClassName="high"))
        wait_until(lambda: _is_marked(kubectl), 60, "the victim is told to go")
        kubectl.run("delete", "pod", "victim", "--grace-period=0", "--force")
        wait_until(lambda: all_bound(kubectl), 60, "the preemptor is bound")
        reasons = {event["reason"] for event in kubectl.json("get", "events")["items"]}
    assert "Preempted" in reasons
    assert "Failed to watch" not in scheduler.log


def _is_marked(kubectl: Kubectl) -> bool:
    victims = [item for item in kubectl.json("get", "pods")["items"] if item["metadata"]["name"] == "victim"]
    return not victims or "deletionTimestamp" in victims[0]["metadata"]


def test_goes_on_when_the_server_is_killed_and_started_again(
    programs: Path, kubectl: Kubectl, serve: Serve, tmp_path: Path
) -> None:
    kubectl.create(node("n1"), node("n2"), pod("before"))
    with KubeScheduler(programs / "kube-scheduler", serve.kubeconfig, tmp_path / "log"):
        wait_until(lambda: all_bound(kubectl), 60, "the first pod is bound")
        before = kubectl.json("get", "pod", "before")
        serve.stop(signal.SIGKILL)
        serve.start()
        assert kubectl.json("get", "pod", "before") == before
        kubectl.create(pod("after"))
        wait_until(lambda: all_bound(kubectl), 90, "the second pod is bound")
