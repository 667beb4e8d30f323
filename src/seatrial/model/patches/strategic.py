"""Strategic merge patch: a merge by list keys, with directives for what a merge cannot express.

Follows k8s.io/apimachinery/pkg/util/strategicpatch (v0.36.3): `$patch` (replace, delete), `$retainKeys`,
`$setElementOrder/<list>` and `$deleteFromPrimitiveList/<list>`; merge keys and strategies come from the kind's schema.
"""

from dataclasses import replace
from typing import Any, Final

from seatrial.model.documents import Document
from seatrial.model.errors import BadRequest
from seatrial.model.patches.element_order import identity, in_order
from seatrial.model.patches.refusals import PatchRefused, bounded, cannot_unmarshal, go_text, go_type
from seatrial.model.schema import Field, Schema

DIRECTIVE: Final = "$patch"
RETAIN_KEYS: Final = "$retainKeys"
DELETE_FROM: Final = "$deleteFromPrimitiveList"
SET_ORDER: Final = "$setElementOrder"


@bounded
def apply_strategic_patch(document: Document, patch: Any, schema: Schema | None) -> Document:
    """The document with the patch merged in by its schema's merge keys; custom kinds have no such patch."""
    if schema is None or (schema.own_fields is not None and not schema.merges):
        raise BadRequest("strategic merge patch format is not supported")
    if not isinstance(patch, dict):
        raise cannot_unmarshal(patch, "map[string]interface {}")
    return _merge_map(document, patch, schema)


def _merge_map(original: Document, patch: Document, schema: Schema | None) -> Document:
    if DIRECTIVE in patch:
        return _obey(patch)
    _retain_keys(original, patch)
    rest = _merge_ordered_lists(original, patch, schema)
    for key, value in rest.items():
        deletes = key.startswith(DELETE_FROM)
        if deletes:
            key = _list_name(key, DELETE_FROM, "invalid patch format of primitive list")
        if value is None:
            original.pop(key, None)
        elif type(original.get(key)) is not type(value):
            if not deletes:
                _put(original, key, _without_nulls(value))
        elif isinstance(value, dict):
            field = _field(schema, key)
            if _strategy(field) == "replace":
                original[key] = value
            else:
                original[key] = _merge_map(original[key], value, field.schema)
        elif isinstance(value, list):
            field = _list_field(schema, key)
            if deletes:
                original[key] = _delete_from(original[key], value)
            elif _strategy(field) == "merge":
                original[key] = _merge_list(original[key], value, field)
            else:
                original[key] = value
        else:
            original[key] = value
    return original


def _obey(patch: Document) -> Document:
    """A map whose patch has a directive for the whole of it."""
    match patch[DIRECTIVE]:
        case "replace":
            return {key: value for key, value in patch.items() if key != DIRECTIVE}
        case "delete":
            return {}
        case other:
            raise PatchRefused(f"unknown patch type: {go_text(other)} in map: {go_text(patch)}")


def _retain_keys(original: Document, patch: Document) -> None:
    """Drop what `$retainKeys` does not name; the patch may set nothing else."""
    if RETAIN_KEYS not in patch:
        return
    retained = patch.pop(RETAIN_KEYS)
    if not isinstance(retained, list) or not all(isinstance(key, str) for key in retained):
        raise BadRequest("invalid patch format of retainKeys")
    names = set(retained)
    for key, value in patch.items():
        if value is not None and not key.startswith((DELETE_FROM, SET_ORDER)) and key not in names:
            raise BadRequest("invalid patch format of retainKeys")
    for key in [key for key in original if key not in names]:
        del original[key]


def _merge_ordered_lists(original: Document, patch: Document, schema: Schema | None) -> Document:
    """Merge each list that has a `$setElementOrder`, put it in that order, and give the rest of the patch."""
    rest = {key: value for key, value in patch.items() if not key.startswith(SET_ORDER)}
    for directive, order in patch.items():
        if not directive.startswith(SET_ORDER):
            continue
        if not isinstance(order, list):
            raise PatchRefused(f"expected a []interface {{}}, but received a {go_type(order)}")
        key = _list_name(directive, SET_ORDER, "invalid patch format of setElementOrder list")
        live, wanted = original.get(key), rest.get(key)
        for present, value in ((key in original, live), (key in rest, wanted)):
            if present and not isinstance(value, list):
                raise PatchRefused(f"expected a []interface {{}}, but received a {go_type(value)}")
        field = _list_field(schema, key)
        _check_order(wanted or [], order, field.merge_key)
        if key in original and key in rest:
            merged = _merge_list(original[key], rest[key], field) if _strategy(field) == "merge" else rest[key]
        elif key in original or key in rest:
            merged = list(live) if live is not None else _without_directives(wanted)[0]
        else:
            continue
        _element_type(live or [], wanted or [])
        original[key] = in_order(merged, order, live or [], field.merge_key)
        rest.pop(key, None)
    return rest


def _check_order(wanted: list[Any], order: list[Any], merge_key: str) -> None:
    """What the patch sets must be in the order list, in the same order."""
    if not order or not wanted:
        return
    kept = wanted
    if merge_key:
        for item in wanted:
            if not isinstance(item, dict):
                raise PatchRefused(f"expected a map[string]interface {{}}, but received a {go_type(item)}")
        kept = [item for item in wanted if item.get(DIRECTIVE) != "delete"]
    position = passed = 0
    while position < len(kept) and passed < len(order):
        if isinstance(kept[position], dict) and DIRECTIVE in kept[position]:
            position += 1
            continue
        position += identity(kept[position], merge_key) == identity(order[passed], merge_key)
        passed += 1
    if position < len(kept):
        raise PatchRefused(
            f"The order in patch list:\n{go_text(wanted)}\n doesn't match {SET_ORDER} list:\n{go_text(order)}\n"
        )


