"""Creates objects that differ in a few values from one created before, without preparing them again.

Generators and controllers create thousands of objects that differ in name, labels or an index. The first two of a kind
take the whole way: decoding, defaulting, admission, validation, managedFields, encoding. The second one is cut into a
template: its encoded bytes with a gap for each value that differs. From the third on the values are put into the gaps.

The rule: a template is used where all that a creation reads is equal. That is the document but for the fields that the
strategy of its kind declares (`Strategy.variable_fields`, or `Templates.declare` for a defined kind), the namespace,
the options, and the other objects that admission reads (`Admission.inputs`, which is None where webhooks, policies or
quotas judge each object). A value of such a field is validated alone; where it is not valid the object takes the whole
way, which has the error texts.
"""

import os
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from seatrial.model.documents import Document
from seatrial.model.errors import ConfigError
from seatrial.model.kinds import Kind
from seatrial.model.times import to_time
from seatrial.store.memo import Memo
from seatrial.store.metadata import already_exists
from seatrial.store.object_meta import is_subdomain
from seatrial.store.objects import Facets, Path, Shape, Stored, Varying
from seatrial.store.options import CreateOptions
from seatrial.store.registry.creating import new_name
from seatrial.store.registry.kinds import strategy_of
from seatrial.store.registry.status_writes import STATUS, document_without_status
from seatrial.store.registry.strategy import VariableField, VariableFields
from seatrial.store.uids import LONGEST_BASE

if TYPE_CHECKING:
    from seatrial.store.store import Store

VARIABLE = "SEATRIAL_TEMPLATES"
"""The environment variable that selects for a whole command whether templates are used: `on` (the default) or `off`."""
CHOICES = ("on", "off")
TEMPLATES_KEPT = 4096
SHAPES_KEPT = 1024
TREES_KEPT = 1024
LONGEST_DOCUMENT = 64 * 1024
"""Bytes up to which a template is made; with larger objects the limits of a whole object are near."""
_NAME: Path = ("metadata", "name")
_UID: Path = ("metadata", "uid")
_REVISION: Path = ("metadata", "resourceVersion")
_TIMES: tuple[Path, ...] = (("metadata", "creationTimestamp"), ("metadata", "managedFields", 0, "time"))
_POD, _EVENT = ("", "Pod"), ("", "Event")
SPEC = b'},"spec":'
GATES = b'"schedulingGates"'
Tree = tuple[tuple[str | int, "Tree | None"], ...]
_GAP = re.compile(rb'"\\u0000(\d+)\\u0000"')


class Template(NamedTuple):
    """The bytes of an object with a gap for each of its variable values, by the place of the value."""

    namespace: str
    pattern: bytes
    pick: Callable[[Sequence[bytes]], tuple[bytes, ...]]
    """The values in the order of the gaps."""
    status: bytes | None
    """The encoded status, empty without a status; None if objects have no facets."""
    tail: bytes
    """The bytes after the status."""
    shapes: Memo[tuple[Any, ...], Shape]
    varying: Varying

    def filled(self, values: list[bytes]) -> bytes:
        """The bytes with these values: name, uid, resourceVersion, time, then the fields of the kind."""
        return self.pattern % self.pick(values)

    def facets(self, uid: str, values: tuple[str, ...]) -> Facets | None:
        """Of a new object with these values in all gaps but name, uid and resourceVersion."""
        if self.status is None:
            return None
        shape = self.shapes.get(values)
        if shape is None:
            shape = self.shapes[values] = Shape(self.varying, values)
        return Facets(shape, uid, self.status, "", self.tail)


class Sighting(NamedTuple):
    """A document on its way in: what must be equal for a template, and the values of its variable fields."""

    likes: Hashable
    """What must be equal in the document and the manner of its creation."""
    inputs: tuple[int, ...]
    """What must be equal in the objects that admission reads."""
    fields: tuple[VariableField, ...]

    @property
    def key(self) -> Hashable:
        return self.likes, self.inputs

    def encoded(self) -> list[bytes] | None:
        """The values as JSON; None where one is not valid."""
        encoded = []
        for field in self.fields:
            if not field.is_valid(field.value):
                return None
            encoded.append(orjson.dumps(field.value))
        return encoded


