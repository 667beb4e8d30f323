"""How a test in real time counts the pods of a watch."""

from typing import Any

import orjson
import pytest

from seatrial.vcsim.real_run import Scheduled

OWNER = {"apiVersion": "apps/v1", "name": "web", "uid": "set", "controller": True}


def event(name: str, uid: str, node: str = "", kind: str = "MODIFIED", **metadata: Any) -> bytes:
    pod = {"metadata": {"namespace": "ns", "name": name, "uid": uid, **metadata}, "spec": {"nodeName": node}}
    return orjson.dumps({"type": kind, "object": pod})


def heard(*events: bytes) -> Scheduled:
    scheduled = Scheduled(frozenset(["ns"]))
    for moment, line in enumerate(events):
        scheduled.hear(line, float(moment))
    return scheduled


@pytest.mark.parametrize("kind", ["ReplicaSet", "DaemonSet"])
def test_a_pod_that_waits_for_the_place_of_an_evicted_one_is_not_scheduled(kind: str) -> None:
    owned: dict[str, Any] = {"ownerReferences": [{**OWNER, "kind": kind}]}
    evicted = event("web-a", "1", "n1", **owned, deletionTimestamp="2026-01-01T00:00:00Z")
    scheduled = heard(event("web-a", "1", "n1", **owned), evicted, event("web-b", "2", **owned))
    assert scheduled.count == 0
    scheduled.hear(event("web-b", "2", "n1", **owned), 5.0)
    assert (scheduled.count, scheduled.moments) == (1, {"1": 0.0, "2": 5.0})


def test_a_pod_of_the_same_name_counts_once() -> None:
    scheduled = heard(event("a", "1", "n1"), event("a", "1", "n1", "DELETED"), event("a", "2", "n1"))
    assert scheduled.count == 1


def test_pods_of_other_namespaces_do_not_count() -> None:
    assert heard(event("a", "1", "n1", namespace="kube-system")).count == 0
