"""JSON patch (RFC 6902) as github.com/evanphx/json-patch v4 applies it, its texts and its leniencies included.

It replaces a missing key of an object, counts negative indices from the end, and ignores what precedes the first
slash of a path. Operations and what `copy` adds are limited, since a few copies of copies grow without bound.
"""

import re
from collections.abc import Callable
from typing import Any, Final

import orjson

from seatrial.model.documents import Document
from seatrial.model.errors import BadRequest, TooLarge
from seatrial.model.patches.refusals import PatchRefused, bounded, cannot_unmarshal

MOST_OPERATIONS: Final = 10_000
MOST_COPIED_BYTES: Final = 3 * 1024 * 1024
_ABSENT: Final = object()
_NO_PATH: Final = dict.fromkeys(("replace", "move", "test"), "operation missing path field: missing value")
_INDEX: Final = re.compile(r"[+-]?[0-9]{1,9}")


@bounded
def apply_json_patch(document: Document, operations: Any) -> Document:
    """The document after all operations; the first that does not apply refuses the patch."""
    if not isinstance(operations, list):
        raise cannot_unmarshal(operations, "[]handlers.jsonPatchOp")
    if len(operations) > MOST_OPERATIONS:
        raise TooLarge(
            "Request entity too large: The allowed maximum operations in a JSON patch is "
            f"{MOST_OPERATIONS}, got {len(operations)}"
        )
    target = _Target(document)
    for operation in operations:
        if not isinstance(operation, dict):
            raise cannot_unmarshal(operation, "handlers.jsonPatchOp")
        kind = operation.get("op")
        carry_out = _OPERATIONS.get(kind) if isinstance(kind, str) else None
        if carry_out is None:
            raise PatchRefused(f"Unexpected kind: {kind if isinstance(kind, str) else 'unknown'}")
        carry_out(target, operation)
    if not isinstance(target.document, dict):
        raise BadRequest("error decoding patch: the patched document is not an object")
    return target.document


