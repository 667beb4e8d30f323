"""Makes equal what two servers cannot have in common: identities, times, revisions, generated names and addresses."""

import json
import re
from typing import Any

from seatrial.model.protobuf import MAGIC, decode_protobuf

LONG = 150
"""Characters from which two texts are shown around their first difference alone."""
TIMES = frozenset(
    (
        "creationTimestamp",
        "deletionTimestamp",
        "time",
        "lastTransitionTime",
        "lastUpdateTime",
        "lastPhaseTransitionTime",
        "startTime",
        "expirationTimestamp",
    )
)
_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_ADDRESS = re.compile(r"\b10\.(9[6-9]|10\d|11[01])\.\d+\.\d+\b")
_NODE_PORT = re.compile(r"\b3[0-2]\d{3}\b")
_GENERATED = re.compile(r"\b(generated-)[a-z0-9]{5}\b")
_REVISION = re.compile(r'((?:resourceVersion|generation)(?:\\*": ?\\*"?|: ))\d+')
_CURRENT = re.compile(r"(current: )\d+")
_QUOTED = re.compile(r'(.*?Invalid value: ")(\{.*\})(": .*)', re.DOTALL)
_AGE = re.compile(r"^\d+[smhd](\d+[smh])?$")


def normalised(body: bytes) -> Any:
    """The answer as a value that can be compared."""
    if body.startswith(MAGIC):
        return _value("", decode_protobuf(body))
    try:
        return _value("", json.loads(body))
    except ValueError:
        return _stream(body)


def _stream(body: bytes) -> Any:
    """The events of a watch, or a text."""
    lines = body.decode("utf-8", "replace").splitlines()
    try:
        return [_value("", json.loads(line)) for line in lines]
    except ValueError:
        return _text("\n".join(lines))


def _value(key: str, value: Any) -> Any:
    if isinstance(value, dict):
        return {_text(name): _value(name, each) for name, each in value.items()}
    if isinstance(value, list):
        if key == "cells":
            return [_cell(each) for each in value]
        if key == "managedFields":
            value = sorted(value, key=_order_in_one_second)
        return [_value(key, each) for each in value]
    if key in ("resourceVersion", "continue") and value:
        return "<revision>"
    if key == "description" and isinstance(value, str):
        return "<prose>"
    if key == "remainingItemCount":
        return "<count>"
    if key in TIMES and value:
        return "<time>"
    if key == "nodePort" and isinstance(value, int) and 30000 <= value <= 32767:
        return "<port>"
    if key in ("token",):
        return "<token>"
    return _message(value) if isinstance(value, str) else value


def _order_in_one_second(entry: dict[str, Any]) -> tuple[str, ...]:
    """Entries are ordered by time before their names; whether two fall into one second differs from run to run."""
    return tuple(entry.get(field, "") for field in ("operation", "manager", "apiVersion", "subresource"))


def _message(text: str) -> Any:
    """A text; a document that is quoted in it is compared as a document, whatever the order of its keys."""
    found = _QUOTED.fullmatch(text)
    if found is None:
        return _text(text)
    try:
        document = json.loads(json.loads(f'"{found[2]}"'))
    except ValueError:
        return _text(text)
    return [_text(found[1]), _value("", document), _text(found[3])]


def _cell(value: Any) -> Any:
    if isinstance(value, str) and _AGE.match(value):
        return "<age>"
    return _text(value) if isinstance(value, str) else value


def _text(text: str) -> str:
    text = _CURRENT.sub(r"\1<revision>", text)
    text = _UID.sub("<uid>", text)
    text = _TIME.sub("<time>", text)
    text = _ADDRESS.sub("<address>", text)
    text = _GENERATED.sub(r"\1<suffix>", text)
    return _REVISION.sub(r"\1<revision>", text)


def differences(real: Any, ours: Any, path: str = "") -> list[str]:
    """Where two values differ, one line each."""
    if isinstance(real, dict) and isinstance(ours, dict):
        found = []
        for key in [*real, *(key for key in ours if key not in real)]:
            here = f"{path}.{key}"
            if key not in ours:
                found.append(f"{here}: ours lacks {_short(real[key])}")
            elif key not in real:
                found.append(f"{here}: ours has {_short(ours[key])}")
            else:
                found += differences(real[key], ours[key], here)
        return found
    if isinstance(real, list) and isinstance(ours, list) and len(real) == len(ours):
        return [
            line
            for number, (one, other) in enumerate(zip(real, ours, strict=True))
            for line in differences(one, other, f"{path}[{number}]")
        ]
    if isinstance(real, str) and isinstance(ours, str) and real != ours and min(len(real), len(ours)) > LONG:
        place = next((n for n, (a, b) in enumerate(zip(real, ours, strict=False)) if a != b), min(len(real), len(ours)))
        start = max(0, place - 30)
        return [f"{path}: …{_short(real[start : place + LONG])} != …{_short(ours[start : place + LONG])}"]
    return [] if real == ours and type(real) is type(ours) else [f"{path}: {_short(real)} != {_short(ours)}"]


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) < 300 else text[:300] + "…"
