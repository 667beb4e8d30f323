"""`seatrial what-if` beside the real thing: kubectl drain, kube-controller-manager, kube-scheduler, kube-apiserver.

All shapes live in one real cluster with simulated kubelets, are dumped, and are drained, upgraded or lost at the same
time. `seatrial what-if` is asked about the dump: the same pods go, stay and come, with the same words.
"""

import json
from pathlib import Path

import pytest

from tests.outside.conftest import built
from tests.outside.what_if.outcome import Outcome, answered_outcome, real_outcome
from tests.outside.what_if.real_side import real_side
from tests.outside.what_if.shapes import ALL, Document, Shape

PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Outcome]]:
    """Dumps of the real cluster before the questions and after them: two minutes of real time."""
    built(*PROGRAMS)
    folder = tmp_path_factory.mktemp("real")
    with real_side(folder) as side:
        side.fill(ALL)
        before = items(side.dump(folder / "before.json"))
        done = side.play(ALL)
        after = items(side.dump(folder / "after.json"))
    outcomes = {shape.name: real_outcome(shape, done[shape.name], before, after) for shape in ALL}
    assert sum(len(outcome.gone) for outcome in outcomes.values()) > 30, "the real cluster did something"
    return folder, outcomes


def items(path: Path) -> list[Document]:
    listed: list[Document] = json.loads(path.read_bytes())["items"]
    return listed


@pytest.mark.parametrize("shape", [pytest.param(shape, id=shape.name) for shape in ALL])
def test_the_answer_is_what_the_real_programs_do(shape: Shape, played: tuple[Path, dict[str, Outcome]]) -> None:
    folder, outcomes = played
    before = folder / "before.json"
    assert answered_outcome(shape, before, folder / "out" / shape.name, items(before)) == outcomes[shape.name]
