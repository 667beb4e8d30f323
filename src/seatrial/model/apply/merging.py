"""An applied configuration merged into the live object; nothing is removed here.

Follows sigs.k8s.io/structured-merge-diff/v6/typed/merge.go, the interleaving of two list orders included.
"""

from typing import Any

from seatrial.model.apply.shapes import ListShape, MapShape, Shape
from seatrial.model.apply.typed import ABSENT, element_of, forms


def merge(live: Any, config: Any, shape: Shape) -> Any:
    """The live value merged with the configuration's; ABSENT where neither has one."""
    if config is ABSENT:
        form, part = forms(shape, live)
    elif live is ABSENT or config is not None:
        form, part = forms(shape, config)
    else:
        form, part = forms(shape, live)
    whole = config if config is not ABSENT else live
    if form == "scalar" or part is None or part.atomic:
        return whole
    if isinstance(part, MapShape):
        before = live if isinstance(live, dict) else {}
        after = config if isinstance(config, dict) else {}
        return _merge_maps(before, after, part) if before or after else whole
    olds = live if isinstance(live, list) else []
    news = config if isinstance(config, list) else []
    return _merge_lists(olds, news, part) if olds or news else whole


def _merge_maps(live: dict[str, Any], config: dict[str, Any], shape: MapShape) -> Any:
    result: dict[str, Any] = {}
    for name in dict.fromkeys((*live, *config)):
        child = shape.child(name)
        left, right = live.get(name, ABSENT), config.get(name, ABSENT)
        if child is None:
            merged = right if right is not ABSENT else left
        elif right is ABSENT:
            merged = left
        else:
            merged = merge(left, right, child)
        if merged is not ABSENT:
            result[name] = merged
    return result or ABSENT


def _merge_lists(live: list[Any], config: list[Any], shape: ListShape) -> Any:
    """Items of the configuration in its order, with the live ones that it does not name kept in their places."""
    lefts = [element_of(shape, item) for item in live]
    rights = [element_of(shape, item) for item in config]
    old: dict[str, Any] = {}
    for element, item in zip(lefts, live, strict=True):
        old[element] = None if element in old else item
    new = dict(zip(rights, config, strict=True))
    shared = [element for element in rights if element in old]
    merged: set[str] = set()
    result: list[Any] = []

    def take(element: str) -> None:
        merged.add(element)
        value = merge(old.get(element, ABSENT), new[element], shape.items)
        if value is not ABSENT:
            result.append(value)
        if shared and shared[0] == element:
            del shared[0]

    left = right = 0
    while left < len(lefts) or right < len(rights):
        if left < len(lefts) and right < len(rights):
            element = lefts[left]
            if element == rights[right]:
                take(element)
                left, right = left + 1, right + 1
                continue
            if element in new and shared and shared[0] != element:
                left += 1
                continue
        if left < len(lefts):
            element = lefts[left]
            if element not in new:
                result.append(live[left])
                left += 1
                continue
            if element in merged:
                left += 1
        if right < len(rights):
            take(rights[right])
            right += 1
    return result or ABSENT
