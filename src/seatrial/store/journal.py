"""The interface of what keeps a store on disk."""

from typing import Protocol

from seatrial.model.errors import StatusError
from seatrial.store.objects import Change


class Journal(Protocol):
    """Makes writes durable."""

    @property
    def failure(self) -> StatusError | None:
        """The error after which nothing can be written; None while there is none."""

    def append(self, change: Change) -> None:
        """Take a change; it is not durable yet."""

    async def committed(self, revision: int) -> None:
        """Return when the write of this revision is on disk."""

    async def written(self) -> None:
        """Return when no write to disk is in progress."""