@dataclass(slots=True, eq=False)
class PreparedCreate:
    """A creation that is carried out again and again, each time with another name and other values of its fields.

    As a prepared statement of a database: what is equal in all objects is looked at once.
    """

    kind: Kind
    namespace: str
    options: CreateOptions
    likes: Hashable
    fields: tuple[VariableField, ...]
    """With the values that the first of them has."""
    latest: "tuple[object, tuple[int, ...], Template] | None" = None
    """The template that was used last, and for which admission and inputs."""

    def differs_only_in_values(self, other: "PreparedCreate") -> bool:
        """Whether both create the same objects, given the same name and values."""
        return self.likes == other.likes


def chosen_templates() -> bool:
    """Whether the environment selects templates."""
    choice = os.environ.get(VARIABLE, "").strip() or "on"
    if choice not in CHOICES:
        raise ConfigError("environment", VARIABLE, f"expected {' or '.join(CHOICES)}, got {choice!r}")
    return choice == "on"


class Splice(NamedTuple):
    """How the bytes of pods that are alike change with a write: `new` for `old`, once."""

    old: bytes
    new: bytes
    shape: Shape


class Templates:
    """The templates of one store."""

    def __init__(self, *, enabled: bool | None = None) -> None:
        self.enabled = chosen_templates() if enabled is None else enabled
        self.used = 0
        """How many objects were created from templates."""
        self._kept: Memo[Hashable, Template | None] = Memo(TEMPLATES_KEPT)
        self._relabelled: Memo[tuple[object, ...], Splice | None] = Memo(TEMPLATES_KEPT)
        self.splices: Memo[tuple[object, ...], Splice] = Memo(TEMPLATES_KEPT)
        """Other writes to pods that are alike, by shape and what the write depends on."""
        self._admission: object = None
        self._declared: dict[tuple[str, str], VariableFields] = {}
        """The variable fields of kinds that a definition adds."""

    def declare(self, kind: Kind, fields: VariableFields) -> None:
        """Create objects of a defined kind from templates, too."""
        self._declared[kind.group_kind] = fields

    def _variable_fields(self, kind: Kind) -> VariableFields | None:
        return self._declared.get(kind.group_kind) if kind.custom else strategy_of(kind).variable_fields

    def sighting(
        self, store: "Store", kind: Kind, document: Document, namespace: str, options: CreateOptions
    ) -> Sighting | None:
        """What identifies the template of a document; None where it must take the whole way."""
        variable = self._variable_fields(kind)
        inputs = self._inputs(store, kind, namespace or _namespace(document), options)
        if variable is None or inputs is None:
            return None
        try:
            fields = tuple(variable.of(document))
            if options.field_manager:
                # The owners of fields name the uids of owner references.
                fields = tuple([field for field in fields if field.path[1] != "ownerReferences"])
            paths = tuple([field.path for field in fields])
            rest = orjson.dumps(_without(document, paths))
        except (AttributeError, LookupError, TypeError):
            return None  # a malformed document
        if len(rest) > LONGEST_DOCUMENT or any(word in rest for word in variable.never_with):
            return None
        manner = (options.field_manager, options.field_validation, options.trusted, options.tracked)
        return Sighting((kind.group_kind, namespace, rest, paths, *manner), inputs, fields)

    def _inputs(self, store: "Store", kind: Kind, namespace: str, options: CreateOptions) -> tuple[int, ...] | None:
        """What admission reads for a creation; None where templates do not serve it."""
        if not self.enabled or options.dry_run or options.restored:
            return None
        if kind.group_kind in store.rules.checks or kind.group_kind in store.real_time:
            return None
        if store.versions.storage_kind(kind) is not kind:
            return None
        if self._admission is not store.admission:
            self._admission = store.admission
            self._kept.clear()
        return store.admission.inputs(store, kind, namespace)

    def prepare(
        self, store: "Store", kind: Kind, document: Document, namespace: str, options: CreateOptions
    ) -> PreparedCreate | None:
        """The creation of objects that are like a document with a name; None where templates do not serve them."""
        sighting = self.sighting(store, kind, document, namespace, options)
        variable = self._variable_fields(kind)
        if sighting is None or variable is None or variable.accepts is not None:
            return None
        return PreparedCreate(kind, namespace, options, sighting.likes, sighting.fields)

    def create_prepared(
        self, store: "Store", prepared: PreparedCreate, name: str, values: Sequence[Any], writer: str
    ) -> Stored | None:
        """Create one of the objects; None where it must take the whole way."""
        kind, template = prepared.kind, self._template_of(store, prepared)
        if template is None or not name or not _is_name(kind, name):
            return None
        for field, value in zip(prepared.fields, values, strict=True):
            if not field.is_valid(value):
                return None
        if store.find(kind, name, template.namespace) is not None:
            return None
        return self._put(store, kind, template, name, values, [orjson.dumps(value) for value in values], writer)

    def _template_of(self, store: "Store", prepared: PreparedCreate) -> Template | None:
        inputs = self._inputs(store, prepared.kind, prepared.namespace, prepared.options)
        if inputs is None:
            return None
        latest = prepared.latest
        if latest is not None and latest[0] is self._admission and latest[1] == inputs:
            return latest[2]
        template = self._kept.get((prepared.likes, inputs))
        if template is not None:
            prepared.latest = self._admission, inputs, template
        return template

    def create(self, store: "Store", kind: Kind, document: Document, sighting: Sighting, writer: str) -> Stored | None:
        """Create an object from its template; None if the template is not known yet or a value is not valid."""
        template = self._kept.get(sighting.key)
        if template is None:
            return None
        metadata = document["metadata"]
        name, prefix = metadata.get("name") or "", metadata.get("generateName")
        encoded = sighting.encoded()
        if encoded is None or not (name or prefix) or not _is_name(kind, name or f"{prefix[:LONGEST_BASE]}x"):
            return None
        variable = self._variable_fields(kind)
        if variable is not None and variable.accepts is not None and not variable.accepts(document):
            return None
        namespace = template.namespace
        if not name:
            name = new_name(store, kind, namespace, prefix)
            if (current := store.index(kind).find(namespace, name)) is not None:
                raise already_exists(kind, current)
        elif store.index(kind).find(namespace, name) is not None:
            return None
        return self._put(store, kind, template, name, [field.value for field in sighting.fields], encoded, writer)

    def _put(
        self,
        store: "Store",
        kind: Kind,
        template: Template,
        name: str,
        values: Sequence[Any],
        encoded: list[bytes],
        writer: str,
    ) -> Stored:
        self.used += 1
        namespace = template.namespace
        uid, time = store.identities.uid(kind, namespace, name), to_time(store.clock.now())
        own = [b'"%b"' % name.encode(), b'"%b"' % uid.encode(), b"", b'"%b"' % time.encode(), *encoded]
        facets = template.facets(uid, (time, *values))

        def made(revision: int) -> Stored:
            own[2] = b'"%d"' % revision
            return Stored(kind, namespace, name, revision, template.filled(own), facets, store.views)

        return store.put_encoded(kind, made, writer=writer)

    def relabelling(self, pod: Stored, facets: Facets, labels: Mapping[str, str]) -> Splice | None:
        """How a pod that is bound takes over labels; None where its bytes must be decoded for that."""
        key = (facets.shape, *labels.items())
        if key not in self._relabelled:
            self._relabelled[key] = _relabelling(pod, facets, labels)
        return self._relabelled[key]

    def remember(self, key: tuple[object, ...], splice: Splice) -> None:
        """Keep how a write changes the bytes of pods that are alike."""
        self.splices[key] = splice

    def learn(self, sighting: Sighting, stored: Stored, options: CreateOptions) -> None:
        """Make a template of an object that took the whole way, when it is the second one of its key."""
        key = sighting.key
        self._kept[key] = _template(sighting, stored, options) if key in self._kept else None


