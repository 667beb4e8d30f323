"""Amounts of resources are compared as Volcano compares them."""

from seatrial.volcano.cache.resource import INFINITY, Resource, exceeded_part, larger


def amount(cpu: float = 0.0, memory: float = 0.0, **scalars: float) -> Resource:
    return Resource(cpu, memory, dict(scalars) if scalars else None)


def test_amounts_less_than_a_tenth_apart_are_equal() -> None:
    assert amount(100.09).less_equal(amount(100))
    assert not amount(100.2).less_equal(amount(100))


def test_a_missing_scalar_counts_as_zero_or_as_plenty() -> None:
    assert not amount(gpu=1.0).less_equal(amount())
    assert amount(gpu=1.0).less_equal(amount(), INFINITY)
    assert not amount().less_equal(amount(gpu=1.0), INFINITY)


def test_only_requested_resources_are_compared_and_pods_never() -> None:
    used, limit = amount(200, pods=9.0), amount(100, pods=1.0)
    assert used.exceeding_of(limit, amount(memory=1)) == []
    assert used.exceeding_of(limit, amount(1, pods=1.0)) == ["cpu"]


def test_subtracting_leaves_scalars_alone_where_there_is_no_map() -> None:
    assert amount(5).sub(amount(1, gpu=2.0)).scalars is None
    assert amount(5, gpu=1.0).sub(amount(1, gpu=2.0)).scalars == {"gpu": -1.0}


def test_quota_names_and_native_names_without_meaning_are_not_read() -> None:
    read = Resource.read({"cpu": "1500m", "count/pods": "3", "requests.cpu": "1", "nvidia.com/gpu": "2", "pods": "4"})
    assert read.cpu == 1500 and read.max_tasks == 4
    assert read.scalars == {"nvidia.com/gpu": 2000.0, "pods": 4.0}


def test_the_exceeded_part_is_what_one_side_has_more() -> None:
    assert exceeded_part(amount(3, 1), amount(1, 2)).cpu == 2
    assert exceeded_part(amount(3, 1), amount(1, 2)).memory == 0


def test_the_larger_of_two_drops_negative_scalars() -> None:
    assert larger(amount(gpu=-1.0), amount(1)).scalars == {}
