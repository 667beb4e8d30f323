"""The versioned store: holds all objects, and is the only way to change them.

In-process code and the HTTP server make the same calls and thereby get the same admission and validation. Each
call is carried out in a module of its own (creating, updating, deleting, binding, ...); this module is their interface.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Unpack

import orjson

from seatrial.clock import Clock
from seatrial.model.builtin import kubernetes_version
from seatrial.model.defaults import GatedFields
from seatrial.model.documents import Document
from seatrial.model.errors import BadRequest, StatusError
from seatrial.model.field_selectors import FieldSelector
from seatrial.model.kinds import Kind, Kinds
from seatrial.model.label_selectors import LabelSelector
from seatrial.store import snapshots
from seatrial.store.crd import DEFINITIONS, Definitions
from seatrial.store.journal import Journal
from seatrial.store.managed_fields import FIELD_SETS_KEPT, Keyed
from seatrial.store.memo import Memo
from seatrial.store.metadata import conflict, copied, metadata_of, not_found, uid_mismatch
from seatrial.store.mvcc.history import History
from seatrial.store.mvcc.index import KeyIndex
from seatrial.store.mvcc.packing import Packing
from seatrial.store.mvcc.revisions import Listener, Revisions, SortsOfChanges
from seatrial.store.objects import Change, Facets, Stored
from seatrial.store.options import CreateOptions, DeleteOptions, Patch, PatchOptions, UpdateOptions, WriteOptions
from seatrial.store.registry import binding, creating, deleting, patching, updating
from seatrial.store.registry import eviction as evicting
from seatrial.store.registry.binding import BindingOptions
from seatrial.store.registry.kinds import strategy_of
from seatrial.store.registry.rules import Rules
from seatrial.store.registry.scale import ScalePaths, apply_scale, check_scalable, scale_of
from seatrial.store.registry.status_apart import Split
from seatrial.store.registry.templates import PreparedCreate, Templates
from seatrial.store.requests import Admission, NoAdmission
from seatrial.store.selection import selected
from seatrial.store.uids import Identities, SeededIdentities
from seatrial.store.versions import Versions
from seatrial.store.views.restored_shapes import RestoredShapes

BeforeWrite = Callable[[Kind, Stored | None, str, str], None]
"""Kind, the object before (None: it is new), writer and subresource of a write."""

_CREATE = CreateOptions()
_UPDATE = UpdateOptions()
_PATCH = PatchOptions()
_DELETE = DeleteOptions()
_STATUS_DOOR = ("kind", "apiVersion", "metadata", "status")
_OWN = UpdateOptions(owned=True)


_NODE, _POD = ("", "Node"), ("", "Pod")


class Store:
    """All objects of one cluster, at one revision."""

    def __init__(
        self,
        kinds: Kinds,
        clock: Clock,
        *,
        identities: Identities | None = None,
        admission: Admission | None = None,
        rules: Rules | None = None,
        history: History | None = None,
        packing: Packing | None = None,
    ) -> None:
        self.kinds = kinds
        self.clock = clock
        self.identities: Identities = identities or SeededIdentities()
        self.admission: Admission = admission or NoAdmission()
        self.versions = Versions(kinds)
        self.definitions = Definitions(kinds, self.versions)
        self.rules = rules or Rules(self.definitions)
        self.before_write: BeforeWrite | None = None
        """Called before each write but `write_pieces`; the engine begins a minor step, which the write then has."""
        self.real_time: dict[tuple[str, str], tuple[Clock, Identities]] = {}
        """Kinds that a simulation leaves in real time, with the clock and the identities of their objects."""
        self.status_apart: dict[tuple[str, str], Split] = {}
        """Kinds whose objects are edited apart from their status."""
        self.keyed_for_apply: dict[tuple[str, str], Keyed] = {}
        """Kinds whose applied configurations get the keys of their lists first."""
        self.known_fields: Memo[bytes, bytes] = Memo(FIELD_SETS_KEPT)
        """Sets of fields that were worked out for creators, by the shape of what they created."""
        self.release = kubernetes_version()
        """The release of Kubernetes that the API server and the nodes report."""
        self.gated_fields = GatedFields({})
        """What the feature gates of the API server change in objects; every field is served without any."""
        self.templates = Templates()
        self._restored_shapes = RestoredShapes()
        self._revisions = Revisions(history, packing)
        self.views = self._revisions.views
        self._journal: Journal | None = None
        self._pods = kinds.named("v1", "Pod") or Kind("", "v1", "Pod", "pods", subresources=("status", "binding"))

    @property
    def revision(self) -> int:
        """The revision of the latest write."""
        return self._revisions.revision

    def clock_of(self, kind: Kind) -> Clock:
        """The clock by which objects of a kind are created."""
        return self.real_time[kind.group_kind][0] if kind.group_kind in self.real_time else self.clock

    def identities_of(self, kind: Kind) -> Identities:
        """The source of uids for objects of a kind."""
        return self.real_time[kind.group_kind][1] if kind.group_kind in self.real_time else self.identities

    def find(self, kind: Kind, name: str, namespace: str = "") -> Stored | None:
        """The object of that name, or None."""
        index = self._revisions.indexes.get(self.versions.key(kind))
        stored = index.find(namespace, name) if index is not None else None
        if stored is None or (stored.kind is kind and not kind.custom):
            return stored
        return self.versions.read(self.versions.local_kind(kind), stored)

    def get(self, kind: Kind, name: str, namespace: str = "") -> Stored:
        """The object of that name; NotFound if it does not exist."""
        stored = self.find(kind, name, namespace)
        if stored is None:
            raise not_found(kind, name)
        return stored

    def list(
        self,
        kind: Kind,
        namespace: str = "",
        labels: LabelSelector | None = None,
        fields: FieldSelector | None = None,
    ) -> list[Stored]:
        """The objects of a kind in the order of (namespace, name); of all namespaces if `namespace` is empty."""
        index = self.index(kind)
        if not index:
            return []
        found = index.all(namespace if kind.namespaced else "")
        if kind.custom:
            return selected(self.versions.read_all(self.versions.local_kind(kind), found), labels, fields)
        return self.versions.read_all(kind, selected(found, labels, fields))

    def create(
        self,
        kind: Kind,
        document: Document,
        *,
        writer: str,
        namespace: str = "",
        options: CreateOptions = _CREATE,
    ) -> Stored:
        """Create an object; AlreadyExists where the name is taken."""
        stored = creating.create(self, kind, document, namespace, writer, options)
        return self.versions.read(kind, stored) if kind.custom else stored

    def prepare_create(
        self, kind: Kind, document: Document, namespace: str, options: CreateOptions = _CREATE
    ) -> PreparedCreate | None:
        """Prepare the creation of objects like a document but for name and variable fields; None: not possible."""
        return self.templates.prepare(self, kind, document, namespace, options)

    def create_prepared(
        self, prepared: PreparedCreate, name: str, values: Sequence[object], *, writer: str
    ) -> Stored | None:
        """Create an object with these values of the prepared fields; None: it must be created by itself."""
        return self.templates.create_prepared(self, prepared, name, values, writer)

    def update(
        self,
        kind: Kind,
        document: Document,
        *,
        writer: str,
        namespace: str = "",
        subresource: str = "",
        options: UpdateOptions = _UPDATE,
    ) -> Stored:
        """Replace an object; Conflict where the document was made from an older revision."""
        document, kind = document if options.owned else copied(document), self.versions.local_kind(kind)
        metadata = metadata_of(document)
        name, namespace = metadata.get("name", ""), namespace or metadata.get("namespace", "")
        if not isinstance(name, str) or not isinstance(namespace, str):
            raise BadRequest("metadata: name and namespace are strings")
        if not subresource and strategy_of(kind).created_by_update and self.find(kind, name, namespace) is None:
            return self._created_by_update(kind, document, namespace, writer, options)
        current = self.current(kind, name, namespace)
        if subresource == "scale":
            check_scalable(kind)
            scale, document = document, self.versions.read(kind, current).document()
            apply_scale(kind, document, scale, self.scale_paths(kind))
            subresource = ""
        return self.update_from(kind, document, current, writer, subresource, options)

    def modify(
        self,
        kind: Kind,
        name: str,
        change: Callable[[Document], None],
        *,
        writer: str,
        namespace: str = "",
        subresource: str = "",
    ) -> Stored:
        """Read an object, let `change` change it in place, write it back; nothing is written where nothing changed."""
        current, kind = self.current(kind, name, namespace), self.versions.local_kind(kind)
        document = self.versions.read(kind, current).document()
        change(document)
        if subresource == "status":
            # The rest stays as it was, so it need not be looked at again.
            document = {key: document[key] for key in _STATUS_DOOR if key in document}
        return self.update_from(kind, document, current, writer, subresource, _OWN)

    def write_pieces(
        self,
        current: Stored,
        pieces: Callable[[int], tuple[bytes, ...]],
        *,
        writer: str,
        subresource: str = "status",
        facets: Facets | None = None,
    ) -> Stored:
        """Write an object that its owner keeps encoded in pieces, which revisions share.

        For our own code: nothing is decoded and nothing validated. `pieces` receives the revision to write.
        """
        if self.before_write is not None and subresource != "status":
            self.before_write(current.kind, current, writer, subresource)
        return self._revisions.put_pieces(
            current, pieces, writer=writer, at=self.clock.now(), subresource=subresource, facets=facets
        )

    def patch(
        self,
        kind: Kind,
        name: str,
        patch: Patch,
        *,
        writer: str,
        namespace: str = "",
        subresource: str = "",
        options: PatchOptions = _PATCH,
    ) -> Stored:
        """Patch an object as it is now; an apply creates it where it is not there."""
        kind = self.versions.local_kind(kind)
        return patching.patch(self, kind, name, patch, namespace, writer, subresource, options)

    def delete(
        self, kind: Kind, name: str, *, writer: str, namespace: str = "", options: DeleteOptions = _DELETE
    ) -> Stored | None:
        """Delete an object: None when it is gone, else what waits for its finalizers or its grace period."""
        kind = self.versions.local_kind(kind)
        return deleting.delete(self, self.current(kind, name, namespace), writer, options, kind)

    def bind(self, namespace: str, name: str, node: str, *, writer: str, **more: Unpack[BindingOptions]) -> Stored:
        """Assign a pod to a node; Conflict where it has one."""
        current = self._revisions.index(_POD).find(namespace, name)
        if current is None:
            raise not_found(self._pods, name)
        return binding.bind(self, current, node, writer=writer, **more)

    def evict(self, namespace: str, name: str, *, writer: str, options: DeleteOptions = _DELETE) -> None:
        """Delete a pod where its disruption budget allows it; TooManyRequests where not now."""
        evicting.evict(self, self.current(self._pods, name, namespace), writer, options)

    def scale(self, kind: Kind, name: str, namespace: str = "") -> Document:
        """The Scale of an object."""
        check_scalable(kind)
        return scale_of(self.get(kind, name, namespace).document(), self.scale_paths(kind))

    def scale_paths(self, kind: Kind) -> ScalePaths | None:
        """Where a kind keeps its replicas, if not where the built-in ones do."""
        return self.definitions.scale_paths(kind) if kind.custom else None

    def load(self, documents: Iterable[Document], *, writer: str) -> Sequence[Stored]:
        """Take a snapshot in: objects keep their status, uid and age."""
        return snapshots.load(self, documents, writer)

    def export(self) -> Sequence[Document]:
        """Every object there is, as documents that `load` takes."""
        return snapshots.export(self)

    def subscribe(
        self, listener: Listener, kinds: Iterable[Kind] | None = None, **sorts: Unpack[SortsOfChanges]
    ) -> Callable[[], None]:
        """Call `listener` after each write (of these kinds), in the order of subscription; returns how to stop it."""
        stored = None if kinds is None else [self.versions.storage_kind(kind) for kind in kinds]
        return self._revisions.subscribe(listener, stored, **sorts)

    def changes(self, since: int, kind: Kind | None = None) -> Iterator[Change]:
        """The changes after revision `since`; Gone where they are no longer kept."""
        changes = self._revisions.history.since(since)
        if kind is None:
            return iter(changes)
        key = self.versions.key(kind)
        return (change for change in changes if change.stored.kind.group_kind == key)

    def compact(self, revision: int) -> None:
        """Forget the history up to a revision; later reads of it are Gone."""
        self._revisions.history.compact(revision)

    async def committed(self, revision: int) -> None:
        """Return when the write of this revision is safe: at once, unless the store is kept on disk."""
        if self._journal is not None:
            await self._journal.committed(revision)

    async def written(self) -> None:
        """Return when no write to disk is in progress."""
        if self._journal is not None:
            await self._journal.written()

    @property
    def failure(self) -> StatusError | None:
        """The error after which the store takes no writes; None while there is none."""
        return self._journal.failure if self._journal is not None else None

    def current(self, kind: Kind, name: str, namespace: str) -> Stored:
        """The object as it is stored, in its storage version; NotFound if it does not exist."""
        stored = self.find_current(kind, name, namespace)
        if stored is None:
            raise not_found(kind, name)
        return stored

    def find_node(self, name: str) -> Stored | None:
        """A node as it is stored, or None."""
        return self._revisions.index(_NODE).find("", name)

    def find_current(self, kind: Kind, name: str, namespace: str) -> Stored | None:
        """The object as it is stored, in its storage version, or None."""
        return self.index(kind).find(namespace if kind.namespaced else "", name)

    def attach_journal(self, journal: Journal | None) -> None:
        """Pass each write from now on to a journal."""
        self._journal = journal
        self._revisions.journal = journal.append if journal is not None else None

    def restore(self, stored: Stored | None, previous: Stored | None) -> None:
        """Put back an object from a journal (None: it was deleted), without calling the listeners."""
        self._revisions.restore(stored, previous)

    def resume(self, revision: int, changes: Iterable[Change], compacted: int) -> History:
        """Continue from a revision; of what was before, the changes after `compacted` are known. Gives the history."""
        return self._revisions.begin_at(revision, changes, compacted)

    def everything(self) -> Sequence[Stored]:
        """All objects as they are stored, definitions of kinds first."""
        indexes = self._revisions.indexes
        first = [indexes[DEFINITIONS]] if DEFINITIONS in indexes else []
        others = [index for group_kind, index in indexes.items() if group_kind != DEFINITIONS]
        return [stored for index in (*first, *others) for stored in index]

    def writes(self, group_kind: tuple[str, str]) -> int:
        """How many writes objects of a kind have had."""
        return self._revisions.writes.get(group_kind, 0)

    def writes_of(self, kinds: Iterable[tuple[str, str]]) -> tuple[int, ...]:
        """How many writes objects of each of these kinds have had."""
        count = self._revisions.writes.get
        return tuple([count(group_kind, 0) for group_kind in kinds])

    def index(self, kind: Kind) -> KeyIndex:
        """All objects of a kind."""
        key = self.versions.key(kind)
        index = self._revisions.indexes.get(key)
        return self._revisions.index(key) if index is None else index

    def put(
        self,
        kind: Kind,
        document: Document,
        previous: Stored | None,
        *,
        writer: str,
        subresource: str = "",
        is_restored: bool = False,
    ) -> Stored:
        """Commit a prepared document: for the modules of this room."""
        if self.before_write is not None:
            self.before_write(kind, previous, writer, subresource)
        if kind.group_kind == DEFINITIONS:
            self.definitions.accept(document, previous.document() if previous else None, self.clock.now())
            self.definitions.changed(document, self.revision + 1)
        keep_facets = self.templates.enabled and self._revisions.packing is None
        is_alike = is_restored and keep_facets and kind.group_kind == _POD
        try:
            return self._revisions.put(
                kind, document, previous, writer=writer, at=self.clock.now(), subresource=subresource,
                keep_facets=keep_facets, shape=self._restored_shapes.shape(document) if is_alike else None,
            )  # fmt: skip
        except orjson.JSONEncodeError as error:
            raise BadRequest(f"the object cannot be written as JSON: {error}") from error

    def put_encoded(self, kind: Kind, made: Callable[[int], Stored], *, writer: str) -> Stored:
        """Commit a new object that is prepared and encoded; `made` receives its revision."""
        if self.before_write is not None:
            self.before_write(kind, None, writer, "")
        return self._revisions.put_encoded(made, writer=writer, at=self.clock.now())

    def remove(self, current: Stored, document: Document, *, writer: str) -> Stored:
        """Commit the end of an object whose last state is `document`: for the modules of this room."""
        if self.before_write is not None:
            self.before_write(current.kind, current, writer, "")
        stored = self._revisions.remove(current, document, writer=writer, at=self.clock.now())
        if current.kind.group_kind == DEFINITIONS:
            self.definitions.removed(current.name)
        elif current.kind.custom:
            deleting.finish_definition(self, current.kind, writer)
        return stored

    def unsaved(self, kind: Kind, document: Document) -> Stored:
        """The response of a dry run: the object as it would be, at the current revision."""
        metadata = document["metadata"]
        if not metadata.get("resourceVersion"):
            metadata.pop("resourceVersion", None)
        return Stored(kind, metadata.get("namespace", ""), metadata["name"], self.revision, orjson.dumps(document))

    def _created_by_update(
        self, kind: Kind, document: Document, namespace: str, writer: str, options: UpdateOptions
    ) -> Stored:
        """Some kinds come into being by a PUT, as leases do."""
        metadata = document.get("metadata") or {}
        if metadata.get("uid"):
            why = uid_mismatch(kind, namespace, metadata["name"], metadata["uid"], "")
            raise conflict(kind, metadata["name"], why)
        if metadata.get("resourceVersion"):
            raise not_found(kind, metadata["name"])
        more = CreateOptions(
            options.dry_run, options.field_manager, options.field_validation, owned=True,
            user=options.user, warnings=options.warnings,
        )  # fmt: skip
        return self.create(kind, document, writer=writer, namespace=namespace, options=more)

    def update_from(
        self, kind: Kind, document: Document, current: Stored, writer: str, subresource: str, options: WriteOptions
    ) -> Stored:
        """Replace an object that was read before: for the modules of this room."""
        stored = updating.update(self, kind, document, current, writer=writer, subresource=subresource, options=options)
        return self.versions.read(kind, stored)