def _namespace(document: Document) -> str:
    metadata = document.get("metadata")
    namespace = metadata.get("namespace") if isinstance(metadata, dict) else None
    return namespace if isinstance(namespace, str) else ""


def _is_name(kind: Kind, name: Any) -> bool:
    faults = strategy_of(kind).name_faults
    return isinstance(name, str) and (is_subdomain(name) if faults is None else not faults(name))


def _without(document: Document, paths: tuple[Path, ...]) -> Document:
    """The document with None for the values at these paths; what lies on the way to them is copied."""
    rest: Document = _emptied(document, _tree((_NAME, *paths)))
    return rest


def _emptied(part: Any, tree: Tree) -> Any:
    rest = part.copy()
    for step, below in tree:
        rest[step] = None if below is None else _emptied(rest[step], below)
    return rest


@lru_cache(TREES_KEPT)
def _tree(paths: tuple[Path, ...]) -> Tree:
    """The steps that paths begin with, each with the tree of what follows; None where a path ends."""
    below: dict[str | int, list[Path]] = {}
    for path in paths:
        below.setdefault(path[0], []).append(path[1:])
    return tuple((step, None if () in rest else _tree(tuple(rest))) for step, rest in below.items())


def _template(sighting: Sighting, stored: Stored, options: CreateOptions) -> Template | None:
    """The stored bytes cut at the variable values; None where they are not found as they were given."""
    document = stored.document()
    metadata = document["metadata"]
    given = [(field.path, field.value) for field in sighting.fields]
    if any(_at(document, path) != value for path, value in given):
        return None
    time = metadata["creationTimestamp"]
    values = [metadata["name"], metadata["uid"], metadata["resourceVersion"], time, *(value for _, value in given)]
    times = _TIMES if options.field_manager and not options.tracked else _TIMES[:1]
    cuts = [(_NAME, 0), (_UID, 1), (_REVISION, 2), *((path, 3) for path in times if _at(document, path) == time)]
    cuts += [(path, place) for place, (path, _) in enumerate(given, 4)]
    for path, place in cuts:
        _at(document, path[:-1])[path[-1]] = f"\0{place}\0"
    pieces = _GAP.split(orjson.dumps(document).replace(b"%", b"%%"))
    places = [int(place) for place in pieces[1::2]]
    if len(places) != len(cuts):
        return None  # a text looks like a gap
    varying = Varying((_TIMES[0], *(path for path, _ in given)))
    status, tail = _status(stored, len(pieces[-1].replace(b"%%", b"%")))
    pattern = b"%b".join(pieces[::2])
    template = Template(stored.namespace, pattern, itemgetter(*places), status, tail, Memo(SHAPES_KEPT), varying)
    encoded = [orjson.dumps(value) for value in values]
    # A value that the whole way changed gives other bytes.
    return template if template.filled(encoded) == stored.data else None


