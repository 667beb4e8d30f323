"""Sets of fields, in the very form in which managedFields carry them (fieldsV1).

A set is a nested dict. A key is a path element: `f:name` a field, `k:{"name":"x"}` an item of a keyed list, `v:"x"` an
item of a set. Its value is {} where the path itself is a member, a dict of children where only some of them are, and
holds the key "." where both are. Keeping the wire form makes decoding and encoding free; most are never touched.

Follows sigs.k8s.io/structured-merge-diff/v6/fieldpath.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

import orjson

FieldSet = dict[str, Any]
Path = tuple[str, ...]
SELF: Final = "."
ANY: Final = "*"
_HTML: Final = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def field(name: str) -> str:
    """The path element of a field or of a map's key."""
    return f"f:{name}"


def key(values: Mapping[str, Any]) -> str:
    """The path element of a keyed list's item."""
    return f"k:{_json({name: values[name] for name in sorted(values)})}"


def value(item: Any) -> str:
    """The path element of a set's item."""
    return f"v:{_json(item)}"


def is_member(node: FieldSet) -> bool:
    """Whether the path that leads to this node is itself in the set."""
    return not node or SELF in node


def insert(fields: FieldSet, path: Path) -> None:
    """Add a path; its parents are not added."""
    node, last = fields, len(path) - 1
    for position, element in enumerate(path):
        known = node.get(element)
        if position == last:
            if known is None:
                node[element] = {}
            elif known:
                known[SELF] = {}
        else:
            if known is None:
                known = node[element] = {}
            elif not known:
                known[SELF] = {}
            node = known


def from_paths(paths: Iterable[Path]) -> FieldSet:
    fields: FieldSet = {}
    for path in paths:
        insert(fields, path)
    return fields


def contains(fields: FieldSet, path: Path) -> bool:
    node = fields
    for element in path:
        if element not in node:
            return False
        node = node[element]
    return is_member(node)


def union(left: FieldSet, right: FieldSet) -> FieldSet:
    """What is in either."""
    result = dict(left)
    for element, other in right.items():
        mine = result.get(element)
        if mine is None:
            result[element] = other
        elif element != SELF and (mine or other):
            member = is_member(mine) or is_member(other)
            result[element] = _node(member, union(_children(mine), _children(other)))
    return result


def intersection(left: FieldSet, right: FieldSet) -> FieldSet:
    """What is in both."""
    result: FieldSet = {}
    for element, mine in left.items():
        other = right.get(element)
        if element == SELF or other is None:
            continue
        member = is_member(mine) and is_member(other)
        children = intersection(_children(mine), _children(other))
        if member or children:
            result[element] = _node(member, children)
    return result


def difference(left: FieldSet, right: FieldSet) -> FieldSet:
    """What is in the first and not, by the very same path, in the second."""
    result: FieldSet = {}
    for element, mine in left.items():
        if element == SELF:
            continue
        other = right.get(element)
        if other is None:
            result[element] = mine
            continue
        member = is_member(mine) and not is_member(other)
        children = difference(_children(mine), _children(other))
        if member or children:
            result[element] = _node(member, children)
    return result


def without(left: FieldSet, right: FieldSet) -> FieldSet:
    """The first less the second and everything below it."""
    result: FieldSet = {}
    for element, mine in left.items():
        other = right.get(element)
        if element == SELF:
            continue
        if other is None:
            result[element] = mine
        elif not is_member(other):
            children = without(_children(mine), other)
            if children or is_member(mine):
                result[element] = _node(is_member(mine), children)
    return result


def only(left: FieldSet, right: FieldSet) -> FieldSet:
    """What of the first is in the second, on the way to it or below it; `*` in the second matches any element."""
    result: FieldSet = {}
    for element, mine in left.items():
        other = right.get(element, right.get(ANY))
        if element == SELF or other is None:
            continue
        if not other:
            result[element] = mine
            continue
        children = only(_children(mine), other)
        if children or is_member(mine):
            result[element] = _node(is_member(mine), children)
    return result


def paths(fields: FieldSet, prefix: Path = ()) -> Iterator[Path]:
    """Every member: first those of this level, then those below, each in order."""
    elements = sorted((element for element in fields if element != SELF), key=order_of)
    for element in elements:
        if is_member(fields[element]):
            yield (*prefix, element)
    for element in elements:
        yield from paths(_children(fields[element]), (*prefix, element))


def in_order(fields: FieldSet) -> FieldSet:
    """The same set with its elements in the order in which the API writes them."""
    result: FieldSet = {SELF: {}} if SELF in fields else {}
    for element in sorted((element for element in fields if element != SELF), key=order_of):
        result[element] = in_order(fields[element])
    return result


def path_text(path: Path) -> str:
    """A path as conflicts show it: .spec.containers[name="a"].image"""
    return "".join(map(_element_text, path))


def normalised(fields: Any) -> FieldSet:
    """Decodes a set from a request, dropping elements of unknown kinds; ValueError if it is not a set."""
    if not isinstance(fields, dict):
        raise ValueError("fieldsV1 must be an object")
    result: FieldSet = {}
    for element, node in fields.items():
        if element == SELF:
            result[SELF] = {}
        elif element[:2] in ("f:", "k:", "v:", "i:"):
            order_of(element)
            result[element] = normalised(node)
        elif element[1:2] != ":":
            raise ValueError(f"missing colon: {element}")
    return result


@lru_cache(maxsize=16384)
def order_of(element: str) -> tuple[Any, ...]:
    """What elements are sorted by: fields first, then keyed items, then items of sets."""
    kind, text = element[0], element[2:]
    if kind == "f":
        return 0, text
    if kind == "i":
        return 3, int(text)
    parsed = orjson.loads(text)
    if kind == "k":
        return 1, tuple((name, *_value_order(parsed[name])) for name in sorted(parsed))
    return 2, *_value_order(parsed)


def _value_order(item: Any) -> tuple[int, Any]:
    if isinstance(item, bool):
        return 2, item
    if isinstance(item, int | float):
        return 0, item
    return (1, item) if isinstance(item, str) else (3, str(item))


def _element_text(element: str) -> str:
    kind, text = element[0], element[2:]
    if kind == "f":
        return f".{text}"
    if kind == "k":
        parsed = orjson.loads(text)
        return f"[{','.join(f'{name}={_json(parsed[name])}' for name in sorted(parsed))}]"
    return f"[={text}]" if kind == "v" else f"[{text}]"


def _json(item: Any) -> str:
    if isinstance(item, float) and item.is_integer():
        item = int(item)
    return orjson.dumps(item).decode().translate(_HTML)


def _children(node: FieldSet) -> FieldSet:
    return {element: child for element, child in node.items() if element != SELF} if SELF in node else node


def _node(member: bool, children: FieldSet) -> FieldSet:
    return {SELF: {}, **children} if member and children else children
