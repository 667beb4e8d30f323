"""Label, field and node selectors against the real ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.model.field_selectors import FieldSelector
from seatrial.model.kinds import Kind
from seatrial.model.label_selectors import (
    EVERYTHING,
    NOTHING,
    LabelSelector,
    NodeSelectorTerm,
    Requirement,
    SelectorError,
)
from seatrial.store.registry.kinds import selectable_fields
from tests.model.recorded import recorded

KEYS = st.sampled_from(["a", "b", "example.com/app", "in", "notin"])
VALUES = st.sampled_from(["1", "2", "x", "in", ""])
LABELS = st.dictionaries(KEYS, VALUES)
REQUIREMENTS = st.one_of(
    st.builds(lambda key, op: Requirement(key, op), KEYS, st.sampled_from(["exists", "!"])),
    st.builds(lambda key, op, value: Requirement(key, op, [value]), KEYS, st.sampled_from(["=", "!="]), VALUES),
    st.builds(
        lambda key, op, values: Requirement(key, op, sorted(values)),
        KEYS,
        st.sampled_from(["in", "notin"]),
        st.sets(VALUES, min_size=1),
    ),
)


def answer(case: dict) -> list[object]:  # type: ignore[type-arg]
    try:
        if case["Kind"] == "node":
            terms = [NodeSelectorTerm(term) for term in case["Node"]["nodeSelectorTerms"]]
            return ["", [any(term.matches(labels, case["Name"]) for term in terms) for labels in case["Labels"]]]
        if case["Kind"] == "field":
            fields = FieldSelector.parse(case["Text"])
            return [str(fields), [fields.matches(labels) for labels in case["Labels"]]]
        text = case["Kind"] == "text"
        selector = LabelSelector.parse(case["Text"]) if text else LabelSelector.from_document(case["Selector"])
        return [str(selector), [selector.matches(labels) for labels in case["Labels"]]]
    except SelectorError as error:
        return [error.message]


def test_selectors_equal_the_recorded_ones() -> None:
    for case, expected in recorded("values/selectors"):
        assert answer(case) == expected


@given(st.lists(REQUIREMENTS, max_size=4), LABELS)
def test_the_string_form_means_the_same(requirements: list[Requirement], labels: dict[str, str]) -> None:
    selector = LabelSelector(requirements)
    again = LabelSelector.parse(str(selector))
    assert again == selector
    assert again.matches(labels) == all(requirement.matches(labels) for requirement in requirements)


@given(st.text(max_size=20))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        LabelSelector.parse(text)
    except SelectorError as error:
        assert error.code == 400


def test_a_missing_selector_selects_nothing_and_an_empty_one_everything() -> None:
    assert LabelSelector.from_document(None) == NOTHING
    assert LabelSelector.from_document({}) == EVERYTHING
    assert not NOTHING.matches({"a": "1"})
    assert EVERYTHING.matches({})
    assert (NOTHING & EVERYTHING) == NOTHING


def test_an_exact_requirement_is_told() -> None:
    selector = LabelSelector.parse("a in (1),b in (1,2)")
    assert selector.required_value("a") == "1"
    assert selector.required_value("b") is None


POD = Kind("", "v1", "Pod", "pods")
NODE = Kind("", "v1", "Node", "nodes", namespaced=False)
CONFIG_MAP = Kind("", "v1", "ConfigMap", "configmaps")
EVENT = Kind("events.k8s.io", "v1", "Event", "events")
WIDGET = Kind("example.com", "v1", "Widget", "widgets", custom=True)


@pytest.mark.parametrize(
    ("kind", "text", "document", "expected"),
    [
        (POD, "spec.nodeName=n1", {"spec": {"nodeName": "n1"}}, True),
        (POD, "spec.nodeName=", {"spec": {}}, True),
        (POD, "spec.host=n1,status.phase!=Failed", {"spec": {"nodeName": "n1"}, "status": {"phase": "Running"}}, True),
        (POD, "spec.hostNetwork=false", {"spec": {}}, True),
        (POD, "status.podIP=10.0.0.1", {"status": {"podIPs": [{"ip": "10.0.0.1"}]}}, True),
        (NODE, "spec.unschedulable=false", {"spec": {}}, True),
        (NODE, "spec.unschedulable=true", {"spec": {"unschedulable": True}}, True),
        (EVENT, "regarding.name=p", {"involvedObject": {"name": "p"}}, True),
        (EVENT, "regarding.name=p", {"regarding": {"name": "q"}}, False),
        (CONFIG_MAP, "metadata.name=a,metadata.namespace=b", {"metadata": {"name": "a", "namespace": "b"}}, True),
    ],
)
def test_fields_of_a_kind(kind: Kind, text: str, document: dict[str, object], expected: bool) -> None:
    assert FieldSelector.parse(text, selectable_fields(kind)).matches(document) is expected


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        (CONFIG_MAP, "x=1", '"x" is not a known field selector: only "metadata.name", "metadata.namespace"'),
        (POD, "spec.x=1", "field label not supported: spec.x"),
        (Kind("batch", "v1", "Job", "jobs"), "x=1", 'field label "x" not supported for Job'),
        (WIDGET, "spec.color=1", "field label not supported: spec.color"),
    ],
)
def test_an_unknown_field_is_refused(kind: Kind, text: str, message: str) -> None:
    with pytest.raises(SelectorError) as refusal:
        FieldSelector.parse(text, selectable_fields(kind))
    assert refusal.value.message == message


def test_a_custom_kind_has_its_own_fields() -> None:
    selector = FieldSelector.parse("spec.color=red", selectable_fields(WIDGET, [".spec.color"]))
    assert selector.matches({"spec": {"color": "red"}})
    assert selector.required_value("spec.color") == "red"
