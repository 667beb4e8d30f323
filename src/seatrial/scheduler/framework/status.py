"""What a plugin says: a Status about one thing, Verdicts about all nodes at once.

A verdict is a value, never an exception: an exception means our bug or a broken object. Over many nodes only small
integers are kept; the texts are made when they are read.

Upstream: staging/src/k8s.io/kube-scheduler/framework/interface.go (Status, Code).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class Code(IntEnum):
    """How a plugin answered; the names on the wire are upstream's."""

    SUCCESS = 0
    ERROR = 1
    UNSCHEDULABLE = 2
    UNRESOLVABLE = 3
    WAIT = 4
    SKIP = 5
    PENDING = 6

    @property
    def text(self) -> str:
        return _CODE_TEXTS[self]


_SUCCESS = Code.SUCCESS
_REJECTIONS = (Code.UNSCHEDULABLE, Code.UNRESOLVABLE, Code.PENDING)
_CODE_TEXTS = ("Success", "Error", "Unschedulable", "UnschedulableAndUnresolvable", "Wait", "Skip", "Pending")


@dataclass(frozen=True, slots=True)
class Status:
    """A plugin's answer with its reasons; `plugin` is filled in by the framework."""

    code: Code = Code.SUCCESS
    reasons: tuple[str, ...] = ()
    plugin: str = ""

    @property
    def message(self) -> str:
        return ", ".join(self.reasons)

    @property
    def is_success(self) -> bool:
        return self.code == _SUCCESS

    @property
    def is_rejected(self) -> bool:
        return self.code in _REJECTIONS

    def by(self, plugin: str) -> "Status":
        """The same answer, signed by the plugin that gave it, unless it is signed already."""
        return self if self.plugin else replace(self, plugin=plugin)


SUCCESS = Status()
SKIP = Status(Code.SKIP)


def unschedulable(*reasons: str) -> Status:
    """A rejection that preemption may resolve."""
    return Status(Code.UNSCHEDULABLE, reasons)


def unresolvable(*reasons: str) -> Status:
    """A rejection that removing pods would not change."""
    return Status(Code.UNRESOLVABLE, reasons)


def error(*reasons: str) -> Status:
    """A failure of the plugin itself: it ends the cycle."""
    return Status(Code.ERROR, reasons)


class Sized(Protocol):
    """Anything with a number of nodes."""

    def __len__(self) -> int: ...


Meaning = Callable[[int], Status]


class NumberedStatuses:
    """Distinct statuses, numbered from 1 on: codes for verdicts that have none of their own."""

    def __init__(self) -> None:
        self._numbers: dict[Status, int] = {}
        self._statuses: list[Status] = []

    def number(self, status: Status) -> int:
        """The number of a status; a new one gets the next."""
        number = self._numbers.setdefault(status, len(self._numbers) + 1)
        if number > len(self._statuses):
            self._statuses.append(status)
        return number

    def meaning(self, number: int) -> Status:
        """The status that has a number."""
        return self._statuses[number - 1]


@dataclass(frozen=True, slots=True)
class Verdicts:
    """One filter's answer for all nodes of a table: 0 passes, any other code is explained by `meaning`."""

    codes: NDArray[np.int32]
    meaning: Meaning = field(compare=False)
    """Depends on the pod's shape alone where the plugin's columns are cached."""
    has_errors: bool = False
    """Whether some status may be an Error."""

    @classmethod
    def all_pass(cls, nodes: Sized) -> "Verdicts":
        """Every node passes."""
        return cls(np.zeros(len(nodes), np.int32), _pass)

    @classmethod
    def reject(cls, mask: NDArray[np.bool_], *reasons: str, resolvable: bool = True) -> "Verdicts":
        """The nodes in `mask` are rejected for one constant reason."""
        status = unschedulable(*reasons) if resolvable else unresolvable(*reasons)
        return cls(np.asarray(mask).astype(np.int32), lambda _: status)

    @classmethod
    def first_of(cls, checks: Iterable[tuple[NDArray[np.bool_], Status]], nodes: Sized) -> "Verdicts":
        """Several checks in order; a node keeps the status of the first one whose mask has it."""
        codes = np.zeros(len(nodes), np.int32)
        statuses: list[Status] = []
        for mask, status in checks:
            statuses.append(status)
            codes[np.asarray(mask) & (codes == 0)] = len(statuses)
        return cls(codes, lambda code: statuses[code - 1])

    @classmethod
    def of(cls, statuses: Iterable[Status]) -> "Verdicts":
        """One status per node, as a plugin that judges nodes one by one gives them."""
        listed = list(statuses)
        codes = np.fromiter((0 if s.is_success else i + 1 for i, s in enumerate(listed)), np.int32, len(listed))
        return cls(codes, lambda code: listed[code - 1], any(s.code == Code.ERROR for s in listed))

    @classmethod
    def failed(cls, nodes: Sized, *reasons: str) -> "Verdicts":
        """The plugin itself failed, whatever the node."""
        status = error(*reasons)
        return cls(np.ones(len(nodes), np.int32), lambda _: status, True)

    @property
    def passed(self) -> NDArray[np.bool_]:
        mask: NDArray[np.bool_] = self.codes == 0
        return mask

    def status(self, position: int) -> Status:
        """What was said about one node."""
        code = int(self.codes[position])
        return self.meaning(code) if code else SUCCESS


def _pass(_: int) -> Status:
    return SUCCESS


class Sentinel:
    """A marker that is only ever compared by identity."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


MISSING: Any = Sentinel("MISSING")
"""The state handed to a plugin whose PreFilter (or PreScore) is not enabled in the profile."""
