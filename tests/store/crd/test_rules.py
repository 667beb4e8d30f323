"""x-kubernetes-validations and defaults: what a definition may say, and how its rules judge objects."""

import pytest

from seatrial.model.errors import Invalid
from seatrial.model.kinds import Kind
from seatrial.store.store import Store
from tests.store.conftest import FindKind
from tests.store.crd.test_crd import Define, define
from tests.store.stock import Document, definition, widget

__all__ = ["define"]


def spec(properties: Document, *rules: Document, **more: object) -> Document:
    return {"type": "object", "properties": properties, "x-kubernetes-validations": list(rules)} | more


def ruled(define: Define, properties: Document, *rules: Document, **more: object) -> Kind:
    return define(definition(spec(properties, *rules, **more)))


INTEGER: Document = {"type": "integer"}
TEXT: Document = {"type": "string"}
REFUSED_DEFAULTS = [
    (INTEGER | {"default": "x"}, 'default: Invalid value: "string":  in body must be of type integer: "string"'),
    (TEXT | {"enum": ["a"], "default": "b"}, 'default: Unsupported value: "b": supported values: "a"'),
    ({"type": "object", "properties": {"a": TEXT}, "default": {"b": "c"}}, "must not have unknown fields"),
    ({"type": "object", "required": ["a"], "properties": {"a": TEXT}, "default": {}}, "default.a: Required value"),
    (INTEGER | {"default": 1, "x-kubernetes-validations": [{"rule": "self > 1"}]}, "failed rule: self > 1"),
]


@pytest.mark.parametrize(("schema", "text"), REFUSED_DEFAULTS)
def test_a_default_that_its_schema_refuses_is_refused(define: Define, schema: Document, text: str) -> None:
    with pytest.raises(Invalid) as raised:
        define(definition({"type": "object", "properties": {"f": schema}}))
    assert text in str(raised.value)
    assert "properties[spec].properties[f].default" in str(raised.value)


def test_a_default_that_fits_is_accepted(define: Define) -> None:
    define(definition({"type": "object", "properties": {"f": INTEGER | {"default": 3}}}))


REFUSED_RULES = [
    ({"rule": "self.f == 1", "reason": "Because"}, 'reason: Unsupported value: "Because"'),
    ({"rule": "self.f == 1", "message": "a\nb"}, "message: Invalid value"),
    ({"rule": "self.f\n== 1"}, "message must be specified if rule contains line breaks"),
    ({"rule": "self.f == 1", "fieldPath": ".g"}, "must be a valid path"),
    ({"rule": "self.g == 1"}, "undefined field 'g'"),
    ({"rule": "self.f"}, "cel expression must evaluate to a bool"),
    ({"rule": "self.f == 1", "messageExpression": "self.f"}, "messageExpression must evaluate to a string"),
    ({"rule": "self.f == 1", "messageExpression": "self."}, "messageExpression compilation failed"),
    ({"rule": "self.f == 1", "optionalOldSelf": True}, "may not be set if oldSelf is not used in rule"),
]


@pytest.mark.parametrize(("rule", "text"), REFUSED_RULES)
def test_a_rule_that_kubernetes_refuses_is_refused(define: Define, rule: Document, text: str) -> None:
    with pytest.raises(Invalid) as raised:
        ruled(define, {"f": INTEGER}, rule)
    assert text in str(raised.value)


def test_old_self_is_refused_where_no_old_value_can_be_found(define: Define) -> None:
    items = INTEGER | {"x-kubernetes-validations": [{"rule": "self == oldSelf"}]}
    with pytest.raises(Invalid, match="oldSelf cannot be used on the uncorrelatable portion of the schema within"):
        ruled(define, {"f": {"type": "array", "items": items}})


def test_a_rule_that_may_cost_too_much_is_refused_with_the_factor(define: Define) -> None:
    nested = {"rule": "self.l.all(x, self.l.all(y, x == y))"}
    with pytest.raises(Invalid) as raised:
        ruled(define, {"l": {"type": "array", "items": TEXT}}, nested)
    assert "estimated rule cost exceeds budget by factor of more than 100x (try simplifying" in str(raised.value)
    bounded = {"type": "array", "maxItems": 10, "items": TEXT | {"maxLength": 10}}
    ruled(define, {"l": bounded}, nested)


def test_all_rules_together_have_a_limit_too(define: Define) -> None:
    costly = {"rule": "self.l.all(x, x.matches('^[a-z]+$'))"}
    with pytest.raises(Invalid, match="estimated rule cost total for entire OpenAPIv3 schema exceeds budget"):
        ruled(define, {"l": {"type": "array", "maxItems": 700_000, "items": TEXT | {"maxLength": 10}}}, *[costly] * 12)


