"""CustomResourceDefinitions: the kinds they add, and how documents of these kinds are kept.

Tests: store/crd/*.py
"""

from collections.abc import Callable

import pytest

from seatrial.model.errors import Conflict, Invalid, NotFound
from seatrial.model.kinds import Kind
from seatrial.store.options import Patch
from seatrial.store.store import Store
from tests.store.conftest import FindKind
from tests.store.stock import Document, definition, widget

Define = Callable[[Document], Kind]


@pytest.fixture
def define(store: Store, kind: FindKind) -> Define:
    """Create a definition; answers the kind it adds."""
    definitions = kind("apiextensions.k8s.io/v1", "CustomResourceDefinition")

    def create(document: Document) -> Kind:
        store.create(definitions, document, writer="test")
        return kind("example.com/v1", "Widget")

    return create


def status_of(store: Store, kind: FindKind) -> Document:
    definitions = kind("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    status: Document = store.get(definitions, "widgets.example.com").document()["status"]
    return status


def test_a_definition_adds_a_kind(store: Store, define: Define) -> None:
    widgets = define(definition())
    assert (widgets.plural, widgets.namespaced, widgets.short_names, widgets.custom) == ("widgets", True, ("wd",), True)
    store.create(widgets, widget("a", x=1), writer="test")
    assert [stored.name for stored in store.list(widgets)] == ["a"]


def test_a_definition_is_established_at_once(store: Store, kind: FindKind, define: Define) -> None:
    define(definition())
    status = status_of(store, kind)
    assert {condition["type"]: condition["status"] for condition in status["conditions"]} == {
        "NamesAccepted": "True",
        "Established": "True",
    }
    assert status["acceptedNames"] == {
        "plural": "widgets",
        "singular": "widget",
        "shortNames": ["wd"],
        "kind": "Widget",
        "listKind": "WidgetList",
    }
    assert status["storedVersions"] == ["v1"]


def test_names_that_are_taken_are_not_accepted(store: Store, kind: FindKind, define: Define) -> None:
    define(definition())
    other = definition()
    other["metadata"]["name"] = "gadgets.example.com"
    other["spec"]["names"] = {"plural": "gadgets", "kind": "Widget"}
    define(other)
    definitions = kind("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    conditions = store.get(definitions, "gadgets.example.com").document()["status"]["conditions"]
    assert [(condition["status"], condition["reason"]) for condition in conditions] == [
        ("False", "ListKindConflict"),
        ("False", "NotAccepted"),
    ]
    assert store.kinds.resource("example.com", "v1", "gadgets") is None


def test_unknown_fields_are_pruned_but_for_where_they_are_wanted(store: Store, define: Define) -> None:
    schema = {
        "type": "object",
        "properties": {
            "known": {"type": "string"},
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        },
    }
    widgets = define(definition(schema))
    stored = store.create(widgets, widget("a", known="x", unknown="y", free={"z": {"w": 1}}), writer="test")
    assert stored.document()["spec"] == {"known": "x", "free": {"z": {"w": 1}}}


def test_defaults_are_filled_in_all_the_way_down(store: Store, define: Define) -> None:
    schema = {
        "type": "object",
        "default": {},
        "properties": {
            "replicas": {"type": "integer", "default": 1},
            "items": {
                "type": "array",
                "items": {"type": "object", "properties": {"p": {"type": "string", "default": "q"}}},
            },
            "nothing": {"type": "string"},
        },
    }
    widgets = define(definition(schema))
    document = widget("a", items=[{}, {"p": "r"}], nothing=None)
    assert store.create(widgets, document, writer="test").document()["spec"] == {
        "items": [{"p": "q"}, {"p": "r"}],
        "replicas": 1,
    }


IN_BODY = "spec.f in body"
REFUSALS = [
    ({"type": "integer"}, "x", f'spec.f: Invalid value: "string": {IN_BODY} must be of type integer: "string"'),
    ({"type": "integer", "minimum": 1}, 0, f"spec.f: Invalid value: 0: {IN_BODY} should be greater than or equal to 1"),
    ({"type": "number", "maximum": 1.5}, 2, f"spec.f: Invalid value: 2: {IN_BODY} should be less than or equal to 1.5"),
    ({"type": "string", "enum": ["a", "b"]}, "c", 'spec.f: Unsupported value: "c": supported values: "a", "b"'),
    ({"type": "string", "pattern": "^a+$"}, "b", f"spec.f: Invalid value: \"b\": {IN_BODY} should match '^a+$'"),
    ({"type": "string", "minLength": 2}, "b", f'spec.f: Invalid value: "b": {IN_BODY} should be at least 2 chars long'),
    ({"type": "string", "maxLength": 2}, "bcd", "spec.f: Too long: may not be more than 2 bytes"),
    ({"type": "string", "format": "date"}, "b", f'spec.f: Invalid value: "b": {IN_BODY} must be of type date: "b"'),
    ({"type": "array", "maxItems": 1}, [1, 2], "spec.f: Too many: 2: must have at most 1 item"),
    ({"type": "object", "required": ["g"], "properties": {"g": {"type": "string"}}}, {}, "spec.f.g: Required value"),
    (
        {"type": "integer", "format": "int32"},
        2**40,
        '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.f',
    ),
    (
        {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True},
        True,
        f'spec.f: Invalid value: "boolean": {IN_BODY} must be of type integer,string: "boolean"',
    ),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "value", "text"), REFUSALS)
def test_what_a_schema_refuses_is_said_in_upstreams_words(
    store: Store, define: Define, schema: Document, value: object, text: str
) -> None:
    widgets = define(definition({"type": "object", "properties": {"f": schema}}))
    with pytest.raises(Invalid) as raised:
        store.create(widgets, widget("a", f=value), writer="test")
    assert text in [f"{cause.field}: {cause.message}" for cause in raised.value.causes]
    assert raised.value.message.startswith('Widget.example.com "a" is invalid: ')


@pytest.mark.parametrize("value", [5, "50%"])
def test_int_or_string_takes_both(store: Store, define: Define, value: object) -> None:
    widgets = define(definition({"type": "object", "properties": {"f": {"x-kubernetes-int-or-string": True}}}))
    assert store.create(widgets, widget("a", f=value), writer="test").document()["spec"] == {"f": value}


def test_a_list_that_is_a_map_has_no_key_twice(store: Store, define: Define) -> None:
    schema = {
        "type": "object",
        "properties": {
            "ports": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
                "items": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}},
            }
        },
    }
    widgets = define(definition(schema))
    with pytest.raises(Invalid, match=r'spec\.ports\[1\]: Duplicate value: \{"name":"a"\}'):
        store.create(widgets, widget("w", ports=[{"name": "a"}, {"name": "a"}]), writer="test")


