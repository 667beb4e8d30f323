"""Views: the one way to read an object.

A reader declares once, as a msgspec Struct, the fields that it reads, and where useful a function that makes its row of
them:

    NODE = View(NodeFields)
    POD = View(PodFields, row_of)
    POD_STATUS = StatusView(PodStatus)

`POD.read(stored)` gives the row. Rows are shared between callers, so they are never changed.

Thousands of objects come from one template and differ in a few values. The store knows which, so a view is decoded
once for each template: of another object of the template the values that the view shows are filled in. Objects that
are equal but for the *own* fields (name, uid, resourceVersion, status and a pod's spec.nodeName) have the same
`Stored.shape`, and share the row. A view may show own fields, too; these are then filled in at each read, and the row
is made each time. A busy reader rather takes them from `Stored` (`name`, `uid`, `node_name`) and from a `StatusView`,
which decodes each different status once. An object that is known by its bytes alone is decoded once for each revision.

What is kept of all that is in the `Views` of the store and in its templates. It ends with the store and is bounded, and
`SEATRIAL_TEMPLATES=off` switches off what objects share. A view, which is a constant of its module, keeps nothing.
"""

from collections.abc import Callable, Mapping
from types import UnionType
from typing import Any, Final, Generic, TypeVar, TypeVarTuple, Union, cast, get_args, get_origin, overload
from weakref import ReferenceType, ref

import msgspec

from seatrial.model.documents import decode, encode
from seatrial.store.memo import Memo
from seatrial.store.objects import Path, Stored, Varying

T = TypeVar("T")
R = TypeVar("R")
P = TypeVarTuple("P")
ROWS_KEPT = 1024
OWN_KEPT = 256
RESULTS_KEPT = 256
MISSING: Final = object()
ABSENT: Final = object()
_POD = ("", "Pod")
NODE_NAME: Path = ("spec", "nodeName")
_STATUS: Path = ("status",)
_FIELDS_TRACKED: Path = ("metadata", "managedFields")
_OWN: tuple[Path, ...] = (
    ("metadata", "name"),
    ("metadata", "uid"),
    ("metadata", "resourceVersion"),
    NODE_NAME,
    _STATUS,
)
Tree = dict[str | int, Any]
"""Values to fill in, by the steps of their paths."""


class Views(dict["ReferenceType[View[Any]]", Memo[Any, Any]]):
    """What is kept of the views of one store's objects, by view."""

    __slots__ = ("own", "results")

    def __init__(self) -> None:
        super().__init__()
        self.own: Memo[int, Any] = Memo(OWN_KEPT)
        """By revision: the own fields of objects that are known by their bytes alone."""
        self.results: dict[Callable[..., Any], Memo[Any, Any]] = {}

    def add(self, view: "View[Any]") -> Memo[Any, Any]:
        """Begin to keep what is read through a view; views whose owner is gone are dropped."""
        for gone in [other for other in self if other() is None]:
            del self[gone]
        kept: Memo[Any, Any] = Memo(view.kept)
        self[view.reference] = kept
        return kept

    def once(self, function: Callable[[*P], R], *arguments: *P) -> R:
        """The result of a pure function of encoded parts of objects, which many objects have in common."""
        known = self.results.get(function)
        if known is None:
            known = self.results[function] = Memo(RESULTS_KEPT)
        found = known.get(arguments, MISSING)
        if found is MISSING:
            found = known[arguments] = function(*arguments)
        return cast(R, found)


