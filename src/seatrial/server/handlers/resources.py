"""The verbs on resources: create, get, list, watch, update, patch, delete, deletecollection."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from seatrial.model.decoding import check
from seatrial.model.documents import Document
from seatrial.model.errors import BadRequest, MethodNotAllowed, NotFound
from seatrial.model.kinds import Kind
from seatrial.model.schema import has_strategic_patch, schema_of
from seatrial.model.times import to_time
from seatrial.server.encoding.negotiation import PARTIAL, TABLE, negotiate
from seatrial.server.encoding.rendering import Rendering
from seatrial.server.encoding.versions import convert, storage_kind
from seatrial.server.extension_points import Gate
from seatrial.server.handlers import options
from seatrial.server.handlers import request_bodies as bodies
from seatrial.server.handlers.list import Lists, parse_revision, selected, too_large
from seatrial.server.handlers.watch import Watches
from seatrial.server.messages import Answer, Request, Stream, json_answer
from seatrial.server.paths import Target
from seatrial.server.selection import selection_of
from seatrial.server.tables.registry import Tables
from seatrial.store import Store, Stored
from seatrial.store.deferral import long_turn, weigh
from seatrial.store.options import DeleteOptions, Patch, PatchOptions
from seatrial.store.registry import patched, strategy_of

SHAPES = frozenset((TABLE, PARTIAL))

DELETED_AT_ONCE = 20
"""Deletes of a collection before others get their turn."""

ORPHANED_PODS = (
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set "
    "propagationPolicy=Orphan to suppress this warning"
)
DEPRECATED = {
    ("v1", "ComponentStatus"): "v1 ComponentStatus is deprecated in v1.19+",
    ("v1", "Endpoints"): "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
}
Verb = Callable[[Request, Target], Awaitable[Answer | Stream]]


class Resources:
    """Carries out the verbs on objects in the store."""

    def __init__(
        self, store: Store, lists: Lists, watches: Watches, tables: Tables, gates: Sequence[Gate] = ()
    ) -> None:
        self.store = store
        self._lists = lists
        self._watches = watches
        self._tables = tables
        self._gates = tuple(gates)
        self._verbs: dict[tuple[str, bool], tuple[str, Verb]] = {
            ("GET", True): ("list", self._list),
            ("POST", True): ("create", self._create),
            ("DELETE", True): ("deletecollection", self._delete_collection),
            ("GET", False): ("get", self._get),
            ("PUT", False): ("update", self._update),
            ("PATCH", False): ("patch", self._patch),
            ("DELETE", False): ("delete", self._delete),
        }

    async def serve(self, request: Request, target: Target) -> Answer | Stream:
        """Carry out a request on a resource itself."""
        method = "GET" if request.method == "HEAD" else request.method
        verb, carry_out = self._verbs.get((method, target.is_collection), ("", None))
        if carry_out is None or verb not in target.kind.verbs or _needs_namespace(verb, target):
            raise not_allowed()
        warn_of_deprecation(request, target.kind)
        await self.pass_gates(request, target)
        return await carry_out(request, target)

    async def pass_gates(self, request: Request, target: Target) -> None:
        """Wait until every gate lets the request go on."""
        for gate in self._gates:
            await gate.enter(request, target)

    def rendering(self, request: Request, kind: Kind) -> Rendering:
        """The rendering of objects of a kind for this request."""
        form = negotiate(request.header("accept"), SHAPES, not kind.custom)
        table = self._tables.table(kind, request.query.get("includeObject", "")) if form.shape == TABLE else None
        convert = self.store.versions.read if kind.custom else None
        return Rendering(kind, form, table, pretty=request.wants_indented, convert=convert)

    async def _list(self, request: Request, target: Target) -> Answer | Stream:
        if request.flag("watch") or target.watch:
            return self._watch(request, target)
        kind = storage_kind(self.store.kinds, target.kind)
        selection = selection_of(request, target, self._tables.selectable_fields(target.kind))
        return await self._lists.answer(request, kind, selection, self.rendering(request, target.kind))

    def _watch(self, request: Request, target: Target) -> Stream:
        kind = storage_kind(self.store.kinds, target.kind)
        selection = selection_of(request, target, self._tables.selectable_fields(target.kind))
        return self._watches.answer(request, target, kind, selection, self.rendering(request, target.kind))

    async def _get(self, request: Request, target: Target) -> Answer | Stream:
        if request.flag("watch") or target.watch:
            return self._watch(request, target)
        rendering = self.rendering(request, target.kind)
        wanted = parse_revision(request.query.get("resourceVersion", ""))
        if wanted > self.store.revision:
            raise too_large(wanted, self.store.revision)
        kind = storage_kind(self.store.kinds, target.kind)
        return rendering.answer(self.store.get(kind, target.name, target.namespace))

    async def _create(self, request: Request, target: Target) -> Answer:
        rendering = self.rendering(request, target.kind)
        chosen = options.create_options(request, trusted=not target.kind.custom)
        kind = storage_kind(self.store.kinds, target.kind)
        document = convert(self._read(request, target.kind), kind)
        stored = self.store.create(
            kind, document, writer=request.user.writer, namespace=target.namespace, options=chosen
        )
        return rendering.answer(stored, 201)

    async def _update(self, request: Request, target: Target) -> Answer:
        return self.update(request, target, "")

    def update(self, request: Request, target: Target, subresource: str) -> Answer:
        """Replace an object, or the part of it that a subresource is."""
        rendering = self.rendering(request, target.kind)
        chosen = options.update_options(request, trusted=not target.kind.custom)
        kind = storage_kind(self.store.kinds, target.kind)
        document = convert(self._read(request, target.kind), kind)
        name_document(document, target)
        existed = self.store.find(kind, target.name, target.namespace) is not None
        stored = self.store.update(
            kind,
            document,
            writer=request.user.writer,
            namespace=target.namespace,
            subresource=subresource,
            options=chosen,
        )
        return rendering.answer(stored, 200 if existed else 201)

    async def _patch(self, request: Request, target: Target) -> Answer:
        return self.patch(request, target, "")

    def patch(self, request: Request, target: Target, subresource: str) -> Answer:
        """Patch an object, or the part of it that a subresource is."""
        rendering = self.rendering(request, target.kind)
        merges = has_strategic_patch(target.kind) or target.kind.group_kind in self.store.definitions.declared
        patch = bodies.read_patch(request, strategic=merges)
        chosen = options.patch_options(request, apply=patch.type == "apply")
        kind = storage_kind(self.store.kinds, target.kind)
        existed = self.store.find(kind, target.name, target.namespace) is not None
        if kind.api_version != target.kind.api_version:
            patch = self._converted(patch, target, kind, chosen)
        stored = self.store.patch(
            kind,
            target.name,
            patch,
            writer=request.user.writer,
            namespace=target.namespace,
            subresource=subresource,
            options=chosen,
        )
        return rendering.answer(stored, 200 if existed else 201)

    def _read(self, request: Request, kind: Kind) -> Document:
        return bodies.read_object(request, kind, self.store.rules.schema(kind) if kind.custom else None)

    def _converted(self, patch: Patch, target: Target, kind: Kind, chosen: PatchOptions) -> Patch:
        """A patch of an object in one version as a patch of it in the version that is stored."""
        if patch.type == "apply":
            configuration, _ = check(target.kind, patch.body, chosen.field_validation)
            return Patch("apply", convert(configuration, kind))
        before = convert(self.store.get(kind, target.name, target.namespace).document(), target.kind)
        wanted = patched(target.kind, before, patch, schema_of(target.kind))
        after, _ = check(target.kind, wanted, chosen.field_validation)
        return Patch("json", [{"op": "replace", "path": "", "value": convert(after, kind)}])

    async def _delete(self, request: Request, target: Target) -> Answer:
        rendering = self.rendering(request, target.kind)
        asked = read_delete_options(request)
        chosen = options.delete_options(request, asked)
        kind = storage_kind(self.store.kinds, target.kind)
        _warn_of_orphans(request, kind, chosen)
        before = self.store.get(kind, target.name, target.namespace)
        weigh(before.size)
        remaining = self.store.delete(
            kind, target.name, writer=request.user.writer, namespace=target.namespace, options=chosen
        )
        if remaining is not None:
            return rendering.answer(remaining)
        if strategy_of(kind).deletes_gracefully:
            return rendering.document_answer(self._ended(before))
        if strategy_of(kind).delete_returns_object:
            return rendering.answer(before)
        return json_answer(success(target.kind, before))

    def _ended(self, before: Stored) -> Document:
        """The last state of an object that a delete ended at once, marked as deleted."""
        document = before.document()
        metadata = document["metadata"]
        if "deletionTimestamp" not in metadata:
            metadata["deletionTimestamp"] = to_time(self.store.clock.now())
            if metadata.get("generation"):
                metadata["generation"] += 1
        metadata["deletionGracePeriodSeconds"] = 0
        return document

    async def _delete_collection(self, request: Request, target: Target) -> Answer | Stream:
        chosen = options.delete_options(request, read_delete_options(request))
        kind = storage_kind(self.store.kinds, target.kind)
        _warn_of_orphans(request, kind, chosen)
        selection = selection_of(request, target, self._tables.selectable_fields(target.kind))
        answer = await self._lists.answer(request, kind, selection, self.rendering(request, target.kind))
        found = await selected(self.store.list(kind, selection.namespace), selection)
        for number, stored in enumerate(found, 1):
            with contextlib.suppress(NotFound), long_turn():
                self.store.delete(
                    kind, stored.name, writer=request.user.writer, namespace=stored.namespace, options=chosen
                )
            if number % DELETED_AT_ONCE == 0:
                await asyncio.sleep(0)
        return answer


def name_document(document: dict[str, object], target: Target) -> None:
    """Set the name from the path; BadRequest where the document has another."""
    metadata = document.get("metadata")
    if metadata is None:
        metadata = document["metadata"] = {}
    if not isinstance(metadata, dict):
        raise BadRequest("metadata: expected an object")
    name = metadata.get("name") or target.name
    if name != target.name:
        raise BadRequest(f"the name of the object ({name}) does not match the name on the URL ({target.name})")
    metadata["name"] = name


def read_delete_options(request: Request) -> dict[str, object]:
    """The DeleteOptions in a body, if there is one."""
    if not request.body:
        return {}
    document = bodies.read_options(request)
    if not isinstance(document, dict):
        raise BadRequest("DeleteOptions: expected an object")
    if document.get("kind", "DeleteOptions") not in ("DeleteOptions", "", None):
        raise BadRequest(f"expected DeleteOptions, got {document['kind']!r}")
    return document


def success(kind: Kind, stored: Stored) -> dict[str, object]:
    """The Status of an object that is gone."""
    uid = msgspec.json.decode(stored.data, type=_Identified).metadata.uid
    details = {"name": stored.name, "group": kind.group, "kind": kind.plural, "uid": uid}
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {key: value for key, value in details.items() if value},
    }


class _Identity(msgspec.Struct):
    uid: str = ""


class _Identified(msgspec.Struct):
    """An object of which nothing but the uid is decoded."""

    metadata: _Identity = msgspec.field(default_factory=_Identity)


def _warn_of_orphans(request: Request, kind: Kind, chosen: DeleteOptions) -> None:
    if kind.group_kind == ("batch", "Job") and not chosen.propagation_policy:
        request.warnings.append(ORPHANED_PODS)


def warn_of_deprecation(request: Request, kind: Kind) -> None:
    """Add the warning that every answer about a deprecated built-in kind carries."""
    if (warning := DEPRECATED.get((kind.api_version, kind.kind))) is not None:
        request.warnings.append(warning)


def not_allowed() -> MethodNotAllowed:
    return MethodNotAllowed("the server does not allow this method on the requested resource")


def _needs_namespace(verb: str, target: Target) -> bool:
    """Whether a verb is for one namespace only; across all of them there is just reading."""
    return target.kind.namespaced and not target.namespace and verb not in ("list", "watch")
