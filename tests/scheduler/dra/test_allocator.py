"""The allocator: which devices a claim gets, in which order they are tried, and when it gets none.

Behaviours follow TestAllocator of k8s.io/dynamic-resource-allocation/structured/internal/allocatortesting.
"""

from typing import Any

import pytest

from seatrial.scheduler.dra.allocator import AllocationError, NodeRefused
from tests.scheduler.dra.devices import DRIVER, allocate, claim, device, node, one, picked, pool, request

THREE = pool(device("d0", model="a", numa=0), device("d1", model="b", numa=1), device("d2", model="b", numa=1))


def taken(*names: str, **fields: Any) -> dict[str, Any]:
    results = [{"request": "r", "driver": DRIVER, "pool": "n1", "device": name, **fields} for name in names]
    return {"devices": {"results": results}}


def test_devices_are_taken_in_the_order_of_their_slice() -> None:
    assert picked(allocate([THREE], claim(request(count=2)))) == [["d0", "d1"]]


def test_pools_come_by_driver_and_name_and_slices_by_name() -> None:
    second = pool(device("z0"), name="b", slice="s9", count=2)
    first = pool(device("a0"), name="b", slice="s1", count=2)
    other = pool(device("x0"), name="a")
    assert picked(allocate([second, first, other], claim(request(count=3)))) == [["x0", "a0", "z0"]]


def test_a_device_in_use_is_passed_over() -> None:
    assert picked(allocate([THREE], claim(request()), taken=[taken("d0")])) == [["d1"]]


def test_a_device_given_with_admin_access_is_not_in_use() -> None:
    assert picked(allocate([THREE], claim(request()), taken=[taken("d0", adminAccess=True)])) == [["d0"]]


def test_admin_access_takes_a_device_in_use() -> None:
    allocations = allocate([THREE], claim(request(adminAccess=True)), taken=[taken("d0", "d1", "d2")])
    assert picked(allocations) == [["d0"]]
    assert allocations and allocations[0]["devices"]["results"][0]["adminAccess"] is True


def test_two_claims_share_no_device() -> None:
    assert picked(allocate([THREE], claim(request(), name="c1"), claim(request(count=2), name="c2"))) == [
        ["d0"],
        ["d1", "d2"],
    ]


def test_the_search_goes_back_when_a_later_request_finds_nothing() -> None:
    only_a = f'device.attributes["{DRIVER}"].model == "a"'
    assert picked(allocate([THREE], claim(request("r1"), request("r2", 1, only_a)))) == [["d1", "d0"]]


def test_too_few_devices_give_nothing() -> None:
    assert allocate([THREE], claim(request(count=4))) is None


def test_class_and_request_selectors_both_count() -> None:
    other = pool(device("n0"), driver="nic.example.com")
    assert picked(allocate([other, THREE], claim(request()))) == [["d0"]]
    assert allocate([other], claim(request())) is None


def test_all_devices_are_all_that_match() -> None:
    model_b = f'device.attributes["{DRIVER}"].model == "b"'
    assert picked(allocate([THREE], claim(request("r", 0, model_b)))) == [["d1", "d2"]]
    assert allocate([THREE], claim(request("r", 0, model_b)), taken=[taken("d2")]) is None
    assert allocate([THREE], claim(request("r", 0, "false"))) is None


def test_all_devices_of_a_pool_under_way_is_an_error() -> None:
    half = pool(device("d0"), count=2)
    with pytest.raises(AllocationError, match=r"asks for all devices, but .* is currently being updated"):
        allocate([half], claim(request("r", 0)))
    assert allocate([half], claim(request())) is None


def test_an_invalid_pool_gives_no_devices_but_says_so() -> None:
    twice = pool(device("d0"), device("d0"))
    with pytest.raises(NodeRefused, match="invalid resource pools were encountered"):
        allocate([twice], claim(request()))
    good = pool(device("e0"), name="other")
    assert picked(allocate([twice, good], claim(request()))) == [["e0"]]


def test_an_older_generation_is_not_looked_at() -> None:
    old = pool(device("old"), generation=1, slice="a")
    new = pool(device("new"), generation=2, slice="b")
    assert picked(allocate([old, new], claim(request()))) == [["new"]]


def test_a_newer_generation_elsewhere_makes_the_pool_obsolete() -> None:
    here = pool(device("old"), name="p", generation=1, count=2, slice="a")
    there = pool(device("new"), name="p", generation=2, count=2, slice="b", node="n2")
    assert allocate([here, there], claim(request())) is None


def test_match_attribute_wants_one_value() -> None:
    constraint = {"matchAttribute": f"{DRIVER}/model"}
    assert picked(allocate([THREE], claim(request(count=2), constraints=[constraint]))) == [["d1", "d2"]]
    missing = {"matchAttribute": f"{DRIVER}/nope"}
    assert allocate([THREE], claim(request(), constraints=[missing])) is None