class View(Generic[R]):
    """The fields that a reader needs of an object, and the row that it makes of them."""

    @overload
    def __init__(self: "View[T]", type: type[T], *, without: tuple[Path, ...] = (), kept: int = ROWS_KEPT) -> None: ...
    @overload
    def __init__(
        self, type: type[T], row: Callable[[T], R], *, without: tuple[Path, ...] = (), kept: int = ROWS_KEPT
    ) -> None: ...

    def __init__(
        self,
        type: Any,
        row: Callable[[Any], Any] | None = None,
        *,
        without: tuple[Path, ...] = (),
        kept: int = ROWS_KEPT,
    ) -> None:
        """`without`: fields that `row` does not use, though a field without a declared form contains them."""
        self.kept = kept
        self.reference = ref(self)
        self._decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(type)
        self._row = row
        shown = {path for path in (*_OWN, _FIELDS_TRACKED) if path not in without and _is_shown(type, path)}
        self._is_shared = _FIELDS_TRACKED not in shown
        self._own = tuple(path for path in _OWN if path in shown) if self._is_shared else ()
        self._status = StatusView(_type_of_status(type), kept=kept) if _STATUS in self._own else None

    def read(self, stored: Stored) -> R:
        """The row of an object."""
        views, facets = stored.views, stored.facets
        if views is None:
            return self._made(self._decoder.decode(stored.data))
        rows = views.get(self.reference)
        if rows is None:
            rows = views.add(self)
        if facets is None or not self._is_shared:
            found = rows.get(stored.revision, MISSING)
            if found is MISSING:
                found = rows[stored.revision] = self._made(self._decoder.decode(stored.data))
            return cast(R, found)
        found = rows.get(facets.shape, MISSING)
        if found is MISSING:
            found = rows[facets.shape] = self._of_shape(stored)
        return cast(R, found) if not self._own else self._made(self._with_own(found, stored))

    def _made(self, seen: Any) -> R:
        return cast(R, seen if self._row is None else self._row(seen))

    def _of_shape(self, stored: Stored) -> Any:
        """What objects of the same shape share: the row, or where the view shows own fields what was decoded."""
        facets = stored.facets
        assert facets is not None
        template, finished = facets.shape.template, not self._own
        like = template.likes.get(self.reference) if template is not None else None
        if like is None:
            seen = self._decoder.decode(stored.data)
            result = self._made(seen) if finished else seen
            if template is not None:
                template.likes[self.reference] = _Like(seen, result, template, facets.shape.values)
            return result
        if not like.shown:
            return like.result
        if like.shown is UNKNOWN:
            seen = self._decoder.decode(stored.data)
        else:
            values = facets.shape.values
            seen = filled(like.seen, _tree({path: values[place] for path, place in like.shown.items()}))
        return self._made(seen) if finished else seen

    def _with_own(self, seen: Any, stored: Stored) -> Any:
        """What was decoded of one object, with the own fields of another of its shape."""
        facets = stored.facets
        assert facets is not None
        values: dict[Path, Any] = {}
        for path in self._own:
            if path == _STATUS:
                assert self._status is not None
                values[path] = self._status.read(stored) if facets.status else ABSENT
            elif path == NODE_NAME:
                if stored.kind.group_kind == _POD:
                    values[path] = facets.node or ABSENT
            else:
                values[path] = {"name": stored.name, "uid": facets.uid}.get(str(path[1]), str(stored.revision))
        return filled(seen, _tree(values))


class StatusView(View[R]):
    """The fields that a reader needs of a status; each different status is decoded once."""

    @overload
    def __init__(self: "StatusView[T]", type: type[T], *, kept: int = ROWS_KEPT) -> None: ...
    @overload
    def __init__(self, type: type[T], row: Callable[[T], R], *, kept: int = ROWS_KEPT) -> None: ...

    def __init__(self, type: Any, row: Callable[[Any], Any] | None = None, *, kept: int = ROWS_KEPT) -> None:
        super().__init__(type, cast(Any, row), without=_OWN, kept=kept)

    def read(self, stored: Stored) -> R:
        views, facets = stored.views, stored.facets
        if views is None:
            return self.decode(stored.encoded_status)
        rows = views.get(self.reference)
        if rows is None:
            rows = views.add(self)
        key: bytes | int = stored.revision if facets is None else facets.status
        found = rows.get(key, MISSING)
        if found is MISSING:
            found = rows[key] = self.decode(stored.encoded_status)
        return cast(R, found)

    def decode(self, encoded: bytes) -> R:
        """The row of an encoded status; an empty one is that of an object without status."""
        return self._made(self._decoder.decode(encoded or b"{}"))


UNKNOWN: Final[Mapping[Path, int]] = {(): 0}
"""Where a view makes something else of a value, so that another one cannot be filled in."""


