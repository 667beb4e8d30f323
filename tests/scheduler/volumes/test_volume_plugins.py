"""Volume plugins: where a pod with volumes can go, and what is written when it goes there.

Behaviours follow the tables of volumebinding (TestVolumeBinding, TestFindPodVolumes…), volumezone, volumerestrictions
and nodevolumelimits in v1.36.3.
"""

from typing import Any

import pytest

from seatrial.model.documents import Document
from tests.scheduler.scheduler_world import World

STORAGE = "storage.k8s.io/v1"
ZONE = "topology.kubernetes.io/zone"


class Cluster(World):
    """Nodes a1 and a2 in zone a, b1 in zone b."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        for name in ("a1", "a2", "b1"):
            self.node(name, labels={ZONE: name[0]})
        self.storage_class("wait", "WaitForFirstConsumer")
        self.storage_class("now", "Immediate")

    def add(self, kind: str, document: Document, version: str = "v1") -> None:
        namespace = document["metadata"].get("namespace", "")
        document = {"apiVersion": version, "kind": kind, **document}
        self.store.create(self.kind(kind, version), document, writer="user:test", namespace=namespace)

    def storage_class(self, name: str, mode: str, provisioner: str = "x.csi", **fields: Any) -> None:
        document = {"metadata": {"name": name}, "provisioner": provisioner, "volumeBindingMode": mode, **fields}
        self.add("StorageClass", document, STORAGE)

    def volume(self, name: str, size: str = "10Gi", *, on: str = "", labels: Any = None, **spec: Any) -> None:
        source = {} if "gcePersistentDisk" in spec else {"csi": {"driver": "x.csi", "volumeHandle": name}}
        fields = {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "storageClassName": "wait"}
        if on:
            term = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [on]}]}
            fields["nodeAffinity"] = {"required": {"nodeSelectorTerms": [term]}}
        self.add(
            "PersistentVolume", {"metadata": {"name": name, "labels": labels or {}}, "spec": fields | source | spec}
        )
        self.set(name, "PersistentVolume", lambda d: d.setdefault("status", {}).__setitem__("phase", "Available"))

    def set(self, name: str, kind: str, change: Any, subresource: str = "status") -> None:
        namespace = "default" if kind == "PersistentVolumeClaim" else ""
        self.store.modify(self.kind(kind), name, change, writer="t", namespace=namespace, subresource=subresource)

    def claim(
        self, name: str = "c", size: str = "5Gi", volume: str = "", storage_class: str = "wait", **spec: Any
    ) -> None:
        fields: Document = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
        fields |= {"storageClassName": storage_class, **({"volumeName": volume} if volume else {}), **spec}
        bound = {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}} if volume else {}
        self.add("PersistentVolumeClaim", {"metadata": {"name": name, "namespace": "default", **bound}, "spec": fields})

    def user(self, name: str, *claims: str, **spec: Any) -> None:
        volumes = [{"name": f"v{i}", "persistentVolumeClaim": {"claimName": c}} for i, c in enumerate(claims)]
        self.pod(name, volumes=volumes, **spec)

    def get(self, kind: str, name: str) -> Document:
        namespace = "default" if kind == "PersistentVolumeClaim" else ""
        return self.store.get(self.kind(kind), name, namespace).document()

    def waits_for(self, name: str) -> str:
        """The node where a pod waits until its volumes are bound."""
        return str(self.document(name)["status"].get("nominatedNodeName", ""))

    def fate(self, name: str) -> str:
        """The node that a pod is bound to or waits for, or the start of what is said about it."""
        self.run()
        message: str = self.condition(name).get("message") or ""
        return (
            self.node_of(name)
            or self.waits_for(name)
            or message.removeprefix("0/3 nodes are available: ").partition(". ")[0]
        )


def test_a_bound_volume_draws_the_pod_to_its_node() -> None:
    world = Cluster()
    world.volume("pv", on="a2")
    world.claim(volume="pv")
    world.user("p", "c")
    assert world.fate("p") == "a2"


def test_a_volume_out_of_reach_is_told() -> None:
    world = Cluster()
    world.volume("pv", on="gone")
    world.claim(volume="pv")
    world.user("p", "c")
    assert world.fate("p") == "3 node(s) didn't match PersistentVolume's node affinity"


def test_an_unbound_immediate_claim_keeps_the_pod_waiting() -> None:
    world = Cluster()
    world.claim(storage_class="now")
    world.user("p", "c")
    assert world.fate("p") == "pod has unbound immediate PersistentVolumeClaims"


def test_a_waiting_claim_is_bound_to_the_smallest_volume_that_fits() -> None:
    world = Cluster()
    for name, size in (("large", "50Gi"), ("small", "1Gi"), ("right", "6Gi")):
        world.volume(name, size, on="b1")
    world.claim()
    world.user("p", "c", nodeSelector={ZONE: "b"})
    assert world.fate("p") == "b1"
    claim = world.get("PersistentVolumeClaim", "c")["metadata"]
    reference = world.get("PersistentVolume", "right")["spec"]["claimRef"]
    assert (reference["name"], reference["namespace"], reference["uid"]) == ("c", "default", claim["uid"])
    assert world.get("PersistentVolume", "right")["metadata"]["annotations"] == {
        "pv.kubernetes.io/bound-by-controller": "yes"
    }
    assert "claimRef" not in world.get("PersistentVolume", "large")["spec"]


def test_two_claims_of_a_pod_get_two_volumes() -> None:
    world = Cluster()
    world.volume("pv1", "10Gi", on="a1")
    world.volume("pv2", "20Gi", on="a1")
    world.claim("big", "15Gi")
    world.claim("little", "5Gi")
    world.user("p", "big", "little", nodeSelector={"kubernetes.io/hostname": "a1"})
    assert world.fate("p") == "a1"
    assert world.get("PersistentVolume", "pv1")["spec"]["claimRef"]["name"] == "little"
    assert world.get("PersistentVolume", "pv2")["spec"]["claimRef"]["name"] == "big"


@pytest.mark.parametrize(
    "spec",
    [
        {"accessModes": ["ReadWriteMany"]},
        {"volumeMode": "Block"},
        {"selector": {"matchLabels": {"tier": "gold"}}},
        {"resources": {"requests": {"storage": "11Gi"}}},
    ],
    ids=["access mode", "volume mode", "selector", "size"],
)
def test_a_volume_that_does_not_suit_the_claim_is_not_taken(spec: Document) -> None:
    world = Cluster()
    world.storage_class("local", "WaitForFirstConsumer", "kubernetes.io/no-provisioner")
    world.volume("pv", storageClassName="local")
    world.claim(storage_class="local", **spec)
    world.user("p", "c")
    assert world.fate("p") == "3 node(s) didn't find available persistent volumes to bind"


def test_a_claim_without_volume_is_provisioned_on_the_chosen_node() -> None:
    world = Cluster()
    world.claim()
    world.user("p", "c", nodeSelector={ZONE: "b"})
    assert world.fate("p") == "b1"
    annotations = world.get("PersistentVolumeClaim", "c")["metadata"]["annotations"]
    assert annotations == {"volume.kubernetes.io/selected-node": "b1"}


def test_a_claim_under_way_to_a_node_stays_with_it() -> None:
    world = Cluster()
    world.claim()
    change = lambda d: d["metadata"].__setitem__("annotations", {"volume.kubernetes.io/selected-node": "b1"})  # noqa: E731
    world.set("c", "PersistentVolumeClaim", change, subresource="")
    world.user("p", "c")
    assert world.fate("p") == "b1"


def test_provisioning_keeps_to_the_allowed_topologies() -> None:
    world = Cluster()
    terms = [{"matchLabelExpressions": [{"key": ZONE, "values": ["b"]}]}]
    world.storage_class("zonal", "WaitForFirstConsumer", allowedTopologies=terms)
    world.claim(storage_class="zonal")
    world.user("p", "c")
    assert world.fate("p") == "b1"


@pytest.mark.parametrize(("capacity", "fate"), [("4Gi", "3 node(s) did not have enough free storage"), ("5Gi", "b1")])
def test_provisioning_looks_at_the_capacity_that_is_published(capacity: str, fate: str) -> None:
    world = Cluster()
    world.add("CSIDriver", {"metadata": {"name": "x.csi"}, "spec": {"storageCapacity": True}}, STORAGE)
    topology = {"nodeTopology": {"matchLabels": {ZONE: "b"}}, "storageClassName": "wait", "capacity": capacity}
    world.add("CSIStorageCapacity", {"metadata": {"name": "cap", "namespace": "default"}, **topology}, STORAGE)
    world.claim()
    world.user("p", "c")
    assert world.fate("p") == fate


def test_a_missing_claim_is_told_once() -> None:
    world = Cluster()
    world.user("p", "nope")
    assert world.fate("p") == 'persistentvolumeclaim "nope" not found'
    assert world.condition("p")["message"].endswith("not found")


def test_a_missing_volume_is_told() -> None:
    world = Cluster()
    world.claim(volume="nope")
    world.user("p", "c")
    assert world.fate("p") == 'persistentvolume "nope" not found'


def test_a_lost_claim_is_told() -> None:
    world = Cluster()
    world.volume("pv")
    world.claim(volume="pv")
    world.set("c", "PersistentVolumeClaim", lambda d: d.setdefault("status", {}).__setitem__("phase", "Lost"))
    world.user("p", "c")
    assert world.fate("p") == 'persistentvolumeclaim "c" bound to non-existent persistentvolume "pv"'


def test_an_ephemeral_volume_waits_for_its_own_claim() -> None:
    world = Cluster()
    template = {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
    world.pod("p", volumes=[{"name": "data", "ephemeral": {"volumeClaimTemplate": template}}])
    wanted = 'waiting for ephemeral volume controller to create the persistentvolumeclaim "p-data"'
    assert world.fate("p") == wanted
    world.claim("p-data")
    assert world.fate("p") == "PVC default/p-data was not created for pod default/p (pod is not owner)"


@pytest.mark.parametrize(
    ("value", "fate"), [("b", "b1"), ("b__c", "b1"), ("c", "3 node(s) had no available volume zone")]
)
def test_zone_labels_of_a_volume_bind_the_pod(value: str, fate: str) -> None:
    world = Cluster()
    world.volume("pv", labels={ZONE: value})
    world.claim(volume="pv")
    world.user("p", "c")
    assert world.fate("p") == fate


def test_a_claim_for_one_pod_is_used_by_one_pod() -> None:
    world = Cluster()
    world.volume("pv", accessModes=["ReadWriteOncePod"])
    world.claim(volume="pv", accessModes=["ReadWriteOncePod"])
    world.user("p1", "c")
    world.run()
    world.user("p2", "c")
    assert world.fate("p2") == (
        "3 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode "
        "already in-use by another pod"
    )


@pytest.mark.parametrize(("read_only", "shared"), [(True, True), (False, False)])
def test_a_disk_is_shared_for_reading_only(read_only: bool, shared: bool) -> None:
    world = Cluster()
    disk = {"name": "d", "gcePersistentDisk": {"pdName": "disk", "readOnly": read_only}}
    for name in ("p1", "p2"):
        world.pod(name, volumes=[disk], nodeSelector={"kubernetes.io/hostname": "a1"})
    world.run()
    assert (world.node_of("p2") == "a1") == shared


def test_a_driver_attaches_no_more_volumes_than_it_says() -> None:
    world = Cluster()
    driver = {"name": "x.csi", "nodeID": "n", "allocatable": {"count": 1}}
    for name in ("a1", "a2", "b1"):
        world.add("CSINode", {"metadata": {"name": name}, "spec": {"drivers": [driver]}}, STORAGE)
    for name in ("one", "two"):
        world.volume(name, on="a1")
        world.claim(name, volume=name)
    world.user("p1", "one")
    world.user("again", "one")
    world.user("p2", "two")
    world.run()
    assert world.node_of("again") == "a1"
    assert world.fate("p2") == (
        "1 node(s) exceed max volume count, 2 node(s) didn't match PersistentVolume's node affinity"
    )


def test_a_pod_needs_the_features_its_node_declares() -> None:
    world = Cluster()
    rule = {"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [1]}}
    container = {"name": "c", "image": "i", "restartPolicy": "Never", "restartPolicyRules": [rule]}
    world.pod("p", containers=[container])
    assert world.fate("p") == "3 node(s) didn't match Pod's required features"
    feature = ["RestartAllContainersOnContainerExits"]
    world.change("Node", "b1", lambda d: d["status"].__setitem__("declaredFeatures", feature), "status")
    assert world.fate("p") == "b1"
