"""Values seen through their shape: which items a list has, whether a value fits, and which fields it mentions.

Follows sigs.k8s.io/structured-merge-diff/v6/typed (validate, tofieldset, helpers).
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from seatrial.model.apply import fieldsets
from seatrial.model.apply.fieldsets import FieldSet
from seatrial.model.apply.shapes import ListShape, MapShape, Shape

ABSENT: Final = object()
"""A value that is not there; None is one that is null."""


class TypeFault(Exception):
    """A value that does not fit its type: where, and why."""

    def __init__(self, why: str, path: str = "") -> None:
        super().__init__(f"{path}: {why}" if path else why)
        self.why, self.path = why, path


def forms(shape: Shape, value: Any) -> tuple[str, ListShape | MapShape | None]:
    """Which of its forms a shape takes for a value: "map", "list" or "scalar"."""
    if shape.map is not None and (isinstance(value, dict) or not (shape.scalar or shape.list)):
        return "map", shape.map
    if isinstance(value, list) and shape.list is not None:
        return "list", shape.list
    if isinstance(value, str | int | float) and shape.scalar:
        return "scalar", None
    if shape.map is not None:
        return "map", shape.map
    return ("scalar", None) if shape.scalar else ("list", shape.list)


def element_of(shape: ListShape, item: Any) -> str:
    """The path element that an item of a keyed list or of a set has."""
    if not shape.keys:
        if isinstance(item, dict):
            raise TypeFault("associative list without keys has an element that's a map type")
        if isinstance(item, list):
            raise TypeFault("not supported: associative list with lists as elements")
        if item is None:
            raise TypeFault("associative list without keys has an element that's an explicit null")
        return fieldsets.value(item)
    if item is None:
        raise TypeFault("associative list with keys may not have a null element")
    if not isinstance(item, dict):
        raise TypeFault("associative list with keys may not have non-map elements")
    found: dict[str, Any] = {}
    for name in shape.keys:
        value = item[name] if name in item else shape.key_default(name)
        if name in item or value is not None:
            found[name] = value
    if not found:
        names = " ".join(f'"{name}"' for name in shape.keys)
        raise TypeFault(
            f"associative list with keys has an element that omits all key fields [{names}] "
            "(and doesn't have default values for any key fields)"
        )
    return fieldsets.key(found)


def validate(value: Any, shape: Shape) -> None:
    """TypeFault, with all that is wrong, where a value does not fit its shape or holds an item of a list twice."""
    found = [str(fault) for fault in _faults(value, shape, "")]
    if found:
        raise TypeFault(found[0] if len(found) == 1 else "\n  ".join(("errors:", *found)))


def _faults(value: Any, shape: Shape, path: str) -> Iterator[TypeFault]:
    form, part = forms(shape, value)
    if value is None:
        return
    if form == "scalar":
        if why := _scalar_fault(value, shape.scalar):
            yield TypeFault(why, path)
    elif isinstance(part, ListShape):
        if isinstance(value, list):
            yield from _list_faults(value, part, path)
        else:
            yield TypeFault(f"expected list, got &{{{_shown(value)}}}", path)
    elif isinstance(part, MapShape):
        if not isinstance(value, dict):
            yield TypeFault(f"expected map, got &{{{_shown(value)}}}", path)
            return
        for name, item in value.items():
            child = part.child(name)
            if child is None:
                yield TypeFault("field not declared in schema", f"{path}.{name}")
                return
            yield from _faults(item, child, f"{path}.{name}")


def _list_faults(items: list[Any], shape: ListShape, path: str) -> Iterator[TypeFault]:
    seen: set[str] = set()
    for position, item in enumerate(items):
        if shape.atomic:
            yield from _faults(item, shape.items, f"{path}[{position}]")
            continue
        try:
            element = element_of(shape, item)
        except TypeFault as fault:
            yield TypeFault(f"element {position}: {fault.why}", path)
            return
        text = fieldsets.path_text((element,))
        if element in seen:
            yield TypeFault(f"duplicate entries for key {text}", path)
        seen.add(element)
        yield from _faults(item, shape.items, f"{path}{text}")


def _scalar_fault(value: Any, scalar: str) -> str:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if scalar == "numeric" and not number:
        return f"expected numeric (int or float), got {_go_type(value)}"
    if scalar == "string" and not isinstance(value, str):
        return f"expected string, got &value.valueUnstructured{{Value:{_shown(value)}}}"
    if scalar == "boolean" and not isinstance(value, bool):
        return f"expected boolean, got &{{{_shown(value)}}}"
    if scalar == "untyped" and isinstance(value, dict | list):
        return f"expected any scalar, got &{{{_shown(value)}}}"
    return ""


def field_set(value: Any, shape: Shape) -> FieldSet:
    """Every leaf and item that a value mentions."""
    found: FieldSet = {}
    _collect(value, shape, (), found)
    return found


def _collect(value: Any, shape: Shape, path: fieldsets.Path, found: FieldSet) -> None:
    form, part = forms(shape, value)
    if form == "scalar" or (part is not None and part.atomic):
        if path:
            fieldsets.insert(found, path)
    elif isinstance(part, ListShape) and isinstance(value, list):
        _collect_items(value, part, path, found)
    elif isinstance(part, MapShape) and isinstance(value, dict):
        for name, item in value.items():
            child = part.child(name)
            below = (*path, fieldsets.field(name))
            if child is not None:
                _collect(item, child, below, found)
            if item is None or item == {} or not part.declares(name):
                fieldsets.insert(found, below)


def _collect_items(items: list[Any], shape: ListShape, path: fieldsets.Path, found: FieldSet) -> None:
    elements = [element_of(shape, item) for item in items]
    counts = Counter(elements)
    for element, item in zip(elements, items, strict=True):
        below = (*path, element)
        if counts[element] == 1:
            _collect(item, shape.items, below, found)
        fieldsets.insert(found, below)


def with_named_fields(fields: FieldSet, shape: Shape | None) -> FieldSet:
    """The set with every declared field that has members below it made a member itself."""
    result: FieldSet = {}
    for element, node in fields.items():
        if element == fieldsets.SELF:
            result[element] = node
            continue
        child, declared = None, False
        if element[0] == "f" and shape is not None and shape.map is not None:
            child, declared = shape.map.child(element[2:]), shape.map.declares(element[2:])
        elif element[0] == "k" and shape is not None and shape.list is not None:
            child = shape.list.items
        below = with_named_fields(node, child)
        if declared and below and fieldsets.SELF not in below:
            below = {fieldsets.SELF: {}, **below}
        result[element] = below
    return result


def remove_items(value: Any, gone: FieldSet, shape: Shape) -> Any:
    """The value without the fields and items of a set; None where nothing is left."""
    form, part = forms(shape, value)
    if form == "scalar":
        return value
    if not value or (part is not None and part.atomic):
        return None
    if isinstance(part, ListShape) and isinstance(value, list):
        kept = []
        for item in value:
            node = gone.get(element_of(part, item))
            if node is None:
                kept.append(item)
            elif not fieldsets.is_member(node):
                kept.append(remove_items(item, node, part.items))
        return kept or None
    if isinstance(part, MapShape) and isinstance(value, dict):
        result: dict[str, Any] = {}
        for name, item in value.items():
            node = gone.get(fieldsets.field(name))
            child = part.child(name)
            if node is None or child is None:
                result[name] = item
            elif not fieldsets.is_member(node):
                result[name] = remove_items(item, node, child)
        return result or None
    return None


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, dict):
        return f"map[{' '.join(f'{name}:{_shown(item)}' for name, item in sorted(value.items()))}]"
    return f"[{' '.join(map(_shown, value))}]" if isinstance(value, list) else str(value)


def _go_type(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, str):
        return "string"
    return "map[string]interface {}" if isinstance(value, dict) else "[]interface {}"
