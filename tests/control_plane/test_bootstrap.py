"""The objects that every server has from the start."""

from pathlib import Path
from typing import Any

from seatrial.control_plane.components import Parts, Settings, compose
from seatrial.scenario.reset import wipe
from seatrial.server.auth.certificates import Certificates
from seatrial.server.auth.signing import Authority
from tests.known_kinds import known_kind


def served(tmp_path: Path, port: int = 6443) -> Parts:
    certificates = Certificates.in_directory(tmp_path)
    authority = Authority(certificates.authority, certificates.authority_key)
    parts = compose(Settings(scheduler=False), port, authority)
    work(parts)
    return parts


def work(parts: Parts) -> None:
    while any(worker.work() for worker in parts.workers if hasattr(worker, "enqueue")):
        pass


def documents(parts: Parts, api_version: str, kind: str, namespace: str = "") -> dict[str, dict[str, Any]]:
    found = known_kind(parts.store.kinds, api_version, kind)
    return {stored.name: stored.document() for stored in parts.store.list(found, namespace)}


def test_the_service_of_the_api_server_has_the_first_address(tmp_path: Path) -> None:
    parts = served(tmp_path)
    spec = documents(parts, "v1", "Service", "default")["kubernetes"]["spec"]
    assert (spec["clusterIP"], spec["ports"][0]["targetPort"]) == ("10.96.0.1", 6443)
    slices = documents(parts, "discovery.k8s.io/v1", "EndpointSlice", "default")
    assert slices["kubernetes"]["ports"] == [{"name": "https", "port": 6443, "protocol": "TCP"}]
    assert documents(parts, "networking.k8s.io/v1", "ServiceCIDR")["kubernetes"]["spec"] == {"cidrs": ["10.96.0.0/12"]}


def test_flow_schemas_and_api_services_are_there_with_their_status(tmp_path: Path) -> None:
    parts = served(tmp_path)
    assert len(documents(parts, "flowcontrol.apiserver.k8s.io/v1", "FlowSchema")) == 11
    assert len(documents(parts, "flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration")) == 8
    services = documents(parts, "apiregistration.k8s.io/v1", "APIService")
    assert services["v1.apps"]["status"]["conditions"][0]["type"] == "Available"


def test_aggregated_roles_are_filled(tmp_path: Path) -> None:
    roles = documents(served(tmp_path), "rbac.authorization.k8s.io/v1", "ClusterRole")
    assert all(roles[name]["rules"] for name in ("admin", "edit", "view"))


def test_every_namespace_has_the_certificate_authority(tmp_path: Path) -> None:
    parts = served(tmp_path)
    kind = known_kind(parts.store.kinds, "v1", "Namespace")
    parts.store.create(kind, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "new"}}, writer="user:ann")
    work(parts)
    for namespace in ("default", "kube-system", "new"):
        assert (
            "BEGIN CERTIFICATE" in documents(parts, "v1", "ConfigMap", namespace)["kube-root-ca.crt"]["data"]["ca.crt"]
        )


def test_a_changed_certificate_authority_is_published_again(tmp_path: Path) -> None:
    parts = served(tmp_path)
    kind = known_kind(parts.store.kinds, "v1", "ConfigMap")
    parts.store.modify(
        kind, "kube-root-ca.crt", lambda found: found.update(data={}), namespace="default", writer="user:ann"
    )
    work(parts)
    assert "ca.crt" in documents(parts, "v1", "ConfigMap", "default")["kube-root-ca.crt"]["data"]


def test_a_wipe_leaves_them(tmp_path: Path) -> None:
    parts = served(tmp_path)
    before = {(stored.kind.kind, stored.namespace, stored.name) for stored in parts.store.everything()}
    wipe(parts.store, "scenario")
    after = {(stored.kind.kind, stored.namespace, stored.name) for stored in parts.store.everything()}
    assert before == after
