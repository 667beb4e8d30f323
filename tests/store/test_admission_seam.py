"""Admission: where it is asked, and that a refusal leaves nothing behind."""

import pytest

from seatrial.clock.virtual import Clock
from seatrial.model.builtin import builtin_kinds
from seatrial.model.errors import AlreadyExists, Forbidden
from seatrial.model.kinds import Kind
from seatrial.store.requests import NoAdmission, Request
from seatrial.store.store import Store
from tests.store.conftest import FindKind
from tests.store.stock import config_map, node, pod


class Recorder(NoAdmission):
    """Notes what it is asked and refuses what is called `bad`."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, str, str]] = []

    def admit(self, request: Request) -> None:
        self.asked.append(("admit", request.operation, request.name, request.subresource))
        if request.operation == "CREATE":
            request.document.setdefault("data", {})["admitted"] = "yes"

    def validate(self, request: Request) -> None:
        self.asked.append(("validate", request.operation, request.name, request.subresource))
        assert request.operation == "DELETE" or request.document["metadata"]["uid"]
        if request.name == "bad":
            raise Forbidden("bad names are refused")

    def binding_labels(self, store: Store, node: str) -> dict[str, str]:
        return {"zone": f"of-{node}"}


@pytest.fixture
def admission() -> Recorder:
    return Recorder()


@pytest.fixture
def store(admission: Recorder) -> Store:
    return Store(builtin_kinds(), Clock(), admission=admission)


def test_each_write_is_asked_first_to_change_and_then_to_refuse(store: Store, maps: Kind, admission: Recorder) -> None:
    store.create(maps, config_map("a"), writer="test")
    store.modify(maps, "a", lambda document: document.update(data={"x": "1"}), namespace="default", writer="test")
    store.delete(maps, "a", namespace="default", writer="test")
    assert admission.asked == [
        (step, operation, "a", "") for operation in ("CREATE", "UPDATE", "DELETE") for step in ("admit", "validate")
    ]


def test_what_admission_adds_is_stored(store: Store, maps: Kind) -> None:
    assert store.create(maps, config_map("a"), writer="test").document()["data"] == {"admitted": "yes"}


def test_a_refused_write_leaves_nothing(store: Store, maps: Kind) -> None:
    with pytest.raises(Forbidden):
        store.create(maps, config_map("bad"), writer="test")
    assert store.revision == 0 and store.find(maps, "bad", "default") is None


def test_a_name_that_is_taken_is_not_charged_for(store: Store, maps: Kind, admission: Recorder) -> None:
    store.create(maps, config_map("a"), writer="test")
    admission.asked.clear()
    with pytest.raises(AlreadyExists):
        store.create(maps, config_map("a"), writer="test")
    assert ("validate", "CREATE", "a", "") not in admission.asked


def test_a_bound_pod_takes_labels_over_from_its_node(kind: FindKind, pods: Kind) -> None:
    store = Store(builtin_kinds(), Clock(), admission=Recorder())
    document = pod("a")
    store.load([node("n"), document], writer="test")
    assert store.bind("default", "a", "n", writer="scheduler").document()["metadata"]["labels"] == {"zone": "of-n"}
