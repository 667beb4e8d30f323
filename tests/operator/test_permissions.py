"""The role of the operator: it suffices, and nothing in it is superfluous. The server evaluates RBAC."""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from seatrial.operator.deployment_manifests import NAME, RULES, permissions
from tests.operator.cluster import Cluster, path_of, seatrial_cluster
from tests.operator.kubelet import Kubelet
from tests.operator.objects import simulation, simulator
from tests.operator.processes import OperatorProcess

NAMESPACE = "seatrial-system"
ROLE = f"/apis/rbac.authorization.k8s.io/v1/clusterroles/{NAME}"
IMAGES = {"idle:1": ("sleep", "600"), "done:1": ("true",)}
IDLE = {"image": "idle:1", "etcdURL": "http://etcd:2379"}
PERMISSIONS = [(resource, verb) for _, resource, verbs in RULES for verb in verbs]
WATCHED = ("list", "watch")


@dataclass(frozen=True)
class Account:
    """A cluster in which the operator has a service account of its own."""

    cluster: Cluster
    kubeconfig: Path
    log: Path

    def allow(self, resource: str = "", verb: str = "") -> None:
        """Give the role everything, apart from one verb of one resource."""
        role = permissions(NAMESPACE)[1]
        for rule in role["rules"]:
            if rule["resources"] == [resource]:
                rule["verbs"] = [each for each in rule["verbs"] if each != verb]
        role["rules"] = [rule for rule in role["rules"] if rule["verbs"]]
        self.cluster.request("PUT", ROLE, role)


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Account]:
    directory = tmp_path_factory.mktemp("account")
    with seatrial_cluster(directory) as cluster, Kubelet(cluster, directory / "pods", IMAGES):
        cluster.request("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        install(cluster)
        kubeconfig = directory / "operator.kubeconfig"
        kubeconfig.write_text(yaml.safe_dump(kubeconfig_of(cluster)))
        yield Account(cluster, kubeconfig, directory / "operator.log")


def install(cluster: Cluster) -> None:
    service_account, role, binding = permissions(NAMESPACE)
    cluster.request("POST", f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts", service_account)
    cluster.request("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", role)
    cluster.request("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", binding)


def kubeconfig_of(cluster: Cluster) -> Any:
    """The cluster's kubeconfig with the token of the operator's service account."""
    path = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{NAME}/token"
    asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
    document = yaml.safe_load(cluster.kubeconfig.read_text())
    document["users"][0]["user"] = {"token": cluster.request("POST", path, asked)["status"]["token"]}
    return document


def exercise(cluster: Cluster, name: str) -> None:
    """Ask for everything that the operator does: a simulation, and a simulator whose ports change."""
    cluster.create(simulation(f"{name}-a", None, simulator=IDLE, scenarioRunnerImage="done:1"))
    cluster.create(simulator(f"{name}-b", **IDLE))


def test_the_role_suffices(account: Account) -> None:
    """Simulation and simulator are served, events are written, and no request is refused."""
    cluster = account.cluster
    account.allow()
    with OperatorProcess(account.kubeconfig, account.log):
        exercise(cluster, "all")
        assert cluster.ended("all-a")["phase"] == "Completed"
        cluster.wait_for(lambda: cluster.pod("all-b"), "the simulator has a Pod")
        before = cluster.pod("all-b")["metadata"]["uid"]
        cluster.patch(f"{path_of('Simulator', 'default')}/all-b", {"spec": {"kubeAPIServerPort": 4000}})
        cluster.wait_for(
            lambda: (cluster.pod("all-b") or {"metadata": {"uid": before}})["metadata"]["uid"] != before, ""
        )
        ports = cluster.get("/api/v1/namespaces/default/services/all-b")["spec"]["ports"]
        assert [port["port"] for port in ports] == [4000, 1212]
    assert "orbidden" not in account.log.read_text()


@pytest.mark.long
@pytest.mark.parametrize(("resource", "verb"), PERMISSIONS)
def test_nothing_can_be_taken_from_the_role(account: Account, resource: str, verb: str) -> None:
    """The operator is refused exactly what was taken away, and says so."""
    cluster = account.cluster
    name = re.sub(r"[^a-z]", "-", f"{resource}-{verb}")
    account.allow(resource, verb)
    log = account.log.with_name(f"{name}.log")
    refusal = re.compile(rf'cannot {verb} resource "{re.escape(resource)}"')
    with OperatorProcess(account.kubeconfig, log):
        exercise(cluster, name)
        end = time.monotonic() + 60
        changed = False
        while not refusal.search(log.read_text() + said(cluster)):
            assert time.monotonic() < end, log.read_text()
            if not changed and cluster.pod(f"{name}-b") is not None:
                changed = True
                cluster.patch(f"{path_of('Simulator', 'default')}/{name}-b", {"spec": {"kubeAPIServerPort": 4000}})
            time.sleep(0.1)
    for kind, part in (("SchedulerSimulation", "a"), ("Simulator", "b")):
        cluster.request("DELETE", f"{path_of(kind, 'default')}/{name}-{part}")


def said(cluster: Cluster) -> str:
    """What the operator writes into the status of simulators."""
    listed = cluster.request("GET", path_of("Simulator", "default"))["items"]
    return " ".join((each.get("status") or {}).get("message") or "" for each in listed)
