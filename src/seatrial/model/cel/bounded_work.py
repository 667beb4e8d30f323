"""Bounds work whose size a user decides, where it would hold up others.

Inside `within` such work is charged to an allowance: expressions in CEL by their cost, regular expressions by what a
match can take at most. TooMuchWork is raised when the allowance is spent; the caller may do the work elsewhere.
Outside (a run on the command line) nothing is charged.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token

from seatrial.model.errors import ServerTimeout

SHORT = 50_000
"""What may be spent on the thread that serves all requests, in units of CEL: some hundredths of a second."""
FREE = 500
"""What one evaluation may cost without being charged: many cheap ones are work of the cluster's size."""


class TooMuchWork(ServerTimeout):
    """The allowance is spent; nothing has been written."""

    def __init__(self) -> None:
        super().__init__("expressions or patterns that users have written take more work than is allowed here")


class Allowance:
    """What may still be spent."""

    __slots__ = ("left",)

    def __init__(self, left: int = SHORT) -> None:
        self.left = left

    def charge(self, cost: int) -> None:
        """Spend; TooMuchWork where that much is not left."""
        if cost > FREE:
            self.left -= cost - FREE
            if self.left < 0:
                raise TooMuchWork


_allowance: ContextVar[Allowance | None] = ContextVar("allowance", default=None)


def allowance() -> Allowance | None:
    """The allowance of this place; None where work is not bounded."""
    return _allowance.get()


@contextmanager
def within(given: Allowance) -> Iterator[None]:
    """Inside, work is charged to an allowance."""
    token = charge_to(given)
    try:
        yield
    finally:
        charge_before(token)


def charge_to(given: Allowance) -> Token[Allowance | None]:
    """Charge work to an allowance from now on; returns what `charge_before` takes."""
    return _allowance.set(given)


def charge_before(token: Token[Allowance | None]) -> None:
    """Charge work to the allowance that there was before."""
    _allowance.reset(token)


def charge(cost: int) -> None:
    """Charge work before it is done, where work is bounded."""
    given = _allowance.get()
    if given is not None:
        given.charge(cost)
