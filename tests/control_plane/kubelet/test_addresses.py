"""Addresses are handed out in turn and used again when they are free."""

from seatrial.control_plane.kubelet.addresses import NodeAddresses, PodAddresses


def test_pods_of_a_node_get_addresses_of_its_range_in_turn() -> None:
    addresses = PodAddresses()
    assert [addresses.take("10.128.3.0/24") for _ in range(2)] == ["10.128.3.2", "10.128.3.3"]
    addresses.release("10.128.3.0/24", "10.128.3.2")
    assert addresses.take("10.128.3.0/24") == "10.128.3.4"


def test_a_range_without_a_free_address_gives_none() -> None:
    addresses = PodAddresses()
    taken = [addresses.take("10.0.0.0/29") for _ in range(5)]
    assert addresses.take("10.0.0.0/29") == ""
    addresses.release("10.0.0.0/29", taken[3])
    assert addresses.take("10.0.0.0/29") == taken[3]


def test_what_nodes_have_is_not_given_to_others() -> None:
    addresses = NodeAddresses()
    address = {"type": "InternalIP", "address": "172.16.0.2"}
    node = {"spec": {"podCIDR": "10.128.0.0/23", "podCIDRs": ["10.128.0.0/23"]}, "status": {"addresses": [address]}}
    addresses.occupy(node)
    assert (addresses.internal_address(), addresses.pod_range()) == ("172.16.0.3", "10.128.2.0/24")
    addresses.release(node)
    assert addresses.pod_range() == "10.128.3.0/24"
