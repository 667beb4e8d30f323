"""Creation from templates: the same bytes and the same errors as the whole way, for random objects in random order."""

import random
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import pytest

from seatrial.clock.virtual import Clock
from seatrial.model.builtin import builtin_kinds
from seatrial.model.errors import AlreadyExists, StatusError
from seatrial.model.kinds import Kind
from seatrial.scenario.cluster import furnish
from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.store.admission.chain import StandardAdmission
from seatrial.store.options import CreateOptions
from seatrial.store.registry.status_writes import document_without_status, write_status
from seatrial.store.registry.templates import VARIABLE, Templates
from seatrial.store.store import Store
from tests.known_kinds import known_kind
from tests.store.stock import node, pod

Document = dict[str, Any]
TRACKED = CreateOptions(field_manager="scenario", field_validation="Strict")
TRUSTED = CreateOptions(trusted=True)
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
OWNER = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "u-1", "controller": True}
NAMES = ("a", "web-0", "a.b", "x" * 60, "x" * 260, "Bad", "a%sb", "-", "")
PREFIXES = ("web-", "job-", "job-1-", "y" * 70, "z" * 70 + "-", "Bad-", "web", "web--", "a.b-", "a.-", "-", "", 7, None)
VALUES = ("", "a", "b", "1", "a%b", "not a value", "x" * 63, "x" * 64, "é", '"', 7, None)


def cluster(*, enabled: bool) -> Store:
    store = Store(builtin_kinds(), Clock(), admission=StandardAdmission())
    store.templates = Templates(enabled=enabled)
    furnish(store)
    return store


def kind(store: Store, document: Document) -> Kind:
    return known_kind(store.kinds, document["apiVersion"], document["kind"])


def some_name(chance: random.Random) -> str:
    return f"p-{chance.randrange(300)}" if chance.random() < 0.8 else chance.choice(NAMES)


def some_value(chance: random.Random) -> Any:
    return str(chance.randrange(9)) if chance.random() < 0.8 else chance.choice(VALUES)


def some_pod(shape: random.Random, chance: random.Random) -> Document:
    """A pod: `shape` decides which fields it has, `chance` the values in which pods of one owner differ."""
    document = pod(some_name(chance), shape.choice(("default", "default", "default", "kube-public", "missing")))
    metadata, spec = document["metadata"], document["spec"]
    if shape.random() < 0.3:
        metadata.pop("name")
        metadata["generateName"] = chance.choice(PREFIXES)
        metadata["ownerReferences"] = [OWNER | {"name": some_name(chance), "uid": some_value(chance)}]
    if shape.random() < 0.3:
        index = {"batch.kubernetes.io/job-completion-index": some_value(chance)}
        group = {"scheduling.k8s.io/group-name": some_value(chance)} if shape.random() < 0.5 else {}
        metadata["annotations"] = {**index, **group, "note": shape.choice(("x", "y"))}
    if shape.random() < 0.6:
        number = {"n": some_value(chance)} if shape.random() < 0.5 else {}
        metadata["labels"] = {"app": some_value(chance), **number}
    if shape.random() < 0.3:
        spec["hostname"] = some_name(chance)
    if shape.random() < 0.2:
        spec["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": some_name(chance)}}]
    if shape.random() < 0.2:
        field = {"key": "metadata.name", "operator": "In", "values": [some_name(chance)]}
        spec["affinity"] = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchFields": [field]}]}}}
    if shape.random() < 0.2:
        spec["containers"][0]["env"] = [{"name": "VC_TASK_INDEX", "value": some_value(chance)}]
    spec |= shape.choice(RARE) if shape.random() < 0.3 else {}
    return document


RARE: tuple[Document, ...] = (
    {"nodeName": "n1"},
    {"priorityClassName": "high"},
    {"runtimeClassName": "sandboxed"},
    {"schedulingGates": [{"name": "example.com/wait"}]},
    {"nonsense": 1},
    {
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "zone",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": "a"}},
                "matchLabelKeys": ["n"],
            }
        ]
    },
)


def some_node(shape: random.Random, chance: random.Random) -> Document:
    room = {"cpu": "4", "pods": "110"}
    document = node(some_name(chance), capacity=room, allocatable=room)
    if shape.random() < 0.8:
        zone = {"topology.kubernetes.io/zone": some_value(chance)} if shape.random() < 0.5 else {}
        document["metadata"]["labels"] = {"kubernetes.io/hostname": some_value(chance), **zone}
    return document


def some_event(shape: random.Random, chance: random.Random) -> Document:
    name = some_name(chance)
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{name}.{chance.randrange(9)}", "namespace": "default"},
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": name, "uid": some_name(chance)},
        "reason": "Scheduled",
        "message": chance.choice(("assigned", 'a "quoted" message', "50 %d", "")),
        "eventTime": chance.choice(("2030-01-01T00:00:00.000000Z", "2030-01-01T00:00:00Z", None)),
        "type": shape.choice(("Normal", "Warning")),
    }


def some_policy(shape: random.Random, chance: random.Random) -> Document:
    """An object that admission reads, or that makes it judge each object on its own."""
    return chance.choice(
        (
            {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "metadata": {"name": chance.choice(("high", "low"))},
                "value": chance.randrange(100),
                "globalDefault": chance.random() < 0.5,
            },
            {
                "apiVersion": "v1",
                "kind": "LimitRange",
                "metadata": {"name": "limits", "namespace": "default"},
                "spec": {"limits": [{"type": "Container", "defaultRequest": {"cpu": "100m"}}]},
            },
            {
                "apiVersion": "v1",
                "kind": "ResourceQuota",
                "metadata": {"name": "quota", "namespace": "default"},
                "spec": {"hard": {"pods": "12"}},
            },
            {
                "apiVersion": "node.k8s.io/v1",
                "kind": "RuntimeClass",
                "metadata": {"name": "sandboxed"},
                "handler": "h",
                "overhead": {"podFixed": {"cpu": "10m"}},
            },
        )
    )


