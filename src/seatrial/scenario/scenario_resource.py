"""Scenarios as API objects: their definition, their admission, and the writing of their status.

A Scenario is kept encoded in pieces: its spec and the pages of its timeline are shared by all revisions, so that
a change of phase costs as little after a thousand steps as in the first one.
"""

import hashlib
from collections.abc import Mapping

import msgspec

from seatrial.model.documents import Document, decode, encode
from seatrial.model.errors import Cause, ConfigError, Invalid
from seatrial.model.kind_declaration import custom_resource_definition, openapi_of
from seatrial.model.kinds import Kind
from seatrial.model.schema import schema_from_openapi
from seatrial.scenario.spec.decoding import SPELLINGS, decode_scenario, respell, undecodable
from seatrial.scenario.spec.descriptions import DESCRIPTIONS
from seatrial.scenario.spec.dialect import FAILED, SUCCEEDED, Dialect, dialect_of
from seatrial.scenario.spec.kind import LAST_REMOVED, MERGED_BY_ID, SCENARIO, Scenario
from seatrial.scenario.spec.operation_ids import KnownOperations, ids_in, number_in
from seatrial.scenario.spec.plan import expand_and_number
from seatrial.scenario.spec.status_schema import status_schema
from seatrial.scenario.status import ScenarioStatus
from seatrial.store import Admission, Request, Store, Stored
from seatrial.store.deferral import large_object
from seatrial.store.printers import Cell, plain
from seatrial.store.registry import Apart

WRITER = "scenario"
ANYTHING: Document = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_OPENING = b',"status":{"scenarioResult":{"simulatorVersion":%s,"timeline":{'
_AFTER_PAGES = b"}},"
_WITHOUT_PAGES = b',"status":'
_COMMA = b","


def _shown(document: Document) -> list[Cell]:
    status = document.get("status") or {}
    step = (status.get("stepStatus") or {}).get("step")
    if isinstance(step, dict):
        step = f"{step.get('major', 0)}.{step.get('minor', 0)}"
    return [status.get("phase", ""), "" if step is None else str(step), status.get("message", "")]


KEYED_BY_ID: Document = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["id"]}
"""How server-side apply merges operations: an applied configuration has got its ids by then, other writes have not."""
COLUMNS = plain("Name Phase Step Message Age", _shown)
"""What `kubectl get scenarios` prints; a path cannot join the major and the minor step."""