def _merge_list(live: list[Any], wanted: list[Any], field: Field) -> list[Any]:
    """The merged list. `live` is left as Go leaves the array under it, which the order of a later step depends on."""
    if not live and not wanted:
        return live
    merge_key = field.merge_key
    if _element_type(live, wanted) is not dict:
        unique = {identity(item, ""): item for item in (*live, *wanted)}
        return in_order(list(unique.values()), wanted, live, merge_key)
    if not merge_key:
        raise PatchRefused("cannot merge lists without merge key for struct")
    kept, changes, replaces = _special_elements(live, wanted, merge_key)
    places: dict[Any, int] = {}
    for place, item in enumerate(kept):
        if merge_key in item:
            places.setdefault(identity(item, merge_key), place)
    before = list(kept)
    for item in changes:
        known = places.get(identity(item, merge_key))
        if known is not None:
            kept[known] = _merge_map(kept[known], item, field.schema.items)
            continue
        places[identity(item, merge_key)] = len(kept)
        if not replaces and len(kept) < len(live):
            live[len(kept)] = item
        kept.append(item)
    return in_order(kept, changes, before, merge_key)


def _special_elements(live: list[Any], wanted: list[Any], merge_key: str) -> tuple[list[Any], list[Any], bool]:
    """Obey the elements that only carry a directive: what is left of the list, what is to be merged, if it replaces."""
    changes, replaces, length = [], False, len(live)
    for item in wanted:
        if DIRECTIVE not in item:
            changes.append(item)
            continue
        match item[DIRECTIVE]:
            case "delete":
                gone = identity(item, merge_key)
                for place in reversed(range(length)):
                    if merge_key in live[place] and identity(live[place], merge_key) == gone:
                        live[place : length - 1] = live[place + 1 : length]
                        length -= 1
            case "replace":
                replaces = True
            case "merge":
                raise PatchRefused("merging lists cannot yet be specified in the patch")
            case other:
                raise PatchRefused(f"unknown patch type: {go_text(other)} in map: {go_text(item)}")
    return (changes, [], True) if replaces else (live[:length], changes, False)


def _delete_from(live: list[Any], gone: list[Any]) -> list[Any]:
    if not live and not gone:
        return live
    if _element_type(live, gone) is dict:
        raise PatchRefused("cannot merge lists without merge key for struct")
    names = {identity(item, "") for item in gone}
    return [item for item in live if identity(item, "") not in names]


def _element_type(*lists: list[Any]) -> type:
    """The one type of all elements; lists in lists and mixed lists cannot be merged."""
    types = list(dict.fromkeys(type(item) for items in lists for item in items))
    if not types:
        raise PatchRefused("no elements in any of the given slices")
    if types[0] is list:
        raise PatchRefused("lists of lists are not supported")
    if len(types) > 1 or types[0] is type(None):
        raise PatchRefused(f"list element types are not identical: {go_text(list(lists))}")
    return types[0]


def _list_name(key: str, prefix: str, why: str) -> str:
    directive, slash, name = key.partition("/")
    if not slash or directive != prefix:
        raise BadRequest(why)
    return name


def _field(schema: Schema | None, key: str) -> Field:
    """The field of a struct; anything else cannot be merged into."""
    if schema is None or (schema.type != "object" and schema.type != "raw"):
        kind = "map" if schema is not None and schema.type == "map" else "interface"
        raise PatchRefused(f"merging an object in json but data type is not struct, instead is: {kind}")
    field = schema.fields.get(key)
    if field is None and schema.preserves_unknown:
        return Field(key, schema)
    if field is None:
        name = schema.name.rpartition(".")[2] or "RawExtension"
        raise PatchRefused(f'unable to find api field in struct {name} for the json field "{key}"')
    return field


def _list_field(schema: Schema | None, key: str) -> Field:
    field = _field(schema, key)
    if field.schema is schema and schema.preserves_unknown:
        if not schema.list_map_keys:
            return field
        # The keys are those of this list: lists inside its elements are replaced.
        items = replace(schema, list_map_keys=())
        return Field(key, Schema("array", items=items), merge_key=schema.list_map_keys[0], patch_strategy="merge")
    if field.schema.type not in ("array", "bytes"):
        raise PatchRefused("expected slice or array type, but got: struct")
    return field


def _strategy(field: Field) -> str:
    return next((strategy for strategy in field.patch_strategies if strategy != "retainKeys"), "")


def _put(original: Document, key: str, value: Any) -> None:
    kept, keep = _without_directives(value)
    if keep:
        original[key] = kept
    else:
        original.pop(key, None)


def _without_directives(value: Any) -> tuple[Any, bool]:
    """A newly added value without the parts that are only directives, and whether anything is to be kept."""
    if isinstance(value, dict):
        if DIRECTIVE in value:
            return None, False
        pairs = ((key, *_without_directives(item)) for key, item in value.items())
        return {key: item for key, item, keep in pairs if keep}, True
    if isinstance(value, list):
        return [item for item, keep in map(_without_directives, value) if keep], True
    return value, True


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value