def test_rules_in_cel_are_asked(store: Store, define: Define) -> None:
    rule = {"rule": "self.low <= self.high", "message": "low must not exceed high"}
    numbers = {"low": {"type": "integer"}, "high": {"type": "integer"}}
    widgets = define(definition({"type": "object", "properties": numbers, "x-kubernetes-validations": [rule]}))
    store.create(widgets, widget("a", low=1, high=2), writer="test")
    with pytest.raises(Invalid, match="spec: Invalid value: low must not exceed high"):
        store.create(widgets, widget("b", low=3, high=2), writer="test")


def test_a_rule_about_the_old_value_is_asked_of_updates_only(store: Store, define: Define) -> None:
    rule = {"rule": "self == oldSelf", "message": "is immutable"}
    schema = {"type": "object", "properties": {"f": {"type": "string", "x-kubernetes-validations": [rule]}}}
    widgets = define(definition(schema))
    store.create(widgets, widget("a", f="x"), writer="test")
    with pytest.raises(Invalid, match=r'spec\.f: Invalid value: "y": is immutable'):
        store.modify(widgets, "a", lambda d: d["spec"].update(f="y"), namespace="default", writer="test")


def test_what_was_wrong_before_and_is_left_alone_may_stay(store: Store, kind: FindKind, define: Define) -> None:
    widgets = define(definition({"type": "object", "properties": {"f": {"type": "string"}, "g": {"type": "string"}}}))
    store.create(widgets, widget("a", f="long"), writer="test")
    definitions = kind("apiextensions.k8s.io/v1", "CustomResourceDefinition")

    def tighten(document: Document) -> None:
        root = document["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        root["properties"]["spec"]["properties"]["f"]["maxLength"] = 2

    store.modify(definitions, "widgets.example.com", tighten, writer="test")
    store.modify(widgets, "a", lambda d: d["spec"].update(g="x"), namespace="default", writer="test")
    with pytest.raises(Invalid):
        store.modify(widgets, "a", lambda d: d["spec"].update(f="also long"), namespace="default", writer="test")


def test_objects_are_read_in_every_served_version(store: Store, kind: FindKind, define: Define) -> None:
    document = definition()
    v1 = document["spec"]["versions"][0]
    document["spec"]["versions"] = [{**v1, "name": "v1beta1", "storage": False}, v1]
    widgets = define(document)
    older = kind("example.com/v1beta1", "Widget")
    store.create(older, widget("a", "v1beta1"), writer="test")
    assert store.get(widgets, "a", "default").document()["apiVersion"] == "example.com/v1"
    assert store.get(older, "a", "default").document()["apiVersion"] == "example.com/v1beta1"
    assert store.list(older)[0].kind is older


def test_a_change_of_the_storage_version_leaves_old_objects_readable(
    store: Store, kind: FindKind, define: Define
) -> None:
    widgets = define(definition())
    store.create(widgets, widget("a"), writer="test")
    definitions = kind("apiextensions.k8s.io/v1", "CustomResourceDefinition")

    def add_version(document: Document) -> None:
        (v1,) = document["spec"]["versions"]
        document["spec"]["versions"] = [{**v1, "storage": False}, {**v1, "name": "v2"}]

    store.modify(definitions, "widgets.example.com", add_version, writer="test")
    newer = kind("example.com/v2", "Widget")
    store.create(newer, widget("b", "v2"), writer="test")
    assert [s.document()["apiVersion"] for s in store.list(newer)] == ["example.com/v2"] * 2
    assert status_of(store, kind)["storedVersions"] == ["v1", "v2"]


def test_the_status_door_of_a_custom_kind_changes_status_alone(store: Store, define: Define) -> None:
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    document = definition(free, subresources={"status": {}})
    root = document["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    root["properties"]["status"] = free
    widgets = define(document)
    created = store.create(widgets, {**widget("a", x=1), "status": {"y": 1}}, writer="test").document()
    assert "status" not in created
    created |= {"spec": {"x": 2}, "status": {"y": 2}}
    created["metadata"]["labels"] = {"l": "m"}
    after = store.update(widgets, created, subresource="status", writer="test").document()
    assert (after["spec"], after["status"]) == ({"x": 1}, {"y": 2})
    assert "labels" not in after["metadata"] and after["metadata"]["generation"] == 1


def test_a_custom_kind_is_scaled_by_the_paths_it_names(store: Store, define: Define) -> None:
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    scale = {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size", "labelSelectorPath": ".status.sel"}
    widgets = define(definition(free, subresources={"scale": scale, "status": {}}))
    store.create(widgets, widget("a", size=3), writer="test")
    assert store.scale(widgets, "a", "default")["spec"] == {"replicas": 3}
    store.patch(
        widgets, "a", Patch("merge", {"spec": {"replicas": 4}}), namespace="default", subresource="scale", writer="test"
    )
    assert store.get(widgets, "a", "default").document()["spec"] == {"size": 4}


def test_custom_resources_need_a_revision_to_be_updated(store: Store, define: Define) -> None:
    widgets = define(definition())
    stored = store.create(widgets, widget("a"), writer="test")
    with pytest.raises(Invalid, match="must be specified for an update"):
        store.update(widgets, widget("a", x=1), writer="test")
    document = stored.document()
    document["metadata"]["resourceVersion"] = "77"
    with pytest.raises(Conflict):
        store.update(widgets, document, writer="test")


def test_deleting_a_definition_deletes_its_objects_and_ends_its_kind(
    store: Store, kind: FindKind, define: Define
) -> None:
    widgets = define(definition())
    store.create(widgets, widget("a"), writer="test")
    definitions = kind("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    assert store.delete(definitions, "widgets.example.com", writer="test") is None
    assert store.kinds.named("example.com/v1", "Widget") is None
    assert [change.stored.name for change in store.changes(0) if change.type == "DELETED"] == [
        "a",
        "widgets.example.com",
    ]


def test_a_definition_waits_for_objects_that_have_finalizers(store: Store, kind: FindKind, define: Define) -> None:
    widgets = define(definition())
    document = widget("a")
    document["metadata"]["finalizers"] = ["example.com/one"]
    store.create(widgets, document, writer="test")
    definitions = kind("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    assert store.delete(definitions, "widgets.example.com", writer="test") is not None
    store.modify(widgets, "a", lambda d: d["metadata"].pop("finalizers"), namespace="default", writer="test")
    assert store.find(definitions, "widgets.example.com") is None


def root_of(document: Document) -> Document:
    root: Document = document["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    return root


WRONG_DEFINITIONS = [
    (
        lambda d: d["metadata"].update(name="x.example.com"),
        'metadata.name: Invalid value: "x.example.com": must be spec.names.plural+"."+spec.group',
    ),
    (
        lambda d: d["spec"]["versions"][0].update(storage=False),
        "must have exactly one version marked as storage version",
    ),
    (
        lambda d: d["spec"]["versions"][0].pop("schema"),
        "spec.versions[0].schema.openAPIV3Schema: Required value: schemas are required",
    ),
    (
        lambda d: d["spec"].update(scope="Galaxy"),
        'spec.scope: Unsupported value: "Galaxy": supported values: "Cluster", "Namespaced"',
    ),
    (
        lambda d: root_of(d)["properties"].update(spec={"properties": {"x": {}}}),
        "spec.validation.openAPIV3Schema.properties[spec].type: Required value: must not be empty for specified "
        "object fields",
    ),
]


@pytest.mark.parametrize(("change", "text"), WRONG_DEFINITIONS)
def test_a_definition_that_is_wrong_is_refused(
    store: Store, define: Define, change: Callable[[Document], object], text: str
) -> None:
    document = definition()
    change(document)
    with pytest.raises(Invalid) as raised:
        define(document)
    assert text in raised.value.message


def test_a_kind_that_was_never_defined_is_not_served(store: Store, maps: Kind) -> None:
    assert store.kinds.named("example.com/v1", "Widget") is None
    with pytest.raises(NotFound):
        store.get(maps, "a", "default")


def test_printer_columns_and_selectable_fields_are_kept_for_the_server(store: Store, define: Define) -> None:
    column = {"name": "Size", "type": "integer", "jsonPath": ".spec.size"}
    schema = {"type": "object", "properties": {"size": {"type": "integer"}}}
    widgets = define(
        definition(schema, additionalPrinterColumns=[column], selectableFields=[{"jsonPath": ".spec.size"}])
    )
    assert store.definitions.columns(widgets) == (column,)
    assert store.definitions.selectable(widgets) == ("spec.size",)


@pytest.mark.parametrize("expression", ["(?=a)", "(a)\\1"])
def test_a_pattern_that_re2_does_not_know_is_refused(define: Define, expression: str) -> None:
    with pytest.raises(Invalid, match="must be a valid regular expression, but isn't: error parsing regexp: invalid"):
        define(definition({"type": "object", "properties": {"f": {"type": "string", "pattern": expression}}}))


def test_a_pattern_with_nested_repetition_ends(store: Store, define: Define) -> None:
    pattern = {"type": "string", "pattern": "^(a+)+$"}
    widgets = define(definition({"type": "object", "properties": {"f": pattern, "g": {"anyOf": [pattern]} | pattern}}))
    store.create(widgets, widget("a", f="aaa"), writer="test")
    for field in ("f", "g"):
        with pytest.raises(Invalid, match="should match"):
            store.create(widgets, widget("b", **{field: "a" * 5_000 + "!"}), writer="test")


def test_a_pattern_may_use_posix_classes(store: Store, define: Define) -> None:
    widgets = define(
        definition({"type": "object", "properties": {"f": {"type": "string", "pattern": "^[[:alpha:]]+$"}}})
    )
    store.create(widgets, widget("a", f="abc"), writer="test")
    with pytest.raises(Invalid, match="should match"):
        store.create(widgets, widget("b", f="ab1"), writer="test")


def test_a_rule_with_nested_repetition_ends(store: Store, define: Define) -> None:
    rule = {"rule": "!has(self.f) || self.f.matches('^(a+)+$')", "message": "only a"}
    properties = {"f": {"type": "string", "maxLength": 5001}}
    widgets = define(definition({"type": "object", "properties": properties, "x-kubernetes-validations": [rule]}))
    with pytest.raises(Invalid, match="only a"):
        store.create(widgets, widget("b", f="a" * 5_000 + "!"), writer="test")