def definition() -> Document:
    """The CustomResourceDefinition of Scenarios; the other spellings of the KEP are let in.

    Ids are set by the server, so files may lack them: that patches may merge by id is not published, since
    kubectl apply would then look for ids in a file that has none.
    """
    document = custom_resource_definition(Scenario, DESCRIPTIONS)
    properties = document["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    properties["status"] = status_schema()
    spec = properties["spec"]["properties"]
    _let_in(spec)
    for listing in ("events", "operations"):
        spec[listing] = {key: value for key, value in spec[listing].items() if key not in MERGED_BY_ID}
    return document


def _let_in(spec: Document) -> None:
    """Exempt the other spellings from pruning, so that they can be read."""
    controllers = spec["controllers"]["properties"]
    for other, ours in SPELLINGS["controllers"].items():
        controllers[other] = controllers[ours]
    for listing in ("events", "operations"):
        item = spec[listing]["items"]["properties"]
        for other, ours in SPELLINGS["operation"].items():
            item[other] = item[ours]
        patch = item["patchOperation"]["properties"]
        for other, ours in SPELLINGS["patchOperation"].items():
            patch[other] = patch[ours]


def install(store: Store) -> None:
    """Serve Scenarios from a store."""
    kind = store.kinds.served("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    document = definition()
    name = document["metadata"]["name"]
    stored = store.find(kind, name)
    if stored is None:
        store.create(kind, document, writer="system")
    elif stored.document()["spec"]["versions"] != document["spec"]["versions"]:
        # The data directory is that of an earlier version.
        versions = document["spec"]["versions"]
        store.modify(kind, name, lambda kept: kept["spec"].update(versions=versions), writer="system")
    schema = {**openapi_of(Scenario), "x-kubernetes-patch-strategy": "merge"}
    _let_in(schema["properties"]["spec"]["properties"])
    timeline = {**ANYTHING, "x-kubernetes-list-map-keys": ["id"]}
    result = {**ANYTHING, "properties": {"timeline": timeline}}
    schema["properties"]["status"] = {**ANYTHING, "properties": {"scenarioResult": result}}
    store.definitions.declared[SCENARIO.group_kind] = schema_from_openapi(schema, root=True)
    for listing in ("events", "operations"):
        schema["properties"]["spec"]["properties"][listing] |= KEYED_BY_ID
    keyed = schema_from_openapi(schema, root=True)
    store.keyed_for_apply[SCENARIO.group_kind] = lambda config, live: (settled(config, live), keyed)
    store.definitions.printers[SCENARIO.group_kind] = COLUMNS
    store.status_apart[SCENARIO.group_kind] = apart_from_status
    store.real_time[SCENARIO.group_kind] = store.clock, store.identities
    store.admission = ScenarioAdmission(store.admission)


class ScenarioAdmission:
    """Sets ids and expands generators when a Scenario is written, and guards the finished ones."""

    def __init__(self, inner: Admission) -> None:
        self._inner = inner

    def admit(self, request: Request) -> None:
        self._inner.admit(request)
        if _is_spec_write(request):
            document, old = request.document, request.old
            revision = str((old or {}).get("metadata", {}).get("resourceVersion", "")).encode()
            request.document = large_object("settle", lambda: revision, lambda _: settled(document, old), None)

    def validate(self, request: Request) -> None:
        self._inner.validate(request)
        if not _is_spec_write(request) or request.old is None:
            return
        phase = (request.old.get("status") or {}).get("phase")
        if phase in (SUCCEEDED, FAILED) and request.document.get("spec") != request.old.get("spec"):
            why = f"Forbidden: the scenario has {phase}, nothing can be added: delete it and create it again"
            cause = Cause("spec", why, "FieldValueForbidden")
            text = f'{SCENARIO.resource} "{request.name}" is invalid: spec: {cause.message}'
            raise Invalid(text, group=SCENARIO.group, kind=SCENARIO.kind, name=request.name, causes=[cause])

    def binding_labels(self, store: Store, node: str) -> Mapping[str, str]:
        """The labels that a pod takes over from the node it is bound to."""
        return self._inner.binding_labels(store, node)

    def inputs(self, store: Store, kind: Kind, namespace: str) -> tuple[int, ...] | None:
        """The inputs of the inner steps."""
        return self._inner.inputs(store, kind, namespace)


def _is_spec_write(request: Request) -> bool:
    return (
        request.kind.group_kind == SCENARIO.group_kind
        and request.operation in ("CREATE", "UPDATE")
        and not request.subresource
    )


def settled(document: Document, old: Document | None = None) -> Document:
    """A Scenario with its list complete: our spelling, ids set, generators expanded; `old` is the stored one."""
    document = respell(document)
    known = _known(old) if old is not None else None
    try:
        head, operations = expand_and_number(document, known=known)
    except (ConfigError, msgspec.ValidationError) as error:
        raise _invalid(document, error) from error
    spec = document.get("spec") or {}
    dialect = dialect_of(spec)
    if known is not None and (last := known.last_removed_after({planned.id for planned in operations})):
        annotated = _annotated(document["metadata"], LAST_REMOVED, str(last))
        document, head = {**document, "metadata": annotated}, {**head, "metadata": annotated}
    if not operations and spec.get(dialect.listing) is None:
        return document
    return {**head, "spec": {**head["spec"], dialect.listing: [planned.document() for planned in operations]}}


def _annotated(metadata: Document, name: str, value: str) -> Document:
    return {**metadata, "annotations": {**(metadata.get("annotations") or {}), name: value}}


def _known(old: Document) -> KnownOperations:
    spec = old.get("spec") or {}
    timeline = ((old.get("status") or {}).get("scenarioResult") or {}).get("timeline") or {}
    last_removed = ((old.get("metadata") or {}).get("annotations") or {}).get(LAST_REMOVED, "")
    return KnownOperations(spec.get(dialect_of(spec).listing) or (), ids_in(timeline), number_in(last_removed))


def _invalid(document: Document, error: ConfigError | msgspec.ValidationError) -> Invalid:
    """The error for the client; it has causes, since kubectl prints nothing else."""
    if isinstance(error, msgspec.ValidationError):
        # A piece of the Scenario could not be read; decoding the whole of it locates the piece.
        try:
            decode_scenario(document)
            error = undecodable(str(error))
        except ConfigError as found:
            error = found
    name = str((document.get("metadata") or {}).get("name") or "")
    cause = Cause(error.field or "spec", f"Invalid value: {error.why}")
    text = f'{SCENARIO.kind}.{SCENARIO.group} "{name}" is invalid: {cause.field}: {cause.message}'
    return Invalid(text, group=SCENARIO.group, kind=SCENARIO.kind, name=name, causes=[cause])


class StoredStatus:
    """Writes the status of a run into its Scenario; a Publisher."""

    def __init__(self, store: Store, stored: Stored) -> None:
        self._store = store
        self.name = stored.name
        self._take(stored)

    def _take(self, stored: Stored) -> None:
        parts = _parts_of(stored)
        self._metadata: Document = decode(bytes(parts.metadata))
        self._head = {"apiVersion": parts.apiVersion, "kind": parts.kind}
        self._spec = b',"spec":' + bytes(parts.spec)
        self._seen = stored.revision
        self._pages: list[bytes] = []
        self._opening = b""

    def publish(self, status: ScenarioStatus) -> None:
        """Write the status; nothing where the Scenario is gone."""
        current = self._store.find(SCENARIO, self.name)
        if current is None:
            return
        if current.revision != self._seen:
            self._take(current)
        if self._pages:
            # The page of the last step grows while the scenario is Paused.
            self._pages[-1] = status.pages[len(self._pages) // 2]
        while len(self._pages) < 2 * status.published - 1:
            self._next_page(status)
        tail = encode(status.head())
        if self._pages:
            pieces: tuple[bytes, ...] = (self._spec, self._opening, *self._pages)
            tail = _AFTER_PAGES + tail[1:] + b"}"
        else:
            pieces = (self._spec,)
            tail = _WITHOUT_PAGES + tail + b"}"
        written = self._store.write_pieces(
            current, lambda revision: (self._front(revision), *pieces, tail), writer=WRITER
        )
        self._seen = written.revision

    def mark(self, head: Document) -> None:
        """Set fields of the status of a Scenario that does not run; its result stays."""
        current = self._store.find(SCENARIO, self.name)
        if current is None:
            return
        parts = _parts_of(current)
        kept = msgspec.json.decode(parts.status, type=dict[str, msgspec.Raw])
        fields = kept | {key: msgspec.Raw(encode(value)) for key, value in head.items()}
        tail = _WITHOUT_PAGES + msgspec.json.encode(fields) + b"}"
        written = self._store.write_pieces(
            current, lambda revision: (self._front(revision) + self._spec + tail,), writer=WRITER
        )
        self._seen = written.revision

    def _next_page(self, status: ScenarioStatus) -> None:
        if not self._opening:
            self._opening = _OPENING % encode(status.version)
        number = (len(self._pages) + 1) // 2
        if self._pages:
            self._pages.append(_COMMA)
        self._pages.append(status.pages[number])

    def _front(self, revision: int) -> bytes:
        return encode({**self._head, "metadata": {**self._metadata, "resourceVersion": str(revision)}})[:-1]


def status_of(stored: Stored) -> Document:
    """The status of a Scenario; its result is not decoded where it is kept in pieces."""
    content = stored.pieces
    if isinstance(content, bytes):
        status: Document = msgspec.json.decode(content, type=_WithStatus).status
        return status
    # The last piece is what `StoredStatus` wrote there: the status without its result.
    tail = content[-1]
    if tail.startswith(_AFTER_PAGES):
        tail = b"{" + tail.removeprefix(_AFTER_PAGES)
    parsed: Document = decode(tail.removeprefix(_WITHOUT_PAGES)[:-1])
    return parsed


class _WithStatus(msgspec.Struct):
    status: dict[str, object] = {}


class _Parts(msgspec.Struct):
    """The parts of a Scenario, of which the large ones are not decoded."""

    apiVersion: str
    kind: str
    metadata: msgspec.Raw
    spec: msgspec.Raw = msgspec.Raw(b"{}")
    status: msgspec.Raw = msgspec.Raw(b"{}")


def _parts_of(stored: Stored) -> _Parts:
    parts = msgspec.json.decode(stored.data, type=_Parts)
    empty = msgspec.Raw(b"{}")
    if bytes(parts.spec) == b"null":
        parts.spec = empty
    if bytes(parts.status) == b"null":
        parts.status = empty
    return parts


def apart_from_status(stored: Stored) -> Apart:
    """A Scenario as it is edited; of the result of its run only the ids of the entries are decoded."""
    parts = _parts_of(stored)
    lasting = encode({**decode(bytes(parts.metadata)), "resourceVersion": ""})
    key = hashlib.blake2b(bytes(parts.spec), digest_size=16).digest() + lasting

    def read() -> Document:
        document: Document = {"kind": parts.kind, "apiVersion": parts.apiVersion}
        document |= {"metadata": decode(bytes(parts.metadata)), "spec": decode(bytes(parts.spec))}
        if (status := msgspec.json.decode(parts.status, type=dict[str, msgspec.Raw])) != {}:
            result = status.pop("scenarioResult", None)
            document["status"] = {name: decode(bytes(value)) for name, value in status.items()}
            if result is not None:
                document["status"]["scenarioResult"] = _ids_of(result)
        return document

    status = bytes(parts.status)
    return Apart(key, read, b"" if status == b"{}" else status)


class _Identified(msgspec.Struct):
    id: object = None


class _Result(msgspec.Struct):
    timeline: dict[str, list[_Identified]] = {}


def _ids_of(result: msgspec.Raw) -> Document:
    """A result with the ids of its timeline alone."""
    timeline = msgspec.json.decode(result, type=_Result).timeline
    return {"timeline": {step: [{"id": entry.id} for entry in entries] for step, entries in timeline.items()}}


def metadata_in(stored: Stored) -> Document:
    """The metadata of a Scenario, whose other parts are not decoded."""
    metadata: Document = decode(bytes(_parts_of(stored).metadata))
    return metadata


def dialect_in(stored: Stored) -> Dialect:
    """The spelling of a Scenario, whose lists are not decoded."""
    return dialect_of(msgspec.json.decode(_parts_of(stored).spec, type=dict[str, msgspec.Raw]))
