"""One HTML file that opens offline: the built page with its data inside, compressed."""

import base64
import gzip
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from seatrial.model.documents import encode_arrays
from seatrial.results import Run, Which
from seatrial.scenario.output_files import write_whole
from seatrial.web.payload import CELLS, payload

MARK = "SEATRIAL_DATA"
COMPRESSION = 3
"""The page has most repetitions once: level 6 takes twice the time for a tenth less."""


def report_page(run: Run) -> str:
    """The report of a run."""
    page = {"kind": "report", "runs": [payload(run)], "measures": [], "differences": [], "spread": [], "verdict": []}
    return _filled(page)


def compare_page(
    runs: list[Run],
    moved: Sequence[Which],
    measures: list[Any],
    differences: list[Any],
    spread: list[Any],
    verdict: Sequence[str] = (),
    switched_off: dict[str, Any] | None = None,
) -> str:
    """Runs side by side, with the attempts that placed the pods that `moved`; `verdict` has a sentence a run.

    `switched_off` has the nodes that could be switched off, by run and pool.
    """
    page = {
        "kind": "compare",
        "runs": [payload(run, moved, CELLS // len(runs)) for run in runs],
        "measures": measures,
        "differences": differences,
        "spread": spread,
        "verdict": list(verdict),
        "switchedOff": switched_off or {},
    }
    return _filled(page)


def write_page(text: str, path: Path) -> None:
    """Put a page in place in whole or not at all."""
    write_whole(path, [text.encode()])


def _filled(page: dict[str, Any]) -> str:
    template = (resources.files("seatrial.web") / "page" / "index.html").read_text()
    # mtime 0: the same run gives the same bytes.
    data = base64.b64encode(gzip.compress(encode_arrays(page), COMPRESSION, mtime=0)).decode()
    before, after = template.split(MARK, 1)
    return before + data + after