class _Target:
    """The document under the patch, and how much `copy` has added to it."""

    def __init__(self, document: Any) -> None:
        self.document = document
        self.copied = 0

    def find(self, path: str) -> tuple[Any, str]:
        """The container that a path's last step is taken in (None if it does not exist), and that step."""
        steps = [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")]
        if len(steps) < 2:
            return None, ""
        container = self.document
        for step in steps[1:-1]:
            container = _look_up(container, step)
            if not isinstance(container, dict | list):
                return None, ""
        return container, steps[-1]


def _look_up(container: Any, step: str) -> Any:
    if isinstance(container, dict):
        return container.get(step, _ABSENT)
    try:
        return container[_position(step, len(container))]
    except PatchRefused:
        return _ABSENT


def _position(step: str, length: int) -> int:
    """The place in a list of this length that a step names."""
    if not _INDEX.fullmatch(step):
        raise PatchRefused(f'strconv.Atoi: parsing "{step}": invalid syntax')
    index = int(step)
    if not -length <= index < length:
        raise PatchRefused(f"Unable to access invalid index: {index}: invalid index referenced")
    return index + length if index < 0 else index


def _get(container: Any, step: str) -> Any:
    if isinstance(container, dict):
        return container.get(step)
    return container[_position(step, len(container))]


def _insert(container: Any, step: str, value: Any) -> None:
    if isinstance(container, dict):
        container[step] = value
    elif step == "-":
        container.append(value)
    elif not _INDEX.fullmatch(step):
        raise PatchRefused(
            f"value was not a proper array index: '{step}': strconv.Atoi: parsing \"{step}\": invalid syntax"
        )
    else:
        container.insert(_position(step, len(container) + 1), value)


def _delete(container: Any, step: str) -> None:
    if isinstance(container, list):
        del container[_position(step, len(container))]
    elif step in container:
        del container[step]
    else:
        raise PatchRefused(f"Unable to remove nonexistent key: {step}: missing value")


def _text(operation: Document, name: str, kind: str) -> str:
    value = operation.get(name)
    if not isinstance(value, str):
        why = "operation, missing from field: missing value" if name == "from" else _NO_PATH.get(kind, "missing value")
        raise PatchRefused(f"{kind} operation failed to decode {name}: {why}")
    return value


def _within(text: str, action: Callable[[], Any]) -> Any:
    try:
        return action()
    except PatchRefused as error:
        raise PatchRefused(f"{text}: {error.why}") from None


def _add(target: _Target, operation: Document) -> None:
    path = _text(operation, "path", "add")
    container, step = target.find(path)
    if container is None:
        raise PatchRefused(f'add operation does not apply: doc is missing path: "{path}": missing value')
    _within(f"error in add for path: '{path}'", lambda: _insert(container, step, operation.get("value")))


def _remove(target: _Target, operation: Document) -> None:
    path = _text(operation, "path", "remove")
    container, step = target.find(path)
    if container is None:
        raise PatchRefused(f'remove operation does not apply: doc is missing path: "{path}": missing value')
    _within(f"error in remove for path: '{path}'", lambda: _delete(container, step))


def _replace(target: _Target, operation: Document) -> None:
    path = _text(operation, "path", "replace")
    value = operation.get("value")
    if path == "":
        if not isinstance(value, dict | list):
            raise PatchRefused("replace operation value must be object or array")
        target.document = value
        return
    container, step = target.find(path)
    if container is None:
        raise PatchRefused(f"replace operation does not apply: doc is missing path: {path}: missing value")
    if isinstance(container, dict):
        container[step] = value
        return
    if _look_up(container, step) is _ABSENT:
        raise PatchRefused(f"replace operation does not apply: doc is missing key: {path}: missing value")
    container[_position(step, len(container))] = value


def _move(target: _Target, operation: Document) -> None:
    source = _text(operation, "from", "move")
    container, step = target.find(source)
    if container is None:
        raise PatchRefused(f"move operation does not apply: doc is missing from path: {source}: missing value")
    value = _within(f"error in move for path: '{step}'", lambda: _get(container, step))
    _within(f"error in move for path: '{step}'", lambda: _delete(container, step))
    path = _text(operation, "path", "move")
    into, last = target.find(path)
    if into is None:
        raise PatchRefused(f"move operation does not apply: doc is missing destination path: {path}: missing value")
    _within(f"error in move for path: '{path}'", lambda: _insert(into, last, value))


def _copy(target: _Target, operation: Document) -> None:
    source = _text(operation, "from", "copy")
    container, step = target.find(source)
    if container is None:
        raise PatchRefused(f"copy operation does not apply: doc is missing from path: {source}: missing value")
    value = _within(f"error in copy for from: '{source}'", lambda: _get(container, step))
    path = _text(operation, "path", "copy")
    into, last = target.find(path)
    if into is None:
        raise PatchRefused(f"copy operation does not apply: doc is missing destination path: {path}: missing value")
    encoded = orjson.dumps(value)
    target.copied += len(encoded)
    if target.copied > MOST_COPIED_BYTES:
        raise PatchRefused(
            f"Unable to complete the copy, the accumulated size increase of copy is {target.copied}, "
            f"exceeding the limit {MOST_COPIED_BYTES}"
        )
    _within("error while adding value during copy", lambda: _insert(into, last, orjson.loads(encoded)))


def _test(target: _Target, operation: Document) -> None:
    path = _text(operation, "path", "test")
    wanted = operation.get("value")
    if path == "":
        found = target.document
    else:
        container, step = target.find(path)
        if container is None:
            raise PatchRefused(f"test operation does not apply: is missing path: {path}: missing value")
        found = _within(f"error in test for path: '{path}'", lambda: _get(container, step))
    if orjson.dumps(found, option=orjson.OPT_SORT_KEYS) != orjson.dumps(wanted, option=orjson.OPT_SORT_KEYS):
        raise PatchRefused(f"testing value {path} failed: test failed")


_OPERATIONS: Final[dict[str, Callable[[_Target, Document], None]]] = {
    "add": _add,
    "remove": _remove,
    "replace": _replace,
    "move": _move,
    "copy": _copy,
    "test": _test,
}