def test_a_constraint_of_some_requests_leaves_the_others_alone() -> None:
    constraint = {"matchAttribute": f"{DRIVER}/model", "requests": ["r2"]}
    wanted = claim(request("r1"), request("r2", 2), constraints=[constraint])
    assert picked(allocate([THREE], wanted)) == [["d0", "d1", "d2"]]


def test_distinct_attribute_wants_different_values() -> None:
    constraint = {"distinctAttribute": f"{DRIVER}/model"}
    assert picked(allocate([THREE], claim(request("r1"), request("r2"), constraints=[constraint]))) == [["d0", "d1"]]
    assert allocate([THREE], claim(request("r1"), request("r2"), request("r3"), constraints=[constraint])) is None


def test_all_devices_against_a_constraint_is_an_error() -> None:
    constraint = {"matchAttribute": f"{DRIVER}/model"}
    with pytest.raises(AllocationError) as caught:
        allocate([THREE], claim(request("r", 0), constraints=[constraint]))
    assert str(caught.value) == (
        f"claim default/c, request r: cannot add device {DRIVER}/n1/d1 "
        "because a claim constraint would not be satisfied"
    )


def test_the_first_alternative_that_works_is_taken() -> None:
    alternatives = {"name": "r", "firstAvailable": [{"name": "many", **one(5)}, {"name": "few", **one(2)}]}
    allocations = allocate([THREE], claim(alternatives))
    assert allocations is not None
    assert [result["request"] for result in allocations[0]["devices"]["results"]] == ["r/few", "r/few"]


def test_an_alternative_that_makes_the_result_too_long_is_passed_over() -> None:
    many = pool(*(device(f"d{i:02}") for i in range(40)))
    wanted = claim(
        {"name": "r1", "firstAvailable": [{"name": "a", **one(20)}, {"name": "b", **one(1)}]}, request("r2", 20)
    )
    allocations = allocate([many], wanted)
    assert allocations is not None
    assert len(allocations[0]["devices"]["results"]) == 21


def test_more_devices_than_a_result_can_hold_is_an_error() -> None:
    with pytest.raises(AllocationError, match="number of requested devices 33 exceeds the claim limit of 32"):
        allocate([THREE], claim(request(count=33)))


@pytest.mark.parametrize(
    ("taint", "toleration", "fits"),
    [
        ({"key": "k", "effect": "NoSchedule"}, None, False),
        ({"key": "k", "effect": "NoExecute"}, None, False),
        ({"key": "k", "effect": "None"}, None, True),
        ({"key": "k", "value": "v", "effect": "NoSchedule"}, {"key": "k", "operator": "Exists"}, True),
        ({"key": "k", "value": "v", "effect": "NoSchedule"}, {"key": "k", "operator": "Equal", "value": "w"}, False),
        ({"key": "k", "value": "v", "effect": "NoSchedule"}, {"key": "k", "value": "v", "effect": "NoExecute"}, False),
        ({"key": "k", "value": "v", "effect": "NoSchedule"}, {"operator": "Exists"}, True),
    ],
)
def test_taints_must_be_tolerated(taint: dict[str, str], toleration: dict[str, str] | None, fits: bool) -> None:
    slices = [pool(device("d0", taints=[taint]))]
    tolerations: dict[str, Any] = {"tolerations": [toleration]} if toleration else {}
    wanted = request(**tolerations)
    assert (allocate(slices, claim(wanted)) is not None) == fits


def test_partitions_draw_on_shared_counters() -> None:
    def part(name: str, slots: int) -> dict[str, Any]:
        return device(name, consumesCounters=[{"counterSet": "s", "counters": {"slots": {"value": str(slots)}}}])

    counters = pool(slice="a", count=2, sharedCounters=[{"name": "s", "counters": {"slots": {"value": "4"}}}])
    parts = pool(part("whole", 4), part("half-0", 2), part("half-1", 2), slice="b", count=2)
    assert picked(allocate([counters, parts], claim(request()))) == [["whole"]]
    assert picked(allocate([counters, parts], claim(request(count=2)))) == [["half-0", "half-1"]]
    assert picked(allocate([counters, parts], claim(request()), taken=[taken("half-1")])) == [["half-0"]]
    assert allocate([counters, parts], claim(request()), taken=[taken("whole")]) is None


def shared(memory: str, **policy: Any) -> dict[str, Any]:
    entry = {"value": memory, **({"requestPolicy": policy} if policy else {})}
    return device("d0", allowMultipleAllocations=True) | {
        "allowMultipleAllocations": True,
        "capacity": {"memory": entry},
    }


