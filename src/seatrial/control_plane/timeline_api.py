"""GET …/scenarios/NAME/timeline: the whole timeline of a Scenario as `timeline.parquet`.

`kubectl get --raw` and `seatrial explain|results|report --server` ask for it. The status of a Scenario holds a part.
"""

import asyncio
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from seatrial.model.errors import NotFound
from seatrial.scenario.spec.kind import SCENARIO
from seatrial.server.extension_points import Route
from seatrial.server.messages import Answer, Request
from seatrial.timeline import NAME
from seatrial.timeline.rows import write_table

if TYPE_CHECKING:
    from seatrial.scenario import ScenarioController
    from seatrial.timeline import TimelineReader

ROOT = f"/apis/{SCENARIO.api_version}/{SCENARIO.plural}/"
SUBRESOURCE = "/timeline"
PARQUET = "application/vnd.apache.parquet"


class TimelineApi:
    """Offers the timelines that a scenario controller keeps; `server.Routes`."""

    def __init__(self, controller: "ScenarioController") -> None:
        self._controller = controller

    def find(self, method: str, path: str) -> Route | None:
        """The route of a timeline."""
        if method != "GET" or not path.startswith(ROOT) or not path.endswith(SUBRESOURCE):
            return None
        name = path.removeprefix(ROOT).removesuffix(SUBRESOURCE)
        return Route(self._answer) if name and "/" not in name else None

    async def _answer(self, request: Request) -> Answer:
        name = request.path.removeprefix(ROOT).removesuffix(SUBRESOURCE)
        kept = self._controller.timeline_of(name)
        if kept is None:
            why = f'Scenario "{name}" has no timeline: it has not begun, or ran on an earlier version'
            raise NotFound(why, group=SCENARIO.group, kind=SCENARIO.plural, name=name)
        return Answer(await asyncio.to_thread(_file_of, kept), content_type=PARQUET, newline=False)


def _file_of(kept: "TimelineReader") -> bytes:
    with tempfile.TemporaryDirectory(prefix="seatrial-timeline-") as folder:
        target = Path(folder) / NAME
        write_table(kept.table, kept.dictionary, target)
        return target.read_bytes()
