"""The order of a merged list: first as the patch orders it, then as the live list does."""

from typing import Any

from seatrial.model.patches.refusals import PatchRefused, go_text, go_type


def identity(item: Any, merge_key: str) -> Any:
    """What makes two elements the same: the value of the merge key, or the scalar itself, with its type."""
    value = item
    if merge_key:
        if not isinstance(item, dict):
            raise PatchRefused(f"expected a map[string]interface {{}}, but received a {go_type(item)}")
        if merge_key not in item:
            raise PatchRefused(f"map: {go_text(item)} does not contain declared merge key: {merge_key}")
        value = item[merge_key]
    if isinstance(value, dict | list):
        raise PatchRefused(f"map: {go_text(item)} does not contain declared merge key: {merge_key}")
    return type(value), value


def in_order(merged: list[Any], wanted: list[Any], live: list[Any], merge_key: str) -> list[Any]:
    """Elements that `wanted` names follow its order, the others the live one; they are woven by the live order."""
    named = _places(wanted, merge_key)
    known = _places(live, merge_key)
    patched = [item for item in merged if identity(item, merge_key) in named]
    others = [item for item in merged if identity(item, merge_key) not in named]
    patched = _sorted(patched, named, merge_key)
    others = _sorted(others, known, merge_key)
    woven: list[Any] = []
    next_other = 0
    for item in patched:
        place = known.get(identity(item, merge_key))
        while next_other < len(others):
            other = known.get(identity(others[next_other], merge_key))
            if place is None or other is None or other >= place:
                break
            woven.append(others[next_other])
            next_other += 1
        woven.append(item)
    return woven + others[next_other:]


def _places(items: list[Any], merge_key: str) -> dict[Any, int]:
    places: dict[Any, int] = {}
    for place, item in enumerate(items):
        places.setdefault(identity(item, merge_key), place)
    return places


def _sorted(items: list[Any], places: dict[Any, int], merge_key: str) -> list[Any]:
    """Items by their places. Upstream's comparison puts an item without a place before all that precede it."""
    if all(identity(item, merge_key) in places for item in items):
        return sorted(items, key=lambda item: places[identity(item, merge_key)])
    result: list[Any] = []
    for item in items:
        place = places.get(identity(item, merge_key))
        if place is None:
            result.insert(0, item)
            continue
        position = len(result)
        while position:
            before = places.get(identity(result[position - 1], merge_key))
            if before is not None and before <= place:
                break
            position -= 1
        result.insert(position, item)
    return result
