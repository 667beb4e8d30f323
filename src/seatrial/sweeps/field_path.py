"""Paths to a field of a document, as a sweep names what it varies.

`profiles[0].pluginConfig[name=NodeResourcesFit].args.scoringStrategy.type`: keys are separated by dots, an item of a
list is chosen by its place or by one of its fields.
"""

import re
from typing import Any

_PART = re.compile(r"\.?([^.\[\]]+)|\[(\d+)\]|\[([^=\[\]]+)=([^\[\]]+)\]")
Part = str | int | tuple[str, str]


def parse_path(text: str) -> list[Part]:
    """The parts of a path; ValueError if the text is no path."""
    parts: list[Part] = []
    position = 0
    while position < len(text):
        match = _PART.match(text, position)
        if match is None or (match.start(1) >= 0 and (text[position] == ".") != bool(parts)):
            raise ValueError(f"{text!r} is not a path; expected for example profiles[0].plugins or items[name=a].count")
        key, place, field, value = match.groups()
        parts.append(key if key else int(place) if place else (field, value))
        position = match.end()
    if not parts or not isinstance(parts[0], str):
        raise ValueError(f"{text!r} is not a path; expected it to begin with a field")
    return parts


def assigned(document: Any, path: list[Part], value: Any) -> Any:
    """A copy of a document with a field set; ValueError where the path leads through something else.

    Fields on the way that are missing are added, and so is an item that is named by a field. An item that is named by
    its place must exist.
    """
    if not path:
        return value
    part, rest = path[0], path[1:]
    if isinstance(part, str):
        if not isinstance(document, dict | None):
            raise ValueError(f"{part}: expected an object around it, found {type(document).__name__}")
        fields = document or {}
        return {**fields, part: assigned(fields.get(part), rest, value)}
    if not isinstance(document, list | None):
        raise ValueError(f"[{_shown(part)}]: expected a list, found {type(document).__name__}")
    items = list(document or ())
    place = _place(items, part)
    if place == len(items):
        items.append({part[0]: part[1]} if isinstance(part, tuple) else None)
    items[place] = assigned(items[place], rest, value)
    return items


def _place(items: list[Any], part: int | tuple[str, str]) -> int:
    """The place of an item; the length of the list for one that is to be added."""
    if isinstance(part, int):
        if part >= len(items):
            raise ValueError(f"[{part}]: the list has {len(items)} items")
        return part
    field, wanted = part
    found = (place for place, item in enumerate(items) if isinstance(item, dict) and str(item.get(field)) == wanted)
    return next(found, len(items))


def _shown(part: int | tuple[str, str]) -> str:
    return str(part) if isinstance(part, int) else "=".join(part)
