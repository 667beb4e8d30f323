"""The HTTP API of kube-scheduler-simulator under /api/v1, so that its users can move: export, import,
listwatchresources, and, where their owners are handed in, schedulerconfiguration and reset.

Shapes and status codes are those of kube-scheduler-simulator (simulator/server/handler, simulator/snapshot,
simulator/resourcewatcher). An export has two keys more: all other objects, and when it was made. With
`dryRun=All`, POST /schedulerconfiguration changes nothing and answers with the expanded configuration.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec

from seatrial.model.documents import Document, encode
from seatrial.model.errors import BadRequest, ConfigError, Gone, NotFound, StorageFailed
from seatrial.model.kinds import Kind
from seatrial.model.times import parse_time, to_time
from seatrial.server.extension_points import RouteTable
from seatrial.server.handlers.list import parse_revision
from seatrial.server.handlers.request_bodies import check_json, from_json, read_json
from seatrial.server.messages import Answer, Request, Stream, json_answer
from seatrial.store import Change, Store, Stored
from seatrial.store.deferral import long_turn
from seatrial.store.snapshots import OBJECTS, clean, exported, has_absent_owner, objects_of, prepare, settle
from seatrial.words import counted

IGNORED_NAMESPACES = ("default",)


@dataclass(frozen=True, slots=True)
class Section:
    """One kind in an export: its key there, its name in events, and the parameter of its last resourceVersion."""

    key: str
    api_version: str
    kind: str
    plural: str
    parameter: str


SECTIONS = (
    Section("pods", "v1", "Pod", "pods", "podsLastResourceVersion"),
    Section("nodes", "v1", "Node", "nodes", "nodesLastResourceVersion"),
    Section("pvs", "v1", "PersistentVolume", "persistentvolumes", "pvsLastResourceVersion"),
    Section("pvcs", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", "pvcsLastResourceVersion"),
    Section("storageClasses", "storage.k8s.io/v1", "StorageClass", "storageclasses", "scsLastResourceVersion"),
    Section("priorityClasses", "scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", "pcsLastResourceVersion"),
    Section("namespaces", "v1", "Namespace", "namespaces", "namespaceLastResourceVersion"),
)
LOADED_AT_ONCE = 50
"""Objects of an import that are taken in before others get their turn."""
EXPORTED_AT = "exportedAt"


class SchedulerService(Protocol):
    """The owner of the scheduler: returns its configuration and restarts it with another one."""

    def configuration(self) -> Document:
        """The KubeSchedulerConfiguration in force."""

    def expanded(self, configuration: Document) -> Document:
        """The configuration with the plugins of every extension point spelled out; refused as by `restart`."""

    def restart(self, configuration: Document) -> None:
        """Restart with these profiles and extenders; a StatusError or ConfigError refuses them."""


class SimulatorApi:
    """The routes of kube-scheduler-simulator."""

    def __init__(
        self,
        store: Store,
        scheduler: SchedulerService | None = None,
        reset: Callable[[], None] | None = None,
        held: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """`held` stops the controllers: none may see a cluster that is not there as a whole."""
        self._store = store
        self._scheduler = scheduler
        self._reset = reset
        self._held = held
        self._streams: set[_Stream] = set()
        self.routes = RouteTable()
        self.routes.add("GET", "/api/v1/export", self._export)
        self.routes.add("POST", "/api/v1/import", self._import)
        self.routes.add("GET", "/api/v1/listwatchresources", self._list_and_watch)
        self.routes.add("GET", "/api/v1/schedulerconfiguration", self._get_configuration)
        self.routes.add("POST", "/api/v1/schedulerconfiguration", self._set_configuration)
        self.routes.add("PUT", "/api/v1/reset", self._reset_all)

    def close(self) -> None:
        """End all streams: the server stops."""
        for stream in tuple(self._streams):
            stream.close()

    async def _export(self, request: Request) -> Answer:
        sections = {
            section.key: [stored for stored in self._store.list(self._kind(section)) if _is_exported(stored)]
            for section in SECTIONS
        }
        # kube-scheduler-simulator does not export the others; without them workloads would make them again.
        named = {(section.api_version, section.kind) for section in SECTIONS}
        others = [each for each in exported(self._store) if (each.kind.api_version, each.kind.kind) not in named]
        more = {
            "schedulerConfig": self._scheduler.configuration() if self._scheduler is not None else None,
            EXPORTED_AT: to_time(self._store.clock.now()),
        }
        loop = asyncio.get_running_loop()
        return Answer(await loop.run_in_executor(None, _encoded_export, sections, others, more))

    async def _import(self, request: Request) -> Answer:
        check_json(request)

        def read() -> tuple[list[Document], Any]:
            body = _read_export(request.body)
            found = prepare(self._store, _imported(body), _exported_at(body))
            return found, body.get("schedulerConfig") if isinstance(body, dict) else None

        documents, configuration = await asyncio.get_running_loop().run_in_executor(None, read)
        if configuration is not None and self._scheduler is not None:
            self._scheduler.restart(configuration)
        settled = await self._load(documents, request.user.writer)
        orphans = sum(stored.kind.kind == "Pod" and has_absent_owner(stored) for stored in settled)
        if orphans:
            have, they_stay = ("has", "it stays as it is") if orphans == 1 else ("have", "they stay as they are")
            warning = f"{counted(orphans, 'pod')} {have} owners that are not in the import; {they_stay}"
            request.warnings.append(warning)
        return Answer(b"")

    async def _load(self, documents: list[Document], writer: str) -> Sequence[Stored]:
        """Load the objects while no controller runs; where one is refused those before it stay at rest, too."""
        loaded: list[Stored] = []
        settled: Sequence[Stored] = ()
        with self._held():
            try:
                for start in range(0, len(documents), LOADED_AT_ONCE):
                    with long_turn():
                        for document in documents[start : start + LOADED_AT_ONCE]:
                            loaded += self._store.load([document], writer=writer)
                    await asyncio.sleep(0)
            finally:
                with long_turn():
                    settled = settle(self._store, loaded, writer)
        return settled

    async def _list_and_watch(self, request: Request) -> Stream:
        stream = _Stream(self._store, {section: self._kind(section) for section in SECTIONS}, self._streams)
        return Stream(stream.chunks(stream.beginning(request)), close=stream.close)

    async def _get_configuration(self, request: Request) -> Answer:
        return json_answer(self._running_scheduler().configuration())

    async def _set_configuration(self, request: Request) -> Answer:
        body = read_json(request)
        if not isinstance(body, dict):
            raise BadRequest("expected a KubeSchedulerConfiguration")
        if request.query.get("dryRun"):
            return json_answer(self._running_scheduler().expanded(body))
        self._running_scheduler().restart(body)
        return Answer(b"", 202)

    async def _reset_all(self, request: Request) -> Answer:
        if self._reset is None:
            raise NotFound("this server cannot be reset")
        with long_turn():
            self._reset()
        return Answer(b"", 202)

    def _running_scheduler(self) -> SchedulerService:
        if self._scheduler is None:
            raise NotFound("this server runs no scheduler of its own")
        return self._scheduler

    def _kind(self, section: Section) -> Kind:
        kind = self._store.kinds.named(section.api_version, section.kind)
        if kind is None:
            raise NotFound(f"{section.plural} are not served")
        return kind


@dataclass(eq=False, slots=True)
class _Stream:
    """One client of listwatchresources: what is there as ADDED, then what changes."""

    store: Store
    kinds: dict[Section, Kind]
    open: "set[_Stream]"
    revision: int = 0
    closed: bool = False
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def beginning(self, request: Request) -> "list[tuple[Section, str, Stored]]":
        """The events to start with: of each kind all objects, or the changes since the revision that is given."""
        self.revision = self.store.revision
        events: list[tuple[Section, str, Stored]] = []
        for section, kind in self.kinds.items():
            text = request.query.get(section.parameter, "")
            if text:
                changes = self.store.changes(parse_revision(text), kind)
                events += [(section, change.type, change.stored) for change in changes]
            else:
                events += [(section, "ADDED", stored) for stored in self.store.list(kind)]
        return events

    async def chunks(self, beginning: "list[tuple[Section, str, Stored]]") -> AsyncIterator[bytes]:
        """The events, some at a time."""
        sections = {kind.group_kind: section for section, kind in self.kinds.items()}
        stop = self.store.subscribe(self._notice, self.kinds.values())
        self.open.add(self)
        try:
            for start in range(0, len(beginning), 100):
                yield b"".join(_event(*each) for each in beginning[start : start + 100])
                await asyncio.sleep(0)
            while not self.closed:
                await self.news.wait()
                self.news.clear()
                changes = [c for c in self.store.changes(self.revision) if c.stored.kind.group_kind in sections]
                self.revision = self.store.revision
                await self.store.committed(self.revision)
                yield b"".join(_event(sections[c.stored.kind.group_kind], c.type, c.stored) for c in changes)
        except (Gone, StorageFailed):
            return
        finally:
            stop()
            self.open.discard(self)

    def close(self) -> None:
        self.closed = True
        self.news.set()

    def _notice(self, change: Change) -> None:
        self.news.set()


def _encoded_export(sections: dict[str, list[Stored]], others: list[Stored], more: Document) -> bytes:
    """An export; what is stored encoded is not decoded for it."""
    parts = [b"%s:[%s]" % (encode(key), b",".join(each.data for each in found)) for key, found in sections.items()]
    parts.append(encode({"schedulerConfig": more["schedulerConfig"]})[1:-1])
    cleaned = b",".join(encode(document) for document in clean(stored.document() for stored in others))
    parts.append(b"%s:[%s]" % (encode(OBJECTS), cleaned))
    parts.append(encode({EXPORTED_AT: more[EXPORTED_AT]})[1:-1])
    return b"{%s}" % b",".join(parts)


def _read_export(body: bytes) -> Any:
    """The JSON of an import; its lists are decoded piece by piece, so that other threads can work in between."""
    try:
        parts = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    except msgspec.MsgspecError:
        return from_json(body)
    return {key: _read_list(bytes(value)) for key, value in parts.items()}


def _read_list(data: bytes) -> Any:
    if not data.startswith(b"["):
        return from_json(data)
    return [from_json(bytes(item)) for item in msgspec.json.decode(data, type=list[msgspec.Raw])]


def _imported(body: Any) -> list[Document]:
    """The objects of an export, a list or a snapshot; system priority classes are every server's own."""
    if isinstance(body, dict) and body.keys() <= {"schedulerConfig", EXPORTED_AT}:
        return []
    try:
        found = list(objects_of(body, "import"))
    except ConfigError as error:
        raise BadRequest(str(error)) from error
    return [each for each in found if each["kind"] != "PriorityClass" or not _is_system(each["metadata"]["name"])]


def _is_system(name: str) -> bool:
    return name.startswith("system-")


def _exported_at(body: Document) -> int | None:
    """When the export was made, where it says so."""
    try:
        return parse_time(str(body.get(EXPORTED_AT, "")))
    except ValueError:
        return None


def _event(section: Section, type: str, stored: Stored) -> bytes:
    kind, event = encode(section.plural), encode(type)
    return b'{"Kind":%s,"EventType":%s,"Obj":%s}\n' % (kind, event, stored.data)


def _is_exported(stored: Stored) -> bool:
    """System priority classes and the namespaces that every cluster has are left out, as the original does."""
    if stored.kind.kind == "PriorityClass":
        return not _is_system(stored.name)
    if stored.kind.kind == "Namespace":
        return stored.name not in IGNORED_NAMESPACES and not stored.name.startswith("kube-")
    return True
