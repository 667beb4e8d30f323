"""Recorded refusals: manifests, the changes made to them, and the causes upstream's strategies found."""

import copy
import gzip
import re
from pathlib import Path
from typing import Any

import orjson

from seatrial.clock.virtual import Clock
from seatrial.model.builtin import builtin_kinds
from seatrial.model.errors import Invalid, StatusError
from seatrial.store.options import CreateOptions, UpdateOptions
from seatrial.store.store import Store
from tests.known_kinds import known_kind

GOLDEN = Path(__file__).parents[2] / "golden" / "validation" / "causes.json.gz"
UID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
ALLOCATOR = "provided port is not in the valid range"
"""A refusal of the storage behind the strategies, which were recorded without it."""
STRUCTS = ("spec.template", "spec.template.spec", "spec")
"""Fields whose whole value upstream prints as an internal Go struct when they may not change."""
Document = dict[str, Any]
Row = tuple[str, list[Any], str, list[Document]]


def recorded(path: Path = GOLDEN) -> tuple[dict[str, Document], list[Row]]:
    data = path.read_bytes()
    manifests, rows = orjson.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    return manifests, rows


def changed(manifest: Document, changes: list[Any]) -> Document:
    result: Any = copy.deepcopy(manifest)
    for path, *value in changes:
        holder = result
        for key in path[:-1]:
            holder = holder[key] if isinstance(holder, list) else holder.setdefault(key, {})
        if value:
            holder[path[-1]] = copy.deepcopy(value[0])
        else:
            holder.pop(path[-1], None) if isinstance(holder, dict) else holder.pop(path[-1])
    assert isinstance(result, dict)
    return result


class Asked:
    """A store that is asked what it makes of a changed manifest, and keeps nothing."""

    def __init__(self, manifests: dict[str, Document]) -> None:
        self.manifests = manifests
        self.empty = Store(builtin_kinds(), Clock())
        self.filled: dict[str, Store] = {}

    def causes(self, name: str, changes: list[Any], door: str) -> list[Document]:
        """What is refused, or nothing; a text where it is refused without causes."""
        try:
            self._ask(name, changes, door)
        except Invalid as error:
            return [
                {"field": cause.field, "message": cause.message, "reason": cause.reason}
                for cause in error.causes
                if ALLOCATOR not in cause.message
            ]
        except StatusError as error:
            return [{"field": "", "message": f"{type(error).__name__}: {error}", "reason": ""}]
        return []

    def _ask(self, name: str, changes: list[Any], door: str) -> None:
        manifest = self.manifests[name]
        if door == "create":
            kind = known_kind(self.empty.kinds, manifest["apiVersion"], manifest["kind"])
            document = changed(manifest, changes)
            namespace = document["metadata"].get("namespace", "")
            self.empty.create(kind, document, writer="test", namespace=namespace, options=CreateOptions(dry_run=True))
            return
        store = self.filled.setdefault(name, Store(builtin_kinds(), Clock()))
        kind = known_kind(store.kinds, manifest["apiVersion"], manifest["kind"])
        own, namespace = manifest["metadata"]["name"], manifest["metadata"].get("namespace", "")
        if store.find(kind, own, namespace) is None:
            store.create(kind, copy.deepcopy(manifest), writer="test", namespace=namespace)
        current = store.get(kind, own, namespace)
        document = changed(manifest if door == "status" else current.document(), changes)
        document["metadata"]["resourceVersion"] = str(current.revision)
        store.update(
            kind, document, writer="test", namespace=namespace, subresource=door, options=UpdateOptions(dry_run=True)
        )


def left_out(name: str, changes: list[Any]) -> bool:
    """Cases that docs/validation.md names: expressions, cluster addresses, and empty lists that mean another thing."""
    parts = {key for path, *_ in changes for key in path}
    if parts & {"cel", "clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"}:
        return True
    return name == "autoscaler" and any(path[-2:-1] == ["policies"] and not value for path, *value in changes)


def comparable(causes: list[Document]) -> list[tuple[str, str, str]]:
    """Causes each once, in a fixed order, without what differs by nature: Go's diffs and structs, uids, {} and null."""
    return sorted({(cause["field"], _plain(cause["field"], cause["message"]), cause["reason"]) for cause in causes})


def _plain(field: str, message: str) -> str:
    text = UID.sub("<uid>", message.partition("\n")[0]).replace(" value: {}:", " value: null:")
    if field in STRUCTS:
        text = re.sub(
            r"^Invalid value: \{.*\}: field is immutable$", "Invalid value: <struct>: field is immutable", text
        )
    return text
