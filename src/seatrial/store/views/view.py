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

from collections.abc import Callable
from types import UnionType
from typing import Any, Generic, TypeVar, TypeVarTuple, Union, cast, get_args, get_origin, overload
from weakref import ReferenceType, ref

import msgspec

from seatrial.store.memo import Memo
from seatrial.store.objects import Facets, Path, Stored, Varying
from seatrial.store.views.filling import ABSENT, MISSING, Fill, at, filler

T = TypeVar("T")
R = TypeVar("R")
P = TypeVarTuple("P")
ROWS_KEPT = 1024
OWN_KEPT = 256
RESULTS_KEPT = 256
_POD = ("", "Pod")
NODE_NAME: Path = ("spec", "nodeName")
_STATUS: Path = ("status",)
FIELDS_TRACKED: Path = ("metadata", "managedFields")
_NAME: Path = ("metadata", "name")
_UID: Path = ("metadata", "uid")
OWN: tuple[Path, ...] = (_NAME, _UID, ("metadata", "resourceVersion"), NODE_NAME, _STATUS)


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
        try:
            found: R = self.results[function][arguments]
        except KeyError:
            known = self.results.setdefault(function, Memo(RESULTS_KEPT))
            found = known[arguments] = function(*arguments)
        return found


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
        shown = {path for path in (*OWN, FIELDS_TRACKED) if path not in without and _is_shown(type, path)}
        self._is_shared = FIELDS_TRACKED not in shown
        self._own = tuple(path for path in OWN if path in shown) if self._is_shared else ()
        self._own_of_others = tuple(path for path in self._own if path != NODE_NAME)
        """The own fields of objects other than pods."""
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
            found: R = rows.get(stored.revision, MISSING)
            if found is MISSING:
                found = rows[stored.revision] = self._made(self._decoder.decode(stored.data))
            return found
        shared: R = rows.get(facets.shape, MISSING)
        if shared is MISSING:
            shared = self._of_shape(stored, facets, rows)
        if not self._own:
            return shared
        both: Any = shared
        seen, fill = both
        return self._made(fill(seen, self._own_values(stored, facets)))

    def _made(self, seen: Any) -> R:
        row: R = seen if self._row is None else self._row(seen)
        return row

    def _of_shape(self, stored: Stored, facets: Facets, rows: Memo[Any, Any]) -> Any:
        """What objects of the same shape share.

        That is the row, or where the view shows own fields what was decoded and how to fill these in. It is kept unless
        all objects of the template have it.
        """
        shape = facets.shape
        template = shape.template
        like = template.likes.get(self.reference) if template is not None else None
        if like is None:
            seen = self._decoder.decode(stored.data)
            result = (seen, self._own_filler(stored, seen)) if self._own else self._made(seen)
            if template is not None:
                template.likes[self.reference] = _Like(seen, result, shape.values)
        elif not like.differs_from(template):
            return like.result
        else:
            seen = self._decoder.decode(stored.data) if like.fill is None else like.fill(like.seen, shape.values)
            result = (seen, like.result[1]) if self._own else self._made(seen)
        rows[shape] = result
        return result

    def _own_filler(self, stored: Stored, seen: Any) -> Fill:
        paths = self._own if stored.kind.group_kind == _POD else self._own_of_others
        return filler(seen, {path: place for place, path in enumerate(paths)})

    def _own_values(self, stored: Stored, facets: Facets) -> list[Any]:
        """The own fields of an object, ABSENT where it has none."""
        values: list[Any] = []
        for path in self._own if stored.kind.group_kind == _POD else self._own_of_others:
            if path is _STATUS:
                assert self._status is not None
                values.append(self._status.read(stored) if facets.status else ABSENT)
            elif path is NODE_NAME:
                values.append(facets.node or ABSENT)
            elif path is _NAME:
                values.append(stored.name)
            else:
                values.append(facets.uid if path is _UID else str(stored.revision))
        return values


class StatusView(View[R]):
    """The fields that a reader needs of a status; each different status is decoded once."""

    @overload
    def __init__(self: "StatusView[T]", type: type[T], *, kept: int = ROWS_KEPT) -> None: ...
    @overload
    def __init__(self, type: type[T], row: Callable[[T], R], *, kept: int = ROWS_KEPT) -> None: ...

    def __init__(self, type: Any, row: Callable[[Any], Any] | None = None, *, kept: int = ROWS_KEPT) -> None:
        super().__init__(type, cast(Any, row), without=OWN, kept=kept)

    def read(self, stored: Stored) -> R:
        views, facets = stored.views, stored.facets
        if views is None:
            return self.decode(stored.encoded_status)
        rows = views.get(self.reference)
        if rows is None:
            rows = views.add(self)
        key: bytes | int = stored.revision if facets is None else facets.status
        found: R = rows.get(key, MISSING)
        if found is MISSING:
            found = rows[key] = self.decode(stored.encoded_status)
        return found

    def decode(self, encoded: bytes) -> R:
        """The row of an encoded status; an empty one is that of an object without status."""
        return self._made(self._decoder.decode(encoded or b"{}"))


class _Like:
    """What a view reads of one object of a template, to read the others from."""

    __slots__ = ("_differs", "_values", "fill", "result", "seen")

    def __init__(self, seen: Any, result: Any, values: tuple[Any, ...]) -> None:
        self.seen, self.result, self._values = seen, result, values
        self._differs: bool | None = None
        self.fill: Fill | None = None
        """Fills the values in which objects differ; None if the view makes something else of one."""

    def differs_from(self, template: Varying | None) -> bool:
        """Whether the view shows values in which objects of the template differ.

        This is worked out when the second object is read: many templates are those of a single one.
        """
        if self._differs is None:
            paths = template.paths if template is not None else ()
            shown = {path: place for place, path in enumerate(paths) if at(self.seen, path) is not MISSING}
            self._differs = bool(shown)
            is_plain = all(at(self.seen, path) == self._values[place] for path, place in shown.items())
            self.fill = filler(self.seen, shown, is_only=True) if shown and is_plain else None
        return self._differs


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
