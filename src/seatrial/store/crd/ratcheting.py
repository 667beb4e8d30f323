"""What was wrong before an update and was left as it is may stay wrong.

A schema may become stricter than the objects that are there; an update is then only asked about what it changes.
Upstream: apiextensions-apiserver/pkg/apiserver/validation/ratcheting.go.
"""

import re
from typing import Any

from seatrial.model.documents import Document
from seatrial.model.errors import Cause

_STEP = re.compile(r"\[([^\]]*)\]|([^.\[]+)")
_ABSENT = object()


def is_unchanged(cause: Cause, document: Document, old: Document) -> bool:
    """Whether a cause is about a value that the update did not touch; a missing field is about its parent."""
    steps = [index or name for index, name in _STEP.findall(cause.field)]
    if cause.field == "<nil>" or not steps:
        return False
    if cause.reason == "FieldValueRequired":
        steps = steps[:-1]
    value = _at(document, steps)
    return value is not _ABSENT and value == _at(old, steps)


def _at(value: Any, steps: list[str]) -> Any:
    for step in steps:
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return _ABSENT
    return value
