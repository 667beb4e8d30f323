"""The compiled part of Seatrial's scheduler; see kernel/src."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__version__: str
INTERFACE: int

Ints = NDArray[np.int64]
Ids = NDArray[np.int32]
DomainCheck = tuple[Ids, Ints, int, int, bool]
ByRow = tuple[Ints, str, int]
ByDomain = tuple[Sequence[tuple[Ids, Ints, int]], str, int]
Rule = tuple[Ids, Ints, str, int, tuple[NDArray[np.uint8], int] | None]
Totals = tuple[bytes, bytes, int]
Cycle = tuple[bytes | None, int, tuple[Totals, bool] | None]
Parallel = tuple[Ints, int]

class ShapeRows:
    order: Any
    def __init__(
        self,
        order: Ints,
        blocked: NDArray[np.uint8],
        local: Ints,
        blocking: Sequence[Ids],
        adding: Sequence[tuple[Ints, int]],
    ) -> None: ...
    def add_fit(
        self, codes: Ids, offered: Ints, used: Ints, wanted: Sequence[tuple[Ints, Ints, int, bool]]
    ) -> None: ...
    def add_score(self, score: tuple[Ints, str, Sequence[int], Sequence[tuple[Ints, Ints, int, int]]]) -> None: ...
    def update(self, entries: Sequence[int]) -> bool: ...
    def change(self, row: int, passes: bool) -> None: ...
    def find(self, start: int, limit: int, checks: Sequence[DomainCheck]) -> tuple[bytes, int]: ...
    def totals(
        self,
        rows: Ints,
        settled: int,
        by_row: Sequence[ByRow],
        by_domain: Sequence[ByDomain],
        parallel: Sequence[Parallel],
    ) -> Totals | None: ...
    def plan(
        self, rules: Sequence[Rule], settled: int, by_row: Sequence[ByRow], by_domain: Sequence[ByDomain]
    ) -> None: ...
    def schedule(self, entries: Sequence[int], start: int, limit: int) -> Cycle | None: ...