class _Like:
    """What a view reads of one object of a template, to read the others from."""

    __slots__ = ("result", "seen", "shown")

    def __init__(self, seen: Any, result: Any, template: Varying, values: tuple[Any, ...]) -> None:
        self.seen = seen
        self.shown: Mapping[Path, int] = {}
        """The values in which objects of the template differ and which the view shows, by their place."""
        shown = {path: place for place, path in enumerate(template.paths) if at(seen, path) is not MISSING}
        if shown:
            is_plain = all(at(seen, path) == values[place] for path, place in shown.items())
            self.shown = shown if is_plain else UNKNOWN
        self.result = result if not shown else None


def at(part: Any, path: Path) -> Any:
    """The value at a path of what a view decoded; MISSING where the view does not show it."""
    for number, step in enumerate(path):
        if isinstance(part, msgspec.Raw):
            part = decode(bytes(part))
        if isinstance(part, msgspec.Struct):
            part = getattr(part, _attribute(part, step), MISSING)
        elif isinstance(part, dict):
            part = part.get(step, MISSING)
        elif isinstance(part, list | tuple) and isinstance(step, int) and step < len(part):
            part = part[step]
        else:
            return MISSING
        if part is MISSING or (part is None and number + 1 < len(path)):
            return MISSING
    return decode(bytes(part)) if isinstance(part, msgspec.Raw) and part else part


def filled(part: Any, tree: Tree) -> Any:
    """A copy with these values, ABSENT for none; what lies on the way to them is copied."""
    if isinstance(part, msgspec.Raw):
        return msgspec.Raw(encode(filled(decode(bytes(part)), tree)))
    if isinstance(part, msgspec.Struct):
        changes: dict[str, Any] = {}
        for step, below in tree.items():
            name = _attribute(part, step)
            changes[name] = _field(part, name, below)
        return msgspec.structs.replace(part, **changes)
    copied: Any = part.copy() if isinstance(part, dict) else list(part)
    for step, below in tree.items():
        if below is ABSENT:
            copied.pop(step, None)
        else:
            copied[step] = filled(copied[step], below) if isinstance(below, dict) else below
    return tuple(copied) if isinstance(part, tuple) else copied


def _field(part: msgspec.Struct, name: str, below: Any) -> Any:
    if below is ABSENT:
        field = next(field for field in msgspec.structs.fields(part) if field.name == name)
        return field.default if field.default is not msgspec.NODEFAULT else field.default_factory()
    present = getattr(part, name)
    if isinstance(below, dict):
        return filled(present, below)
    is_encoded = isinstance(present, msgspec.Raw) and not isinstance(below, msgspec.Raw)
    return msgspec.Raw(encode(below)) if is_encoded else below


def _tree(values: Mapping[Path, Any]) -> Tree:
    tree: Tree = {}
    for path, value in values.items():
        below = tree
        for step in path[:-1]:
            below = below.setdefault(step, {})
        below[path[-1]] = value
    return tree


def _attribute(part: msgspec.Struct, step: str | int) -> str:
    """The attribute that a field of a document is read into; empty where it is not read."""
    names = part.__struct_encode_fields__
    return part.__struct_fields__[names.index(str(step))] if step in names else ""


def _forms(type: Any) -> tuple[Any, ...]:
    """The types of a union; the type itself if it is no union."""
    return get_args(type) if get_origin(type) in (Union, UnionType) else (type,)


def _is_shown(type: Any, path: Path) -> bool:
    """Whether a type shows the value at a path, as a field or within one that has no declared form."""
    if not path:
        return True
    for form in _forms(type):
        if isinstance(form, _StructType):
            for field in msgspec.structs.fields(form):
                if field.encode_name == path[0]:
                    return _is_shown(field.type, path[1:])
        elif form in (Any, object, msgspec.Raw, dict) or get_origin(form) is dict:
            return True
    return False


_StructType = type(msgspec.Struct)


def _type_of_status(type: Any) -> Any:
    """The type of the status in an object of a type."""
    for form in _forms(type):
        if isinstance(form, _StructType):
            for field in msgspec.structs.fields(form):
                if field.encode_name == "status":
                    return field.type
    return Any
