"""Patches against the real libraries, and the laws of merging."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.model.errors import BadRequest, StatusError, TooLarge
from seatrial.model.patches import PatchRefused, apply_json_patch, apply_merge_patch, apply_strategic_patch
from seatrial.model.schema import Schema, schema_for, schema_from_openapi
from tests.model.recorded import recorded

API_VERSIONS = {"Pod": "v1", "Node": "v1", "Service": "v1", "Deployment": "apps/v1"}
SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from("xyz")
DOCUMENTS = st.dictionaries(
    st.sampled_from("abc"),
    st.recursive(
        SCALARS,
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
        max_leaves=8,
    ),
)


def schema(kind: str) -> Schema:
    found = schema_for(API_VERSIONS[kind], kind)
    assert found is not None
    return found


def patched(case: dict[str, Any]) -> list[Any]:
    document, patch = copy.deepcopy(case["Doc"]), copy.deepcopy(case["Patch"])
    try:
        if case["Type"] == "json":
            return [apply_json_patch(document, patch), ""]
        if case["Type"] == "merge":
            return [apply_merge_patch(document, patch), ""]
        return [apply_strategic_patch(document, patch, schema(case["Kind"])), ""]
    except StatusError as error:
        assert error.code in (400, 413, 422)
        return [None, getattr(error, "why", error.message)]


def test_patches_equal_the_recorded_ones() -> None:
    for case, expected in recorded("values/patches"):
        assert patched(case) == expected


@given(DOCUMENTS, DOCUMENTS)
def test_a_merge_patch_sets_what_it_names_and_settles(document: Any, patch: Any) -> None:
    once = apply_merge_patch(copy.deepcopy(document), copy.deepcopy(patch))
    again = apply_merge_patch(copy.deepcopy(once), copy.deepcopy(patch))
    assert apply_merge_patch(copy.deepcopy(again), copy.deepcopy(patch)) == again
    assert all(once.get(key) is not None or value is None for key, value in patch.items())


@given(DOCUMENTS, st.sampled_from("abc"), SCALARS)
def test_a_json_patch_that_adds_and_removes_changes_nothing_else(document: Any, key: str, value: Any) -> None:
    before = {name: item for name, item in copy.deepcopy(document).items() if name != key}
    operations = [{"op": "add", "path": f"/{key}", "value": value}, {"op": "test", "path": f"/{key}", "value": value}]
    assert apply_json_patch(document, [*operations, {"op": "remove", "path": f"/{key}"}]) == before


def test_a_replaced_container_takes_its_place_in_the_order() -> None:
    pod = {"spec": {"containers": [{"name": "a", "image": "1"}, {"name": "b", "image": "1"}]}}
    patch = {
        "spec": {
            "$setElementOrder/containers": [{"name": "c"}, {"name": "b"}],
            "containers": [{"name": "c", "image": "2"}, {"$patch": "delete", "name": "a"}],
        }
    }
    result = apply_strategic_patch(pod, patch, schema("Pod"))
    assert [container["name"] for container in result["spec"]["containers"]] == ["c", "b"]


def test_retain_keys_clears_the_other_member_of_a_union() -> None:
    deployment = {"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}}
    patch = {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}
    assert apply_strategic_patch(deployment, patch, schema("Deployment")) == {
        "spec": {"strategy": {"type": "Recreate"}}
    }


def test_a_custom_kind_has_no_strategic_patch() -> None:
    custom = schema_from_openapi({"type": "object", "properties": {"spec": {"type": "object"}}}, root=True)
    with pytest.raises(BadRequest, match="not supported"):
        apply_strategic_patch({}, {}, custom)


@pytest.mark.parametrize("patch", [None, [], 5, "x"])
def test_a_patch_of_the_wrong_form_is_a_bad_request(patch: Any) -> None:
    with pytest.raises(BadRequest):
        apply_merge_patch({}, patch)
    with pytest.raises(BadRequest):
        apply_strategic_patch({}, patch, schema("Pod"))
    if not isinstance(patch, list):
        with pytest.raises(BadRequest):
            apply_json_patch({}, patch)


def test_copies_of_copies_are_bounded() -> None:
    operations = [{"op": "copy", "from": "/a", "path": f"/a/{i}"} for i in range(30)]
    with pytest.raises(PatchRefused) as refused:
        apply_json_patch({"a": {"b": "z" * 1000}}, operations)
    assert "accumulated size" in refused.value.why
    with pytest.raises(TooLarge):
        apply_json_patch({}, [{"op": "test", "path": ""}] * 10_001)


def test_nesting_beyond_the_stack_is_refused() -> None:
    deep: Any = {}
    for _ in range(5000):
        deep = {"a": deep}
    with pytest.raises(BadRequest, match="max depth"):
        apply_merge_patch({}, deep)