@pytest.mark.parametrize(
    ("policy", "asked", "given"),
    [
        ({}, None, "40Gi"),
        ({}, "3Gi", "3Gi"),
        ({"default": "4Gi", "validValues": ["4Gi", "8Gi"]}, None, "4Gi"),
        ({"default": "4Gi", "validValues": ["4Gi", "8Gi"]}, "5Gi", "8Gi"),
        ({"default": "4Gi", "validValues": ["4Gi", "8Gi"]}, "9Gi", None),
        ({"default": "4Gi", "validRange": {"min": "4Gi", "step": "4Gi", "max": "16Gi"}}, "1Gi", "4Gi"),
        ({"default": "4Gi", "validRange": {"min": "4Gi", "step": "4Gi", "max": "16Gi"}}, "6Gi", "8Gi"),
        ({"default": "4Gi", "validRange": {"min": "4Gi", "step": "4Gi", "max": "16Gi"}}, "17Gi", None),
    ],
)
def test_a_share_of_a_device_follows_its_policy(policy: dict[str, Any], asked: str | None, given: str | None) -> None:
    capacity: dict[str, Any] = {"capacity": {"requests": {"memory": asked}}} if asked else {}
    allocations = allocate([pool(shared("40Gi", **policy))], claim(request(**capacity)))
    if given is None:
        assert allocations is None
    else:
        assert allocations is not None
        assert allocations[0]["devices"]["results"][0]["consumedCapacity"] == {"memory": given}


def test_shares_add_up_to_the_capacity() -> None:
    slices = [pool(shared("10Gi"))]
    first = allocate(slices, claim(request(capacity={"requests": {"memory": "6Gi"}}), name="c1"))
    assert first is not None
    assert allocate(slices, claim(request(capacity={"requests": {"memory": "5Gi"}})), taken=first) is None
    assert picked(allocate(slices, claim(request(capacity={"requests": {"memory": "4Gi"}})), taken=first)) == [["d0"]]


def test_the_node_selector_says_where_an_allocation_can_be_used() -> None:
    def selector(*slices: dict[str, Any], **labels: str) -> Any:
        allocations = allocate(list(slices), claim(request()), on=node("n1", **labels))
        assert allocations is not None
        return allocations[0].get("nodeSelector")

    name = {"key": "metadata.name", "operator": "In", "values": ["n1"]}
    zone = {"key": "zone", "operator": "In", "values": ["a"]}
    term = {"nodeSelectorTerms": [{"matchExpressions": [zone]}]}
    assert selector(pool(device("d"))) == {"nodeSelectorTerms": [{"matchFields": [name]}]}
    assert selector(pool(device("d"), allNodes=True)) is None
    assert selector(pool(device("d"), nodeSelector=term), zone="a") == term
    scattered = pool(device("far", nodeName=["n2"]), device("near", nodeSelector=term), perDeviceNodeSelection=True)
    assert selector(scattered, zone="a") == term


def test_configuration_of_class_and_claim_is_carried_over() -> None:
    opaque = {"opaque": {"driver": DRIVER, "parameters": {}}}
    config = [opaque | {"requests": ["r1"]}, opaque | {"requests": ["nobody"]}, opaque]
    allocations = allocate([THREE], claim(request("r1"), request("r2"), config=config))
    assert allocations is not None
    assert allocations[0]["devices"]["config"] == [
        opaque | {"requests": ["r1"], "source": "FromClaim"},
        opaque | {"source": "FromClaim"},
    ]


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (
            request(device_class="nope"),
            'could not retrieve device class nope: deviceclass.resource.k8s.io "nope" not found',
        ),
        (
            request("r", 1, f'device.attributes["{DRIVER}"].nope'),
            "claim default/c: selector #0 on device gpu.example.com/n1/d0: CEL runtime error: no such key: nope",
        ),
        (
            request("r", 1, "nope"),
            "claim default/c: selector #0: CEL compile error: compilation failed: ERROR: <input>:1:1",
        ),
        (request(device_class=""), "claim default/c, request r: missing device class name"),
    ],
)
def test_what_is_wrong_with_a_claim_ends_the_search(wanted: dict[str, Any], message: str) -> None:
    with pytest.raises(AllocationError) as caught:
        allocate([THREE], claim(wanted))
    assert message in str(caught.value)


def test_a_hopeless_search_ends_soon_and_finds_what_the_plain_one_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many equal devices and a last request that cannot be satisfied: without looking ahead this never ends."""
    many = pool(*(device(f"d{i:02}", model="a", index=i) for i in range(24)))
    last = request("last", 1, f'device.attributes["{DRIVER}"].index > 99')
    assert allocate([many], claim(request("r1", 8), request("r2", 8), last)) is None
    two = f'device.attributes["{DRIVER}"].index in [0, 8]'
    wanted = claim(request("r1", 8), request("r2", 8), request("r3", 2, two))
    assert picked(allocate([many], wanted)) == [
        [f"d{i:02}" for i in (*range(1, 8), 9, *range(10, 18))] + ["d00", "d08"],
    ]
    monkeypatch.setattr("seatrial.scheduler.dra.allocator.MOST_TRIED", 10)
    with pytest.raises(AllocationError, match="node n1: timed out trying to allocate devices"):
        allocate([many], wanted)
