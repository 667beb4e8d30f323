"""Snapshots whose fields have wrong types are refused or loaded, and never end in a traceback."""

from pathlib import Path
from random import Random
from typing import Any

import orjson

from seatrial.clock import Clock
from seatrial.model.errors import SeatrialError
from seatrial.scenario.cluster import fresh_store
from seatrial.store.snapshots import Snapshot, manifests_of, read_objects, restore_cluster
from tests.store.snapshots.clusters import RandomCluster
from tests.store.snapshots.objects import Document, lived, pod, workload

WRONG: list[Any] = [None, 7, "x", [], {}, [1], {"a": 1}, [{}], True]
TRIALS = 200


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every field of a document, as container and key."""
    found: list[tuple[Any, Any]] = []
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            found += [(value, key), *places(item)]
    return found


def documents() -> list[Document]:
    status = {"allocation": {}, "reservedFor": [{"resource": "pods", "name": "web-0"}]}
    claim = lived("ResourceClaim", "gpu", "resource.k8s.io/v1", spec={}, status=status)
    return [*RandomCluster.at_rest(3).objects(), pod("web-0", workload("StatefulSet")), claim]


def test_a_field_of_a_wrong_type_is_no_traceback(tmp_path: Path) -> None:
    clean = [each for each in documents() if each["kind"] != "Event"]
    for seed in range(TRIALS):
        dice = Random(seed)
        broken: list[Document] = orjson.loads(orjson.dumps(dice.sample(clean, 12)))
        for document in broken:
            container, key = dice.choice(places(document))
            container[key] = dice.choice(WRONG)
        path = tmp_path / "cluster.json"
        path.write_bytes(orjson.dumps({"apiVersion": "v1", "kind": "List", "items": broken}))
        for take in (read_all, create_all):
            try:
                take(path)
            except SeatrialError:
                continue


def read_all(path: Path) -> None:
    restore_cluster(fresh_store(Clock()), Snapshot.read(path, "all", "priority"), "snapshot")


def create_all(path: Path) -> None:
    manifests_of(read_objects([path], named=False))
