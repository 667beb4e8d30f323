"""Patching an object: the patch is worked out on the latest state, then written like any update.

Upstream: k8s.io/apiserver/pkg/endpoints/handlers/patch.go.
"""

from typing import TYPE_CHECKING, Any

from seatrial.model.documents import Document
from seatrial.model.errors import BadRequest
from seatrial.model.kinds import Kind
from seatrial.model.patches import apply_json_patch, apply_merge_patch, apply_strategic_patch
from seatrial.model.schema import Schema
from seatrial.store.objects import Stored
from seatrial.store.options import Patch

if TYPE_CHECKING:
    from seatrial.store.store import Store


def patched(store: "Store", kind: Kind, document: Document, patch: Patch, schema: Schema | None) -> Document:
    """The document after a JSON, merge or strategic merge patch."""
    match patch.type:
        case "json":
            result: Any = apply_json_patch(document, patch.body)
        case "merge":
            result = apply_merge_patch(document, patch.body)
        case "strategic":
            result = apply_strategic_patch(document, patch.body, schema)
        case _:
            raise BadRequest(f"unknown patch type: {patch.type}")
    if not isinstance(result, dict):
        raise BadRequest(f"{kind.kind} cannot be patched into something that is no object")
    return result


def check_still_itself(kind: Kind, document: Document, current: Stored) -> None:
    """A patch cannot turn an object into one of another kind."""
    if (document.get("apiVersion"), document.get("kind")) != (kind.api_version, kind.kind):
        raise BadRequest(
            f"{document.get('kind')} in version {document.get('apiVersion')!r} cannot be handled as a {kind.kind}"
        )
