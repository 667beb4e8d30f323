"""Queueing hints about volumes and devices: events and answers with the upstream test each one follows (v1.36.3)."""

from typing import Any

import pytest

from seatrial.model.documents import Document
from seatrial.scheduler.framework.interface import Action
from tests.scheduler.plugins.test_queueing_hints import ADD, DELETE, Objects, check, pod

UPDATE = Action.UPDATE


def using(claim: str = "", **volume: Any) -> Document:
    return {"volumes": [{"name": "v", **({"persistentVolumeClaim": {"claimName": claim}} if claim else volume)}]}


def named(name: str, namespace: str = "ns", **more: Any) -> Document:
    return {"metadata": {"name": name, "namespace": namespace, **more.pop("metadata", {})}, **more}


def gce(read_only: bool = False) -> Document:
    return using(gcePersistentDisk={"pdName": "disk", "readOnly": read_only})


@pytest.mark.parametrize(
    ("spec", "deleted", "expected"),
    [
        (gce(), pod("o", node="n", **gce()), True),
        (gce(True), pod("o", node="n", **gce(True)), False),
        (
            using(awsElasticBlockStore={"volumeID": "x"}),
            pod("o", **using(awsElasticBlockStore={"volumeID": "x"})),
            True,
        ),
        (using(iscsi={"iqn": "q"}), pod("o", **using(iscsi={"iqn": "q"})), True),
        (
            using(rbd={"monitors": ["a", "b"], "pool": "p", "image": "i"}),
            pod("o", **using(rbd={"monitors": ["b"], "pool": "p", "image": "i"})),
            True,
        ),
        (using("c"), pod("o", node="n", **using("c")), True),
        (using("c"), pod("o", node="n", **using("d")), False),
        (using("c"), pod("o", node="n", namespace="elsewhere", **using("c")), False),
    ],
)
def test_volume_restrictions_after_a_pod(spec: Any, deleted: Any, expected: bool) -> None:
    """Follows Test_isSchedulableAfterPodDeleted (volumerestrictions)."""
    check(expected, "VolumeRestrictions", pod(**spec), "Pod", DELETE, deleted, None)


@pytest.mark.parametrize(
    ("plugin", "expected"),
    [("VolumeRestrictions", False), ("NodeVolumeLimits", True), ("VolumeBinding", True), ("VolumeZone", False)],
)
def test_the_claim_of_an_ephemeral_volume(plugin: str, expected: bool) -> None:
    """Follows Test_isSchedulableAfterPVCAdded (nodevolumelimits) and its likes."""
    check(expected, plugin, pod(**using(ephemeral={})), "PersistentVolumeClaim", ADD, None, named("target-v"))


@pytest.mark.parametrize("plugin", ["VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone"])
@pytest.mark.parametrize(
    ("claim", "expected"), [(named("c"), True), (named("d"), False), (named("c", "elsewhere"), False)]
)
def test_a_claim_comes(plugin: str, claim: Document, expected: bool) -> None:
    """Follows Test_isSchedulableAfterPersistentVolumeClaimAdded (volumerestrictions) and its likes."""
    check(expected, plugin, pod(**using("c")), "PersistentVolumeClaim", ADD, None, claim)


@pytest.mark.parametrize(
    ("deleted", "expected"),
    [
        (pod("o", node="n", **using("c")), True),
        (pod("o", **using("c")), False),
        (pod("o", nominated="n", **using("c")), True),
        (pod("o", node="n"), False),
        (pod("o", node="n", **using(emptyDir={})), False),
        (pod("o", node="n", **using(ephemeral={})), True),
        (pod("o", node="n", **using(gcePersistentDisk={})), True),
    ],
)
def test_node_volume_limits_after_a_pod(deleted: Any, expected: bool) -> None:
    """Follows Test_isSchedulableAfterPodDeleted (nodevolumelimits)."""
    check(expected, "NodeVolumeLimits", pod(**using("c")), "Pod", DELETE, deleted, None)


