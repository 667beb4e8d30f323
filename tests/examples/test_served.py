"""A scenario that is created on a server gives what `seatrial run` gives; kubectl does the same in `tests/outside`."""

from pathlib import Path

import pytest

from tests.examples.playing import Example, assert_equal, examples
from tests.examples.serving import play
from tests.outside.processes import Serve
from tests.proofs import proves

SMALL = ("autoscaler", "nodeset", "custom-plugin.scheduler", "first-steps", "first-steps-events", "job-durations")
"""Own controllers, own plugins with a configuration, both spellings, and timers that are drained."""


@proves("V1-001")
@pytest.mark.parametrize("example", [e for e in examples() if e.name in SMALL], ids=lambda example: example.name)
def test_a_served_example_gives_what_a_run_gives(example: Example, tmp_path: Path) -> None:
    with Serve(tmp_path / "state", "--insecure", *example.flags) as server:
        served = play(server.url, example.text().encode(), example.folder.name)
    assert_equal(served, example.run(tmp_path / "out"))
