"""The timeline of a run: append-only record, both KEP-140 wire shapes, decision annotations."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.timeline.annotations import PREFIX, Annotator
    from seatrial.timeline.cells import CellArrays, Cells
    from seatrial.timeline.columns import DICTIONARY
    from seatrial.timeline.decisions import Dictionary
    from seatrial.timeline.pods import PodHistory, scheduler_of
    from seatrial.timeline.reader import NAME, Attempt, TimelineReader
    from seatrial.timeline.resume import pasts_of_pods
    from seatrial.timeline.timeline import CELLS_ON_THE_WIRE, SNAPSHOT, Level, Timeline
    from seatrial.timeline.wire import NOT_IN_TIMELINE, PASSED

__all__ = [
    "CELLS_ON_THE_WIRE",
    "DICTIONARY",
    "NAME",
    "NOT_IN_TIMELINE",
    "PASSED",
    "PREFIX",
    "SNAPSHOT",
    "Annotator",
    "Attempt",
    "CellArrays",
    "Cells",
    "Dictionary",
    "Level",
    "PodHistory",
    "Timeline",
    "TimelineReader",
    "pasts_of_pods",
    "scheduler_of",
]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "Annotator": "annotations",
            "Attempt": "reader",
            "CELLS_ON_THE_WIRE": "timeline",
            "CellArrays": "cells",
            "Cells": "cells",
            "DICTIONARY": "columns",
            "Dictionary": "decisions",
            "Level": "timeline",
            "NAME": "reader",
            "NOT_IN_TIMELINE": "wire",
            "PASSED": "wire",
            "PREFIX": "annotations",
            "PodHistory": "pods",
            "SNAPSHOT": "timeline",
            "Timeline": "timeline",
            "TimelineReader": "reader",
            "pasts_of_pods": "resume",
            "scheduler_of": "pods",
        },
    )
