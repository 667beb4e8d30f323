"""Kubelets refuse pods that do not fit, and give the others addresses."""

from typing import Any

import pytest

from seatrial.clock.virtual import Clock
from seatrial.control_plane.kubelet.pods import BURST, RATE, SimulatedKubelet
from seatrial.controllers.framework.events import EventRecorder
from seatrial.controllers.registry import build_controllers
from seatrial.model.times import SECOND
from seatrial.scenario.cluster import fresh_store
from seatrial.store.options import DeleteOptions
from tests.controllers.objects import pod, stage
from tests.known_kinds import known_kind

NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n", "labels": {"disk": "ssd"}},
    "spec": {"podCIDR": "10.128.0.0/24", "podCIDRs": ["10.128.0.0/24"]},
    "status": {
        "allocatable": {"cpu": "1", "memory": "4Gi", "pods": "3"},
        "addresses": [{"type": "InternalIP", "address": "172.16.0.2"}],
    },
}


class Kubelets:
    """A node and its pods."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.store = fresh_store(self.clock)
        self.kubelet = SimulatedKubelet(self.store, self.clock, EventRecorder(self.store, self.clock))
        self.kubelet.start()
        self.pods = known_kind(self.store.kinds, "v1", "Pod")
        self.store.create(known_kind(self.store.kinds, "v1", "Node"), NODE, writer="user:test")
        self.controllers = build_controllers(self.store, self.clock, ["pod"], kubelet=self.kubelet)
        for controller in self.controllers:
            controller.start()

    def run(self, name: str, **spec: Any) -> dict[str, Any]:
        """A pod bound to the node from the start; its status once it was looked at."""
        made = pod(name, nodeName="n")
        container = made["spec"]["containers"][0]
        container |= {key: spec.pop(key) for key in ("resources", "ports", "lifecycle") if key in spec}
        made["spec"] |= spec
        self.store.create(self.pods, made, namespace="default", writer="user:test")
        return self.status(name)

    def status(self, name: str) -> dict[str, Any]:
        self.work()
        status: dict[str, Any] = self.store.get(self.pods, name, "default").document()["status"]
        return status

    def work(self) -> None:
        while any(controller.work() for controller in self.controllers):
            pass

    def events(self) -> list[tuple[str, str]]:
        kind = known_kind(self.store.kinds, "v1", "Event")
        found = [stored.document() for stored in self.store.list(kind)]
        return [(event["reason"], event["message"]) for event in found]


@pytest.fixture
def kubelets() -> Kubelets:
    return Kubelets()


def requests(**amounts: str) -> dict[str, Any]:
    return {"requests": amounts}


def test_a_pod_gets_the_address_of_its_node_and_one_of_its_range(kubelets: Kubelets) -> None:
    status = kubelets.run("a")
    assert (status["phase"], status["hostIP"], status["podIP"]) == ("Running", "172.16.0.2", "10.128.0.2")
    assert status["podIPs"] == [{"ip": "10.128.0.2"}]
    assert kubelets.run("b")["podIP"] == "10.128.0.3"


def test_a_pod_on_the_network_of_its_host_has_its_address(kubelets: Kubelets) -> None:
    assert kubelets.run("a", hostNetwork=True)["podIP"] == "172.16.0.2"


def test_a_pod_that_finds_too_few_cpus_is_rejected(kubelets: Kubelets) -> None:
    kubelets.run("a", resources=requests(cpu="800m"))
    status = kubelets.run("b", resources=requests(cpu="300m"))
    text = "Node didn't have enough resource: cpu, requested: 300, used: 800, capacity: 1000"
    assert (status["phase"], status["reason"]) == ("Failed", "OutOfcpu")
    assert status["message"] == f"Pod was rejected: {text}"
    assert "podIP" not in status
    assert kubelets.events() == [("OutOfcpu", text)]


def test_a_pod_beyond_the_number_of_pods_is_rejected(kubelets: Kubelets) -> None:
    for name in "abc":
        assert kubelets.run(name, resources={})["phase"] == "Running"
    status = kubelets.run("d", resources={})
    assert (status["phase"], status["reason"]) == ("Failed", "OutOfpods")


def test_a_pod_whose_host_port_is_taken_is_rejected(kubelets: Kubelets) -> None:
    port = [{"containerPort": 80, "hostPort": 8080}]
    kubelets.run("a", ports=port)
    status = kubelets.run("b", ports=port)
    assert (status["phase"], status["reason"]) == ("Failed", "NodePorts")
    why = "node(s) didn't have free ports for the requested pod ports"
    assert status["message"] == f"Pod was rejected: Predicate NodePorts failed: {why}"


def test_a_pod_whose_status_is_refused_keeps_its_address(kubelets: Kubelets) -> None:
    template = "phase: Running\ncontainerStatuses: 5"
    kind = known_kind(kubelets.store.kinds, "kwok.x-k8s.io/v1alpha1", "Stage")
    selector = {"matchLabels": {"app": "web"}}
    kubelets.store.create(kind, stage("s", selector=selector, next={"statusTemplate": template}), writer="user:test")
    assert "podIP" not in kubelets.run("a")
    for _ in range(5):
        kubelets.clock.fire_next(outer=True)
        kubelets.work()
    kubelets.store.delete(kind, "s", writer="user:test")
    assert kubelets.status("a")["podIP"] == "10.128.0.2"
    assert kubelets.run("b")["podIP"] == "10.128.0.3"


def test_rejections_beyond_the_burst_of_a_kubelet_come_at_its_rate(kubelets: Kubelets) -> None:
    start = kubelets.clock.now()
    phases = [kubelets.run(f"p{n}", nodeSelector={"disk": "hdd"}).get("phase") for n in range(BURST + 10)]
    assert phases == ["Failed"] * BURST + ["Pending"] * 10
    while kubelets.status(f"p{BURST + 9}")["phase"] == "Pending":
        kubelets.clock.fire_next(outer=True)
    assert kubelets.clock.now() - start == 10 * SECOND // RATE


def test_a_pod_whose_node_selector_does_not_match_is_rejected(kubelets: Kubelets) -> None:
    assert kubelets.run("a", nodeSelector={"disk": "ssd"})["phase"] == "Running"
    status = kubelets.run("b", nodeSelector={"disk": "tape"})
    assert (status["phase"], status["reason"]) == ("Failed", "NodeAffinity")


def test_an_extended_resource_that_the_node_does_not_know_is_not_checked(kubelets: Kubelets) -> None:
    amounts = {"example.com/licence": "1"}
    assert kubelets.run("a", resources={"requests": amounts, "limits": amounts})["phase"] == "Running"


def test_what_a_deleted_pod_had_is_free_again(kubelets: Kubelets) -> None:
    kubelets.run("a", resources=requests(cpu="800m"))
    now = DeleteOptions(grace_period_seconds=0)
    kubelets.store.delete(kubelets.pods, "a", namespace="default", writer="user:test", options=now)
    assert kubelets.run("b", resources=requests(cpu="800m"))["phase"] == "Running"


def test_pods_that_run_already_are_taken_over_as_they_are() -> None:
    kubelets = Kubelets()
    kubelets.run("a", resources=requests(cpu="800m"))
    kubelets.kubelet.stop()
    kubelets.kubelet.start()
    before = kubelets.store.revision
    assert kubelets.status("a")["phase"] == "Running"
    assert kubelets.store.revision == before
    assert kubelets.run("b", resources=requests(cpu="300m"))["reason"] == "OutOfcpu"
    assert kubelets.run("c")["podIP"] == "10.128.0.3"


def test_a_pod_with_a_sleeping_prestop_hook_goes_when_it_has_slept(kubelets: Kubelets) -> None:
    kubelets.run("a", lifecycle={"preStop": {"sleep": {"seconds": 20}}}, terminationGracePeriodSeconds=60)
    kubelets.store.delete(kubelets.pods, "a", namespace="default", writer="user:test")
    assert kubelets.status("a")["phase"] == "Running"
    deleted = kubelets.clock.now()
    kubelets.clock.fire_next(outer=True)
    assert kubelets.clock.now() == deleted + 20 * SECOND
    kubelets.work()
    assert kubelets.store.find(kubelets.pods, "a", "default") is None
