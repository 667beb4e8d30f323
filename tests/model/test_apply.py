"""Server-side apply against apimachinery's managedfields, and the lazy form against the spelled-out one."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.model.apply import (
    ApplyConflict,
    apply,
    fieldsets,
    track_create,
    track_update,
)
from seatrial.model.apply.comparing import Filter
from seatrial.model.errors import BadRequest, StatusError
from seatrial.model.kinds import Kind
from seatrial.model.schema import Schema, schema_for, schema_from_openapi
from tests.model.recorded import recorded

NOW = 1_893_456_000_000_000
OWNED = {
    "": Filter(fieldsets.from_paths([("f:status",)])),
    "status": Filter(fieldsets.from_paths([("f:spec",)])),
}
ELEMENTS = st.sampled_from(["f:a", "f:b", 'k:{"name":"x"}', 'v:"y"'])
SETS = st.builds(fieldsets.from_paths, st.lists(st.lists(ELEMENTS, min_size=1, max_size=3).map(tuple), max_size=6))
DEPLOYMENT = Kind("apps", "v1", "Deployment", "deployments", subresources=("status", "scale"))


def schema(api_version: str, kind: str) -> Schema:
    found = schema_for(api_version, kind)
    assert found is not None
    return found


def carried_out(case: dict[str, Any], step: dict[str, Any], live: Any, answer: dict[str, Any]) -> dict[str, Any]:
    """What we make of one recorded step. Updates are given in the form that the API stores."""
    about: dict[str, Any] = {
        "manager": step["Manager"],
        "api_version": case["ApiVersion"],
        "now": NOW,
        "schema": schema(case["ApiVersion"], case["Kind"]),
        "subresource": step["Subresource"],
        "owned": OWNED[step["Subresource"]],
    }
    document = {**copy.deepcopy(step["Object"]), "apiVersion": case["ApiVersion"], "kind": case["Kind"]}
    if step["Op"] == "apply":
        return apply(copy.deepcopy(live), document, force=step["Force"], **about)
    sent = document["metadata"].get("managedFields")
    document = copy.deepcopy(answer["object"])
    document["metadata"].pop("managedFields", None)
    if sent is not None:
        document["metadata"]["managedFields"] = sent
    track_update(copy.deepcopy(live), document, **about)
    return document


def managed(document: dict[str, Any]) -> tuple[list[Any], list[bool]]:
    entries = copy.deepcopy(document["metadata"].get("managedFields") or [])
    times = [entry.pop("time", None) is not None for entry in entries]
    return sorted(entries, key=str), sorted(times)


def written(value: Any) -> Any:
    """A document without what is empty: the recorder's objects went through Go's types."""
    if isinstance(value, dict):
        items = {key: written(item) for key, item in value.items() if key not in ("managedFields", "uid")}
        return {key: item for key, item in items.items() if item is False or item not in (None, {}, [], "", 0, "0")}
    return [written(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("case_and_answers", recorded("apply/sequences"))
def test_sequences_of_writes_equal_the_recorded_ones(case_and_answers: list[Any]) -> None:
    case, answers = case_and_answers
    live = None
    for step, answer in zip(case["Steps"], answers, strict=True):
        if answer.get("error", "").startswith("decode"):
            continue
        if "error" in answer:
            with pytest.raises(StatusError) as refusal:
                carried_out(case, step, live, answer)
            assert refusal.value.code == (409 if answer["error"].startswith("Apply failed") else 400)
            if refusal.value.code == 409:
                assert refusal.value.message == answer["error"]
                causes = [{"reason": c.reason, "message": c.message, "field": c.field} for c in refusal.value.causes]
                assert sorted(causes, key=str) == sorted(answer["causes"], key=str)
            continue
        found = carried_out(case, step, live, answer)
        by_name = sorted(copy.deepcopy(answer["object"]["metadata"].get("managedFields") or []), key=sorted_text)
        assert sorted(managed(found)[0], key=sorted_text) == by_name
        assert managed(found)[1] == sorted(answer["times"])
        assert written(found) == written(answer["object"])
        live = answer["object"]


def sorted_text(entry: dict[str, Any]) -> str:
    return str(sorted(entry.items(), key=str))


@given(SETS, SETS)
def test_sets_of_fields_keep_the_laws_of_sets(left: Any, right: Any) -> None:
    both, common = fieldsets.union(left, right), fieldsets.intersection(left, right)
    rest = fieldsets.difference(left, right)
    members = set(fieldsets.paths(left))
    assert set(fieldsets.paths(both)) == members | set(fieldsets.paths(right))
    assert set(fieldsets.paths(common)) == members & set(fieldsets.paths(right))
    assert set(fieldsets.paths(rest)) == members - set(fieldsets.paths(right))
    assert fieldsets.in_order(left) == fieldsets.from_paths(fieldsets.paths(left))


def deployment(replicas: int, image: str = "a") -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": image}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template},
    }


def about(manager: str) -> dict[str, Any]:
    return {"manager": manager, "api_version": "apps/v1", "now": NOW, "schema": schema("apps/v1", "Deployment")}


def test_a_conflict_names_the_field_and_its_owner() -> None:
    live = deployment(1)
    track_create(live, **about("kubectl-client-side-apply"))
    with pytest.raises(ApplyConflict) as refusal:
        apply(live, deployment(2), **about("other"))
    text = 'Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using apps/v1: .spec.replicas'
    assert refusal.value.message == text
    assert refusal.value.causes[0].reason == "FieldManagerConflict"


def test_force_takes_the_field_and_what_is_no_longer_applied_goes() -> None:
    live = apply(None, deployment(1), **about("a"))
    live = apply(live, deployment(2), force=True, **about("b"))
    assert live["spec"]["replicas"] == 2
    without = deployment(2)
    del without["spec"]["replicas"]
    live = apply(live, without, **about("b"))
    assert "replicas" not in live["spec"]
    assert [entry["manager"] for entry in live["metadata"]["managedFields"]] == ["a", "b"]


def test_an_untracked_object_belongs_to_before_first_apply() -> None:
    with pytest.raises(ApplyConflict, match="before-first-apply"):
        apply(deployment(1), deployment(2), **about("a"))


def test_owners_are_reset_by_an_empty_list() -> None:
    live = apply(None, deployment(1), **about("a"))
    new = copy.deepcopy(live)
    new["metadata"]["managedFields"] = [{}]
    track_update(live, new, **about("b"))
    assert "managedFields" not in new["metadata"]


def test_a_lazy_owner_is_in_conflict_too() -> None:
    live = deployment(1)
    track_create(live, **about("creator"))
    del live["metadata"]["managedFields"][0]["fieldsV1"]
    with pytest.raises(ApplyConflict, match=r'conflict with "creator" using apps/v1: .spec.replicas'):
        apply(live, deployment(2), **about("a"))


def test_too_many_updaters_are_merged() -> None:
    live = apply(None, deployment(1), **about("a"))
    for number in range(15):
        new = copy.deepcopy(live)
        new["metadata"].setdefault("labels", {})[f"l{number}"] = "x"
        track_update(live, new, **about(f"m{number}"))
        live = new
    names = [entry["manager"] for entry in live["metadata"]["managedFields"]]
    assert len(names) == 11
    assert "ancient-changes" in names


def test_a_custom_resource_is_merged_by_its_own_schema() -> None:
    items = {"type": "object", "properties": {"id": {"type": "string"}, "n": {"type": "integer"}}}
    listed = {
        "type": "array",
        "items": items,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["id"],
    }
    custom = schema_from_openapi({"type": "object", "properties": {"spec": {"properties": {"l": listed}}}}, root=True)
    base = {"apiVersion": "x/v1", "kind": "X", "metadata": {"name": "x"}}
    who: dict[str, Any] = {"api_version": "x/v1", "now": NOW, "schema": custom}
    live = apply(None, {**base, "spec": {"l": [{"id": "a", "n": 1}]}}, manager="a", **who)
    live = apply(live, {**base, "spec": {"l": [{"id": "b", "n": 2}]}}, manager="b", **who)
    assert live["spec"]["l"] == [{"id": "a", "n": 1}, {"id": "b", "n": 2}]
    live = apply(live, {**base, "spec": {"l": []}}, manager="a", **who)
    assert live["spec"]["l"] == [{"id": "b", "n": 2}]


def test_managed_fields_may_not_be_applied() -> None:
    config = deployment(1)
    config["metadata"]["managedFields"] = []
    with pytest.raises(BadRequest, match=r"metadata.managedFields must be nil"):
        apply(None, config, **about("a"))


@pytest.mark.parametrize("config", [[], "x", {"metadata": []}, {"metadata": {"name": 5}, "spec": 1}])
def test_a_configuration_of_the_wrong_form_is_a_bad_request(config: Any) -> None:
    with pytest.raises(BadRequest):
        apply(deployment(1), config, **about("kubectl"))


def test_nesting_beyond_the_stack_is_refused() -> None:
    deep: Any = {}
    for _ in range(5000):
        deep = {"a": deep}
    who: dict[str, Any] = {"manager": "a", "api_version": "v1", "now": NOW, "schema": None}
    with pytest.raises(BadRequest, match="max depth"):
        apply(None, {"metadata": {"name": "x"}, "spec": deep}, **who)
