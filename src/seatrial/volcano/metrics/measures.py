"""The metrics of a running session. Inner rooms have no clock: the caller passes one."""

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from seatrial.volcano.cache.job_info import JobInfo

_NOTHING: AbstractContextManager[None] = nullcontext()


class Measures(Protocol):
    """Takes in counts and durations by the names of upstream's metrics, without their prefix."""

    def timed(self, name: str, *labels: str) -> AbstractContextManager[None]:
        """Observes how long the block takes."""

    def inc(self, name: str, *labels: str) -> None: ...

    def set(self, name: str, value: float, *labels: str) -> None: ...

    def placed(self, job: JobInfo) -> None:
        """A task of the job was allocated or pipelined."""

    def reached(self, stage: str, created: int) -> None:
        """A task whose pod was created then has come to a stage."""


class NoMeasures:
    """Takes no notice."""

    def timed(self, name: str, *labels: str) -> AbstractContextManager[None]:
        return _NOTHING

    def inc(self, name: str, *labels: str) -> None:
        pass

    def set(self, name: str, value: float, *labels: str) -> None:
        pass

    def placed(self, job: JobInfo) -> None:
        pass

    def reached(self, stage: str, created: int) -> None:
        pass
