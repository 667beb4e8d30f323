"""The timeline of a run: append-only record, both KEP-140 wire shapes, decision annotations."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.timeline.annotations import PREFIX, Annotator
    from seatrial.timeline.cells import Cells
    from seatrial.timeline.columns import COLUMNS
    from seatrial.timeline.decisions import Dictionary
    from seatrial.timeline.pods import PodHistory, scheduler_of
    from seatrial.timeline.reader import NAME, Attempt, TimelineReader
    from seatrial.timeline.resume import pasts_of_pods
    from seatrial.timeline.timeline import CELLS_ON_THE_WIRE, SNAPSHOT, Level, Timeline
    from seatrial.timeline.wire import NOT_IN_TIMELINE, PASSED
else:
    __getattr__, __dir__ = lazy_exports(__name__)
