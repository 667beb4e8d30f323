"""The law of rest: a cluster that was at rest stays at rest, whichever way it comes in.

No object is created or deleted, no pod is bound and no status of a pod changes. The clusters are random, made with our
own controllers, and written as another server would: with its own hashes and its own form of revisions.
"""

from pathlib import Path
from random import Random

import orjson
import pytest

from seatrial.control_plane.components import Parts
from seatrial.store.snapshots import clean, read_snapshot
from tests.store.snapshots.clusters import RandomCluster
from tests.store.snapshots.rest import (
    Document,
    as_dumped,
    moves_in_run,
    moves_in_servers,
    pods_after,
    serving,
    subset_of,
)

CLUSTERS, CLUSTERS_LONG, PART = 100, 1_000, 10


def write(path: Path, documents: list[Document]) -> Path:
    path.write_bytes(orjson.dumps({"apiVersion": "v1", "kind": "List", "items": documents}))
    return path


def check(seeds: range, folder: Path) -> None:
    with serving() as second:
        for seed in seeds:
            moves = moves_of(seed, folder, second)
            assert not any(moves.values()), (seed, moves)


def moves_of(seed: int, folder: Path, second: Parts) -> dict[str, list[str]]:
    """What moves in one cluster, by the way in which it comes."""
    dumped = as_dumped(RandomCluster.at_rest(seed).objects())
    whole = write(folder / "whole.json", dumped)
    some = write(folder / "some.json", subset_of(dumped, Random(seed)))
    moves = {"snapshot": moves_in_run(read_snapshot([whole]))}
    moves["dump"] = [move for move in moves_in_run(read_snapshot([some])) if " Pod " in move or " of " in move]
    moves["serve"], moves["import"] = moves_in_servers(whole, second)
    return moves


@pytest.mark.parametrize("first", range(0, CLUSTERS, PART))
def test_a_cluster_at_rest_stays_at_rest(first: int, tmp_path: Path) -> None:
    check(range(first, first + PART), tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("first", range(CLUSTERS, CLUSTERS + CLUSTERS_LONG, 50))
def test_every_cluster_at_rest_stays_at_rest(first: int, tmp_path: Path) -> None:
    check(range(first, first + 50), tmp_path)


def check_half_done(seeds: range) -> None:
    for seed in seeds:
        cluster = RandomCluster.half_done(seed)
        dumped = as_dumped(cluster.objects())
        loaded = pods_after(list(clean(dumped)))
        cluster.settle()
        before = uids(dumped)
        assert uids(loaded) & before == uids(cluster.all("Pod")) & before, seed
        assert len(loaded) == len(cluster.all("Pod")), seed


def uids(documents: list[Document]) -> set[str]:
    return {document["metadata"]["uid"] for document in documents if document["kind"] == "Pod"}


@pytest.mark.parametrize("first", range(0, 30, PART))
def test_what_is_half_done_goes_on_and_keeps_the_pods_that_the_old_cluster_keeps(first: int) -> None:
    check_half_done(range(first, first + PART))


@pytest.mark.long
@pytest.mark.parametrize("first", range(30, 330, 50))
def test_whatever_is_half_done_goes_on(first: int) -> None:
    check_half_done(range(first, first + 50))
