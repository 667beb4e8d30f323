"""Volumes of CSI drivers as a resource of tasks and nodes."""

from seatrial.volcano.cache.csi_volumes import offered_by, resource_name


def test_the_resource_of_a_driver_has_no_slash_in_its_name() -> None:
    assert resource_name("kubernetes.io/no-provisioner") == "attachable-volumes-csi-kubernetes.io-no-provisioner"


def test_a_node_offers_the_volumes_of_its_drivers_by_the_same_name() -> None:
    offered = offered_by({"spec": {"drivers": [{"name": "example.com/disk", "allocatable": {"count": 3}}]}})
    assert offered.get(resource_name("example.com/disk")) == 3