def test_an_evaluation_that_exceeds_its_budget_is_refused(store: Store, define: Define) -> None:
    rule = {"rule": "self.l.all(x, x.startsWith(x))", "message": "expensive"}
    widgets = ruled(define, {"l": {"type": "array", "maxItems": 1000, "items": TEXT | {"maxLength": 20_000}}}, rule)
    with pytest.raises(Invalid) as raised:
        store.create(widgets, widget("a", l=["a" * 20_000] * 600), writer="test")
    text = "no further validation rules will be run due to call cost exceeds limit for rule: expensive"
    assert text in str(raised.value)


def test_a_transition_rule_sees_the_old_value(store: Store, define: Define) -> None:
    widgets = ruled(define, {"f": INTEGER}, {"rule": "self.f >= oldSelf.f", "message": "must not shrink"})
    store.create(widgets, widget("a", f=2), writer="test")
    changed(store, widgets, f=3)
    with pytest.raises(Invalid, match="must not shrink"):
        changed(store, widgets, f=1)


def test_an_item_of_a_map_list_is_found_again_by_its_keys(store: Store, define: Define) -> None:
    item = {
        "type": "object",
        "required": ["name"],
        "properties": {"name": TEXT | {"maxLength": 9}, "size": INTEGER},
        "x-kubernetes-validations": [{"rule": "self.size >= oldSelf.size", "message": "must not shrink"}],
    }
    keyed = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}
    widgets = ruled(define, {"l": {"type": "array", "maxItems": 9, "items": item} | keyed})
    store.create(widgets, widget("a", l=[{"name": "x", "size": 1}, {"name": "y", "size": 9}]), writer="test")
    changed(store, widgets, l=[{"name": "y", "size": 9}, {"name": "x", "size": 1}])
    with pytest.raises(Invalid, match=r"spec.l\[1\]: Invalid value: must not shrink"):
        changed(store, widgets, l=[{"name": "x", "size": 2}, {"name": "y", "size": 1}])


def test_a_message_expression_makes_the_message(store: Store, define: Define) -> None:
    rule = {"rule": "self.f < 3", "message": "plain", "messageExpression": "'not ' + self.t"}
    widgets = ruled(define, {"f": INTEGER, "t": TEXT | {"maxLength": 9}}, rule)
    with pytest.raises(Invalid, match="not small"):
        store.create(widgets, widget("a", f=7, t="small"), writer="test")


def test_a_message_expression_that_fails_gives_way_to_the_message(store: Store, define: Define) -> None:
    rule = {"rule": "self.f < 3", "message": "plain", "messageExpression": "string(1 / (self.f - self.f))"}
    widgets = ruled(define, {"f": INTEGER}, rule)
    with pytest.raises(Invalid, match="plain"):
        store.create(widgets, widget("a", f=7), writer="test")


def changed(store: Store, widgets: Kind, **fields: object) -> None:
    document = store.get(widgets, "a", "default").document()
    store.update(widgets, document | {"spec": fields}, writer="test")


def stricter(store: Store, kind: FindKind, rule: Document) -> None:
    """Change the definition after objects were made."""
    definitions = kind("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    document = store.get(definitions, "widgets.example.com").document()
    field = document["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["f"]
    field["x-kubernetes-validations"] = [rule]
    store.update(definitions, document, writer="test")


def test_a_value_that_an_update_leaves_alone_is_not_judged_by_a_new_rule(
    store: Store, kind: FindKind, define: Define
) -> None:
    widgets = define(definition({"type": "object", "properties": {"f": INTEGER, "g": INTEGER}}))
    store.create(widgets, widget("a", f=1, g=1), writer="test")
    stricter(store, kind, {"rule": "self > 5", "message": "too small"})
    widgets = kind("example.com/v1", "Widget")
    changed(store, widgets, f=1, g=2)
    with pytest.raises(Invalid, match="too small"):
        changed(store, widgets, f=2, g=2)


def test_a_rule_that_compares_is_judged_even_where_nothing_changed(
    store: Store, kind: FindKind, define: Define
) -> None:
    widgets = define(definition({"type": "object", "properties": {"f": INTEGER, "g": INTEGER}}))
    store.create(widgets, widget("a", f=1, g=1), writer="test")
    stricter(store, kind, {"rule": "self != oldSelf", "message": "must change"})
    widgets = kind("example.com/v1", "Widget")
    with pytest.raises(Invalid, match="must change"):
        changed(store, widgets, f=1, g=2)
