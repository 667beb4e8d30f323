"""Rules as rows: a field, when its value is looked at, and what it must pass.

`rules` reads rows in their order, which is the order of upstream's causes. A rule between two fields is a function
among the rows: it is given the document and its path, as every check is given a value and its path.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import duplicate, invalid, required, too_long, too_many, unsupported
from seatrial.store.object_meta import IMMUTABLE, Faults

Check = Callable[[Any, str], Iterable[Cause]]
Step = tuple[Any, str, str, tuple[str, ...], int, tuple[Check, ...]]
_GIVEN, _SET, _ALWAYS, _NEED, _NEED_SET = range(5)


class Row(NamedTuple):
    """One rule; the dotted name leads to the value, through structs that count as empty where they are missing."""

    name: str
    when: int
    checks: tuple[Check, ...]
    text: str = ""
    zero: Any = ""


def need(path: str, *checks: Check, text: str = "") -> Row:
    """A value that must not be empty."""
    return Row(path, _NEED, checks, text)


def need_set(path: str, *checks: Check, text: str = "") -> Row:
    """A value that must not be null."""
    return Row(path, _NEED_SET, checks, text)


def given(path: str, *checks: Check) -> Row:
    """A value that is checked unless it is empty."""
    return Row(path, _GIVEN, checks)


def present(path: str, *checks: Check) -> Row:
    """A value that is checked unless it is null, as Go's pointers are."""
    return Row(path, _SET, checks)


def always(path: str, *checks: Check, zero: Any = "") -> Row:
    """A value that is checked even if it is missing, which means `zero`."""
    return Row(path, _ALWAYS, checks, zero=zero)


def each(path: str, *checks: Check, unique: str | None = None) -> Row:
    """A list whose items are checked."""
    return given(path, items(*checks, unique=unique))


def rules(*rows: Row | Check) -> Check:
    """The check of a document by rows and by functions of the document and its path."""
    steps: list[Step] = [_step(row) if isinstance(row, Row) else (row, "", "", (), _GIVEN, ()) for row in rows]
    # Most objects have few of the optional fields: rows for none of them are not read at all.
    optional = frozenset(step[1] if step[4] in (_GIVEN, _SET) else "" for step in steps)
    optional = frozenset() if "" in optional else optional

    def check(document: Document, path: str) -> list[Cause]:
        found: list[Cause] = []
        if optional and optional.isdisjoint(document):
            return found
        get = document.get
        for row, key, name, deeper, when, checks in steps:
            if not key:
                found += row(document, path)
                continue
            value: Any = get(key)
            if deeper:
                for inner in deeper:
                    value = value.get(inner) if value else None
            if not value:
                if when == _GIVEN or (value is None and when == _SET):
                    continue
                if when == _NEED or (value is None and when == _NEED_SET):
                    found.append(required(f"{path}.{name}" if path else name, row.text))
                    continue
                if value is None:
                    value = row.zero
            for test in checks:
                if causes := test(value, f"{path}.{name}" if path else name):
                    found += causes
        return found

    return check


def _step(row: Row) -> Step:
    first, *deeper = row.name.split(".")
    return row, first, row.name, tuple(deeper), row.when, row.checks


def items(*checks: Check, unique: str | None = None) -> Check:
    """Every item passes the checks; with `unique`, no two have the same value of that key ("": the item itself)."""

    def check(given: list[Any], path: str) -> list[Cause]:
        found: list[Cause] = []
        seen: list[Any] = []
        for index, item in enumerate(given):
            where = f"{path}[{index}]"
            for test in checks:
                found += test(item, where)
            if unique is not None:
                value = item.get(unique, "") if unique else item
                if value in seen:
                    found.append(duplicate(f"{where}.{unique}" if unique else where, value))
                seen.append(value)
        return found

    return check


def among(*allowed: str) -> Check:
    """One of these values."""

    def check(value: Any, path: str) -> Iterable[Cause]:
        return () if value in allowed else (unsupported(path, value, allowed),)

    return check


def valid(faults: Callable[[str], Faults]) -> Check:
    """A text in which `faults` finds nothing."""

    def check(value: str, path: str) -> Iterable[Cause]:
        found = faults(value)
        return [invalid(path, value, fault) for fault in found] if found else ()

    return check


def ranged(low: float, high: float, text: str) -> Check:
    """A number in a range, both ends included; `text` is the refusal."""
    return lambda value, path: () if low <= value <= high else (invalid(path, value, text),)


def capped(most: int, *checks: Check, unique: str = "") -> Check:
    """A list of at most so many items, each of which is checked; with `unique`, they differ by that key."""
    each_item = items(*checks)

    def check(given: list[Any], path: str) -> Iterator[Cause]:
        if len(given) > most:
            yield too_many(path, len(given), most)
            return
        yield from each_item(given, path)
        names = [item.get(unique, "") for item in given] if unique else ()
        for index, name in enumerate(names):
            if name in names[:index]:
                yield duplicate(f"{path}[{index}]", name)

    return check


def filled(value: Any, path: str) -> Iterable[Cause]:
    """A value that is not empty."""
    return () if value else (required(path),)


def longest(most: int) -> Check:
    """A text of at most this number of bytes."""
    return lambda value, path: (too_long(path, most),) if len(value.encode()) > most else ()


def at_most(most: int) -> Check:
    """A list or map of at most this number of entries."""
    return lambda value, path: (too_many(path, len(value), most),) if len(value) > most else ()


def unchanged(new: Document, old: Document, *keys: str, path: str = "spec", zero: Any = None) -> Iterator[Cause]:
    """Fields that keep their values."""
    for key in keys:
        if new.get(key) != old.get(key):
            yield invalid(f"{path}.{key}" if path else key, new.get(key, zero), IMMUTABLE)


def of_spec(check: Check) -> Callable[[Document], Iterable[Cause]]:
    """The check of the spec of an object."""
    return lambda document: check(document.get("spec") or {}, "spec")