@pytest.mark.parametrize(
    ("spec", "attacher", "expected"),
    [
        (using("c"), "any", True),
        ({}, "any", False),
        (using(gcePersistentDisk={"pdName": "x"}), "pd.csi.storage.gke.io", True),
        (using(gcePersistentDisk={"pdName": "x"}), "ebs.csi.aws.com", False),
    ],
)
def test_node_volume_limits_after_an_attachment(spec: Any, attacher: str, expected: bool) -> None:
    """Follows Test_isSchedulableAfterVolumeAttachmentDeleted (nodevolumelimits)."""
    gone = {"metadata": {"name": "a"}, "spec": {"attacher": attacher}}
    check(expected, "NodeVolumeLimits", pod(**spec), "VolumeAttachment", DELETE, gone, None)


def csi_node(*limits: int | None, migrated: str = "") -> Document:
    drivers = [
        {"name": f"d{index}"} | ({} if limit is None else {"allocatable": {"count": limit}})
        for index, limit in enumerate(limits)
    ]
    annotations = {"storage.alpha.kubernetes.io/migrated-plugins": migrated} if migrated else {}
    return {"metadata": {"name": "n", "annotations": annotations}, "spec": {"drivers": drivers}}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (csi_node(1), csi_node(2), True),
        (csi_node(2), csi_node(1), False),
        (csi_node(2), csi_node(2), False),
        (csi_node(None), csi_node(1), True),
        (csi_node(), csi_node(1), True),
    ],
)
def test_node_volume_limits_after_a_csi_node(old: Any, new: Any, expected: bool) -> None:
    """Follows Test_isSchedulableAfterCSINodeUpdated (nodevolumelimits)."""
    check(expected, "NodeVolumeLimits", pod(**using("c")), "CSINode", UPDATE, old, new)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [(None, csi_node(), True), (csi_node(), csi_node(migrated="x"), True), (csi_node(), csi_node(1), False)],
)
def test_volume_binding_after_a_csi_node(old: Any, new: Any, expected: bool) -> None:
    """Follows TestIsSchedulableAfterCSINodeChange (volumebinding)."""
    check(expected, "VolumeBinding", pod(**using("c")), "CSINode", ADD if old is None else UPDATE, old, new)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (None, named("sc"), True),
        (named("sc"), named("sc"), False),
        (named("sc"), named("sc", allowedTopologies=[{"matchLabelExpressions": []}]), True),
    ],
)
def test_volume_binding_after_a_storage_class(old: Any, new: Any, expected: bool) -> None:
    """Follows TestIsSchedulableAfterStorageClassChange (volumebinding)."""
    check(expected, "VolumeBinding", pod(**using("c")), "StorageClass", ADD if old is None else UPDATE, old, new)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (None, named("c"), True),
        (named("c", capacity="1Gi"), named("c", capacity="2Gi"), True),
        (named("c", capacity="2Gi"), named("c", capacity="1Gi"), False),
        (named("c", capacity="1Gi"), named("c", capacity="1Gi"), False),
        (named("c"), named("c", maximumVolumeSize="1Gi"), True),
        (named("c", maximumVolumeSize="1Gi"), named("c", maximumVolumeSize="1Gi", capacity="9Gi"), False),
    ],
)
def test_volume_binding_after_a_capacity(old: Any, new: Any, expected: bool) -> None:
    """Follows TestIsSchedulableAfterCSIStorageCapacityChange (volumebinding)."""
    check(expected, "VolumeBinding", pod(), "CSIStorageCapacity", ADD if old is None else UPDATE, old, new)


@pytest.mark.parametrize(
    ("driver", "was", "now", "expected"),
    [("d", True, False, True), ("d", True, None, True), ("d", False, True, False), ("other", True, False, False)],
)
def test_volume_binding_after_a_driver(driver: str, was: Any, now: Any, expected: bool) -> None:
    """Follows TestIsSchedulableAfterCSIDriverChange (volumebinding)."""
    subject = pod(**using(csi={"driver": driver}))
    old, new = (named("d", spec={"storageCapacity": value}) for value in (was, now))
    check(expected, "VolumeBinding", subject, "CSIDriver", UPDATE, old, new)