def outcome(store: Store, document: Document, options: CreateOptions) -> bytes | str:
    try:
        return store.create(kind(store, document), document, writer="test", options=options).data
    except StatusError as error:
        return f"{error.code} {error.message}"


def writes(seed: int) -> Iterator[tuple[Document, CreateOptions]]:
    chance = random.Random(seed)
    for _ in range(200):
        make = chance.choices((some_pod, some_node, some_event, some_policy), (12, 3, 4, 0.3))[0]
        document = make(random.Random(f"{seed} {chance.randrange(4)}"), chance)
        is_sound = document["kind"] == "Event" or not any(value is None or value == 7 for value in _leaves(document))
        yield document, chance.choice((TRACKED, TRUSTED) if is_sound else (TRACKED,))


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _leaves(inner)
    else:
        yield value


@pytest.mark.parametrize("seed", range(40))
def test_a_template_gives_the_bytes_and_the_errors_of_the_whole_way(seed: int) -> None:
    short, whole = cluster(enabled=True), cluster(enabled=False)
    for number, (document, options) in enumerate(writes(seed)):
        if number % 20 == 0:
            for store in (short, whole):
                store.clock.advance(store.clock.now() + 700_000)
        assert outcome(short, document, options) == outcome(whole, document, options)
    assert whole.templates.used == 0
    assert [stored.data for stored in short.everything()] == [stored.data for stored in whole.everything()]


def test_random_writes_do_use_templates() -> None:
    used = 0
    for seed in range(5):
        store = cluster(enabled=True)
        for document, options in writes(seed):
            outcome(store, document, options)
        used += store.templates.used
    assert used > 100


def many_pods(store: Store, count: int = 5, **spec: Any) -> int:
    """Create some equal pods; how many of them came from a template."""
    before = store.templates.used
    for index in range(count):
        store.create(known_kind(store.kinds, "v1", "Pod"), pod(f"many-{store.revision}-{index}", **spec), writer="test")
    return store.templates.used - before


def test_pods_from_the_third_on_come_from_a_template() -> None:
    assert many_pods(cluster(enabled=True), 5) == 3


def test_pods_of_several_owners_come_from_one_template() -> None:
    store = cluster(enabled=True)
    kind = known_kind(store.kinds, "v1", "Pod")
    for number in range(5):
        made = pod("", "default")
        del made["metadata"]["name"]
        made["metadata"] |= {"generateName": f"web-{number}-", "ownerReferences": [OWNER | {"name": f"web-{number}"}]}
        created = store.create(kind, made, writer="test", options=TRUSTED)
        assert created.name.startswith(f"web-{number}-")
        assert created.document()["metadata"]["generateName"] == f"web-{number}-"
    assert store.templates.used == 3


@pytest.mark.parametrize("spec", [{}, {"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}}])
def test_a_node_whose_status_comes_first_is_written_and_read_as_on_the_whole_way(spec: Document) -> None:
    stores = cluster(enabled=True), cluster(enabled=False)
    for number in range(4):
        document = node(f"n-{number}", capacity={"cpu": "4", "pods": "110"}) | spec
        document["metadata"] |= {"labels": {"zone": f"z-{number}"}, "annotations": {"full": "100%"}}
        created = [store.create(kind(store, document), document, writer="test") for store in stores]
        written = [
            write_status(store, stored, {"capacity": {"cpu": "8"}}, "test")
            for store, stored in zip(stores, created, strict=True)
        ]
        for stored in (created, written):
            assert stored[0].data == stored[1].data
            assert document_without_status(stored[0]) == document_without_status(stored[1])
            assert stored[0].encoded_status == stored[1].encoded_status
            assert asdict(NodeInfo.of(stored[0])) == asdict(NodeInfo.read(stored[1].document()))
        assert [stored.facets is not None for stored in (created[0], written[0])] == [True, True]


def test_a_quota_makes_every_pod_of_its_namespace_take_the_whole_way() -> None:
    store = cluster(enabled=True)
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "quota", "namespace": "default"},
        "spec": {"hard": {"pods": "7"}},
    }
    store.create(kind(store, quota), quota, writer="test")
    assert many_pods(store, 7) == 0
    with pytest.raises(StatusError, match="exceeded quota"):
        many_pods(store, 1)


def test_a_change_of_what_admission_reads_ends_a_template() -> None:
    store = cluster(enabled=True)
    assert many_pods(store, 4) == 2
    default = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "default"},
        "value": 7,
        "globalDefault": True,
    }
    store.create(kind(store, default), default, writer="test")
    assert many_pods(store, 3) == 1
    pods = store.list(known_kind(store.kinds, "v1", "Pod"))
    assert [stored.document()["spec"]["priority"] for stored in pods] == [0] * 4 + [7] * 3


def test_a_taken_name_is_refused() -> None:
    store = cluster(enabled=True)
    many_pods(store, 4)
    pods = known_kind(store.kinds, "v1", "Pod")
    taken = store.list(pods)[0].name
    with pytest.raises(AlreadyExists):
        store.create(pods, pod(taken), writer="test")


def test_the_environment_switches_templates_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "off")
    assert not Templates().enabled
