"""The timeline of a run: append-only record, both KEP-140 wire shapes, decision annotations."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.timeline.annotations import PREFIX, Annotator
    from seatrial.timeline.columns import DICTIONARY
    from seatrial.timeline.decisions import PASSED
    from seatrial.timeline.explanation import UNRECORDED, Explanation, are_attempts_unrecorded, explain
    from seatrial.timeline.pods import PodHistory, scheduler_of
    from seatrial.timeline.reader import NAME, Attempt, TimelineReader
    from seatrial.timeline.resume import pasts_of_pods
    from seatrial.timeline.timeline import CELLS_ON_THE_WIRE, SNAPSHOT, Level, Timeline

__all__ = [
    "CELLS_ON_THE_WIRE",
    "DICTIONARY",
    "NAME",
    "PASSED",
    "PREFIX",
    "SNAPSHOT",
    "UNRECORDED",
    "Annotator",
    "Attempt",
    "Explanation",
    "Level",
    "PodHistory",
    "Timeline",
    "TimelineReader",
    "are_attempts_unrecorded",
    "explain",
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
            "DICTIONARY": "columns",
            "Explanation": "explanation",
            "Level": "timeline",
            "NAME": "reader",
            "PASSED": "decisions",
            "PREFIX": "annotations",
            "PodHistory": "pods",
            "SNAPSHOT": "timeline",
            "Timeline": "timeline",
            "TimelineReader": "reader",
            "UNRECORDED": "explanation",
            "are_attempts_unrecorded": "explanation",
            "explain": "explanation",
            "pasts_of_pods": "resume",
            "scheduler_of": "pods",
        },
    )
