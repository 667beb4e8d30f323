"""Validation ratcheting: an update may keep an invalid value that it does not change.

A schema may become stricter than the objects that are stored; an update is then validated in what it changes only. An
item of a list is found again by its keys where the list is a map; in other lists only the whole list is compared.

Upstream: apiextensions-apiserver/pkg/apiserver/validation/ratcheting.go and
k8s.io/apiserver/pkg/cel/common/equality.go.
"""

import re
from typing import Any

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import shown

ABSENT = object()
"""The old value of what was not there before, or cannot be found again."""
_STEP = re.compile(r"\[([^\]]*)\]|([^.\[]+)")
_UNSEEN = ("apiVersion", "kind")


def old_items(schema: Document, value: list[Any], old: Any) -> list[Any]:
    """For each item of a list what it was before."""
    kind = schema.get("x-kubernetes-list-type")
    if not isinstance(old, list) or kind not in ("map", "set"):
        return [ABSENT] * len(value)
    if kind == "set":
        known = {shown(item): item for item in old}
        return [known.get(shown(item), ABSENT) for item in value]
    keys = schema.get("x-kubernetes-list-map-keys") or ()

    def key_of(item: Any) -> str:
        return shown([item.get(key) for key in keys]) if isinstance(item, dict) else ""

    before = {key_of(item): item for item in old}
    return [before.get(key_of(item), ABSENT) for item in value]


def is_unchanged(cause: Cause, schema: Document, document: Document, old: Document) -> bool:
    """Whether a cause is about a value that the update did not touch; a missing field is about its parent."""
    steps = [index or name for index, name in _STEP.findall(cause.field)]
    if cause.field == "<nil>" or not steps or steps[0] in _UNSEEN:
        return False
    if cause.reason == "FieldValueRequired":
        steps = steps[:-1]
    current: Any = schema
    value: Any = document
    before: Any = old
    for step in steps:
        known, item, was = _step(current, value, before, step)
        if was is ABSENT:
            # What cannot be found again is unchanged if what it is in is unchanged.
            break
        current, value, before = known, item, was
    return bool(value == before)


def _step(schema: Any, value: Any, old: Any, step: str) -> tuple[Any, Any, Any]:
    schema = schema if isinstance(schema, dict) else {}
    if isinstance(value, dict) and isinstance(old, dict) and step in value:
        extra = schema.get("additionalProperties")
        known = (schema.get("properties") or {}).get(step, extra)
        return known, value[step], old.get(step, ABSENT)
    if isinstance(value, list) and isinstance(old, list) and step.isdigit() and int(step) < len(value):
        return schema.get("items"), value[int(step)], old_items(schema, value, old)[int(step)]
    return None, None, ABSENT
