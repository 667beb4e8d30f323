"""Reading objects: order, namespaces, selectors, typed views."""

from collections.abc import Iterable
from typing import Any

import msgspec
import pytest

from seatrial.model.documents import encode
from seatrial.model.errors import NotFound
from seatrial.model.field_selectors import FieldSelector, SelectableFields
from seatrial.model.kinds import Kind
from seatrial.model.label_selectors import LabelSelector
from seatrial.store.objects import Change, Stored
from seatrial.store.registry.kinds import BUILT_IN, selectable_fields
from seatrial.store.store import Store
from seatrial.store.views import View
from tests.store.conftest import FindKind
from tests.store.stock import config_map, pod


def names(found: Iterable[Stored]) -> list[str]:
    return [f"{stored.namespace}/{stored.name}" for stored in found]


def test_lists_are_in_the_order_of_namespace_and_name(store: Store, maps: Kind) -> None:
    for namespace, name in (("b", "x"), ("a", "z"), ("a", "y"), ("b", "a")):
        store.create(maps, config_map(name, namespace), writer="test")
    assert names(store.list(maps)) == ["a/y", "a/z", "b/a", "b/x"]
    assert names(store.list(maps, "b")) == ["b/a", "b/x"]
    store.create(maps, config_map("m", "b"), writer="test")
    store.delete(maps, "x", namespace="b", writer="test")
    store.create(maps, config_map("c", "b"), writer="test")
    assert names(store.list(maps, "b")) == ["b/a", "b/c", "b/m"]


def test_an_empty_namespace_has_no_objects(store: Store, maps: Kind) -> None:
    assert store.list(maps, "nowhere") == []


def test_labels_select(store: Store, maps: Kind) -> None:
    for name, tier in (("a", "x"), ("b", "y")):
        document = config_map(name)
        document["metadata"]["labels"] = {"tier": tier}
        store.create(maps, document, writer="test")
    store.create(maps, config_map("c"), writer="test")
    assert names(store.list(maps, labels=LabelSelector.parse("tier=y"))) == ["default/b"]
    assert names(store.list(maps, labels=LabelSelector.parse("!tier"))) == ["default/c"]


def test_fields_select(store: Store, pods: Kind) -> None:
    store.create(pods, pod("a"), writer="test")
    store.create(pods, pod("b", nodeName="n1"), writer="test")
    fields = selectable_fields(pods)
    assert names(store.list(pods, fields=FieldSelector.parse("spec.nodeName=n1", fields))) == ["default/b"]
    assert names(store.list(pods, fields=FieldSelector.parse("spec.nodeName=", fields))) == ["default/a"]
    assert len(store.list(pods, fields=FieldSelector.parse("status.phase!=Running", fields))) == 2


def test_what_is_not_there_is_not_found_or_none(store: Store, maps: Kind) -> None:
    assert store.find(maps, "a", "default") is None
    with pytest.raises(NotFound) as raised:
        store.get(maps, "a", "default")
    assert raised.value.status()["details"] == {"name": "a", "kind": "configmaps"}


def test_a_document_is_fresh_each_time(store: Store, maps: Kind) -> None:
    stored = store.create(maps, config_map("a"), writer="test")
    stored.document()["data"] = {"x": "1"}
    assert "data" not in store.get(maps, "a", "default").document()


def test_a_view_has_just_the_fields_it_declares_and_is_shared(store: Store, pods: Kind) -> None:
    class Spec(msgspec.Struct, frozen=True):
        schedulerName: str = ""

    class Scheduled(msgspec.Struct, frozen=True):
        spec: Spec

    stored = store.create(pods, pod("a", schedulerName="s1"), writer="test")
    view = View(Scheduled)
    assert view.read(stored).spec.schedulerName == "s1"
    assert view.read(stored) is view.read(stored)


def test_an_autoscaler_is_one_object_in_both_of_its_versions(store: Store, kind: FindKind) -> None:
    newer, older = (kind(f"autoscaling/{version}", "HorizontalPodAutoscaler") for version in ("v2", "v1"))
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}
    spec = {"scaleTargetRef": target, "maxReplicas": 3, "targetCPUUtilizationPercentage": 70}
    store.create(older, {"metadata": {"name": "h", "namespace": "default"}, "spec": spec}, writer="test")
    (metric,) = store.get(newer, "h", "default").document()["spec"]["metrics"]
    assert metric["resource"]["target"] == {"type": "Utilization", "averageUtilization": 70}
    assert store.get(older, "h", "default").document()["spec"]["targetCPUUtilizationPercentage"] == 70
    assert [stored.kind for stored in store.list(older)] == [older]


def test_an_event_is_one_object_in_both_of_its_groups(store: Store, kind: FindKind) -> None:
    core, grouped = kind("v1", "Event"), kind("events.k8s.io/v1", "Event")
    heard: list[Change] = []
    store.subscribe(heard.append, [grouped])
    about = {"kind": "Pod", "name": "p", "namespace": "default"}
    document = {"metadata": {"name": "e", "namespace": "default"}, "regarding": about, "note": "hello"}
    store.create(grouped, document, writer="test")
    assert store.get(core, "e", "default").document()["involvedObject"]["name"] == "p"
    assert store.get(grouped, "e", "default").document()["note"] == "hello"
    assert len(heard) == len(list(store.changes(0, grouped))) == 1


@pytest.mark.parametrize("group_kind", sorted(BUILT_IN))
def test_a_field_selector_decodes_all_that_it_reads(group_kind: tuple[str, str]) -> None:
    """Every place that a selectable field looks at has a value of its own here; with none of them it reads no other."""
    fields = BUILT_IN[group_kind].selectable_fields or SelectableFields({})
    document: dict[str, Any] = {"status": {"podIPs": [{"ip": "status.podIPs"}]}}
    for reader in fields.readers.values():
        for place in reader.places:
            *parents, last = place.split(".")
            part = document
            for step in parents:
                part = part.setdefault(step, {})
            part.setdefault(last, place)
    for field, reader in fields.readers.items():
        value = reader.read(document)
        assert value or not reader.places
        assert FieldSelector.parse(f"{field}={value}", fields).matches_encoded(encode(document))
        assert not FieldSelector.parse(f"{field}={value}x", fields).matches_encoded(encode(document))
    assert FieldSelector.parse("spec.other=").matches_encoded(b'{"spec":"text"}')
