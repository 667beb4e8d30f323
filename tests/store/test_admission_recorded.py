"""Limits and charges against LimitRanger's and the quota evaluator's own answers (tools/recorders)."""

import copy
import gzip
from pathlib import Path
from typing import Any

import orjson
import pytest

from seatrial.clock.virtual import Clock
from seatrial.model.builtin import builtin_kinds
from seatrial.model.quantity import canonical_quantity
from seatrial.store.admission import limits
from seatrial.store.admission.namespaced_reader import Reader
from seatrial.store.admission.quota_charges import charge
from seatrial.store.requests import Request
from seatrial.store.store import Store
from tests.known_kinds import known_kind

GOLDEN = Path(__file__).parents[1] / "golden" / "admission" / "limits.json.gz"
CASES: list[Any] = orjson.loads(gzip.decompress(GOLDEN.read_bytes()))
NOW = 1_893_456_000_000_000


@pytest.fixture(scope="module")
def store() -> Store:
    return Store(builtin_kinds(), Clock())


class OneRange(Reader):
    """A namespace with one limit range."""

    def __init__(self, limit_range: dict[str, Any]) -> None:
        super().__init__()
        self.limit_range = limit_range

    def all(self, store: Store, api_version: str, kind: str, namespace: str = "") -> list[dict[str, Any]]:
        return [self.limit_range] if kind == "LimitRange" else []


def resources(pod: dict[str, Any]) -> list[Any]:
    containers = [*pod["spec"]["containers"], *pod["spec"].get("initContainers", [])]
    return [
        {part: {n: canonical_quantity(v) for n, v in given.items()} for part, given in c["resources"].items() if given}
        for c in containers
    ]


def test_a_pod_costs_what_the_quota_evaluator_says(store: Store) -> None:
    kind = known_kind(store.kinds, "v1", "Pod")
    for case, answer in CASES:
        found = {name: str(amount) for name, amount in charge(kind, case["Pod"], NOW).items()}
        assert found == answer["usage"]


def test_limits_fill_in_and_refuse_as_limit_ranger_does(store: Store) -> None:
    kind = known_kind(store.kinds, "v1", "Pod")
    for case, answer in CASES:
        pod = copy.deepcopy(case["Pod"])
        request = Request(store, "CREATE", kind, "default", "p", pod, None, "", "user:test")
        reader = OneRange(case["Range"])
        limits.fill_in_defaults(request, reader)
        assert resources(pod) == resources(answer["pod"])
        assert pod["metadata"].get("annotations") == answer["pod"]["metadata"].get("annotations")
        faults = limits.faults_of(case["Range"], pod["spec"])
        assert sorted(faults) == sorted(answer["faults"])