def _status(stored: Stored, length: int) -> tuple[bytes | None, bytes]:
    """The encoded status of an object and what follows it, within the last `length` bytes, which are those of all.

    A pod has one, and nothing follows it; an Event is like no other.
    """
    status, data, group_kind = stored.encoded_status, stored.data, stored.kind.group_kind
    if not status:
        return None if group_kind in (_POD, _EVENT) else b"", b"}"
    field = STATUS + status
    head, tail = data[: data.rfind(field)], data[data.rfind(field) + len(field) :]
    is_known = head + field + tail == data and len(field) + len(tail) <= length
    if tail != b"}":
        is_known = is_known and group_kind != _POD and orjson.loads(head + tail) == document_without_status(stored)
    return status if is_known else None, tail


def _relabelling(pod: Stored, facets: Facets, labels: Mapping[str, str]) -> Splice | None:
    """The change of one pod, checked against the bytes of the changed document; None where it is gated."""
    if GATES in pod.data:
        return None
    if not labels:
        return Splice(b"", b"", facets.shape)
    document = pod.document()
    given = document["metadata"].get("labels")
    merged = document["metadata"]["labels"] = {**(given or {}), **labels}
    new = b'"labels":' + orjson.dumps(merged)
    if given is None:
        change = Splice(SPEC, b"," + new + SPEC, Shape())
    else:
        shape = facets.shape if merged == given else Shape()
        change = Splice(b'"labels":' + orjson.dumps(given), new, shape)
    return change if pod.data.replace(change.old, change.new, 1) == orjson.dumps(document) else None


def _at(document: Any, path: Path) -> Any:
    """The value at a path; None if the path is missing."""
    for step in path:
        try:
            document = document[step]
        except (KeyError, IndexError, TypeError):
            return None
    return document
