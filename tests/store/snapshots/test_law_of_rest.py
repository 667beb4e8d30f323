"""The law of rest: a cluster that was at rest stays at rest, whichever way it comes in.

No object is created or deleted, no pod is bound and no status of a pod changes. The clusters are random, made with our
own controllers, and written as another server would: with its own hashes and its own form of revisions.
"""

from pathlib import Path
from random import Random

import orjson
import pytest

from seatrial.store.snapshots import read_snapshot
from tests.store.snapshots.clusters import RandomCluster
from tests.store.snapshots.rest import Document, Servers, as_dumped, moves_in_run, subset_of

CLUSTERS, CLUSTERS_LONG, PART = 100, 1_000, 10


def write(path: Path, documents: list[Document]) -> Path:
    path.write_bytes(orjson.dumps({"apiVersion": "v1", "kind": "List", "items": documents}))
    return path


def check(seeds: range, folder: Path) -> None:
    servers = Servers()
    for seed in seeds:
        dumped = as_dumped(RandomCluster(seed).build().objects())
        whole = write(folder / "whole.json", dumped)
        some = write(folder / "some.json", subset_of(dumped, Random(seed)))
        moves = {"snapshot": moves_in_run(read_snapshot([whole]))}
        moves["dump"] = [move for move in moves_in_run(read_snapshot([some])) if " Pod " in move or " of " in move]
        moves["serve"], moves["import"] = servers.moves(whole)
        assert not any(moves.values()), (seed, moves)


@pytest.mark.parametrize("first", range(0, CLUSTERS, PART))
def test_a_cluster_at_rest_stays_at_rest(first: int, tmp_path: Path) -> None:
    check(range(first, first + PART), tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("first", range(CLUSTERS, CLUSTERS_LONG, 50))
def test_every_cluster_at_rest_stays_at_rest(first: int, tmp_path: Path) -> None:
    check(range(first, first + 50), tmp_path)