@pytest.mark.parametrize(("mode", "expected"), [("WaitForFirstConsumer", True), ("Immediate", False), (None, False)])
def test_volume_zone_after_a_storage_class(mode: str | None, expected: bool) -> None:
    """Follows TestIsSchedulableAfterStorageClassAdded (volumezone)."""
    check(expected, "VolumeZone", pod(), "StorageClass", ADD, None, named("sc", volumeBindingMode=mode))


def volume(**labels: str) -> Document:
    keys = {"zone": "topology.kubernetes.io/zone", "other": "other"}
    return named("pv", "", metadata={"labels": {keys[key]: value for key, value in labels.items()}})


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (None, volume(), True),
        (volume(zone="a"), volume(zone="b"), True),
        (volume(zone="a__b"), volume(zone="b__a"), False),
        (volume(zone="a"), volume(zone="a", other="x"), False),
    ],
)
def test_volume_zone_after_a_volume(old: Any, new: Any, expected: bool) -> None:
    """Follows TestIsSchedulableAfterPersistentVolumeChange (volumezone)."""
    check(expected, "VolumeZone", pod(), "PersistentVolume", ADD if old is None else UPDATE, old, new)


# -- devices -------------------------------------------------------------------------------------------------------

ALLOCATION: Document = {"devices": {"results": []}}


def claim(name: str = "c", uid: str = "u", **status: Any) -> Document:
    return {"kind": "ResourceClaim", "metadata": {"name": name, "namespace": "ns", "uid": uid}, "status": status}


CLAIMING: Document = {"resourceClaims": [{"name": "r", "resourceClaimName": "c"}]}


@pytest.mark.parametrize(
    ("present", "old", "new", "expected"),
    [
        ([claim()], None, claim(), True),
        ([claim()], None, claim("d", "w"), False),
        ([], None, claim(), False),
        ([claim()], claim("d", "w", allocation=ALLOCATION), claim("d", "w"), True),
        ([claim()], claim(), claim(), False),
        ([claim()], claim(), claim(reservedFor=[{"name": "x"}]), True),
    ],
)
def test_dynamic_resources_after_a_claim(present: Any, old: Any, new: Any, expected: bool) -> None:
    """Follows Test_isSchedulableAfterClaimChange (dynamicresources)."""
    action = ADD if old is None else UPDATE
    cluster = Objects(*present)
    check(expected, "DynamicResources", pod(**CLAIMING), "ResourceClaim", action, old, new, cluster=cluster)


TEMPLATED: Document = {"resourceClaims": [{"name": "r", "resourceClaimTemplateName": "t"}]}
MADE = {"resourceClaimStatuses": [{"name": "r", "resourceClaimName": "c"}]}
OWNED = {
    **claim(),
    "metadata": {
        **claim()["metadata"],
        "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "target", "uid": "target", "controller": True}],
    },
}


@pytest.mark.parametrize(
    ("name", "status", "present", "expected"),
    [
        ("target", MADE, [OWNED], True),
        ("target", MADE, [claim()], False),
        ("target", MADE, [], False),
        ("target", {}, [OWNED], False),
        ("other", MADE, [OWNED], False),
    ],
)
def test_dynamic_resources_after_a_claim_was_made(name: str, status: Any, present: Any, expected: bool) -> None:
    """Follows Test_isSchedulableAfterPodChange (dynamicresources)."""
    new = pod(name, status=status, **TEMPLATED)
    check(
        expected, "DynamicResources", pod(**TEMPLATED), "Pod", Action.UPDATE_POD_GENERATED_CLAIM, pod(name), new,
        cluster=Objects(*present),
    )  # fmt: skip


@pytest.mark.parametrize("resource", ["DeviceClass", "ResourceSlice", "Node"])
def test_dynamic_resources_hears_of_devices_and_nodes(resource: str) -> None:
    """DynamicResources registers these without a hint."""
    check(True, "DynamicResources", pod(**CLAIMING), resource, ADD, None, claim())
