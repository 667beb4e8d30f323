"""What `seatrial run --check` says: errors that would end the scenario Failed, and what is probably not meant."""

from collections.abc import Iterator, Sequence

import msgspec

from seatrial.model.documents import Document
from seatrial.model.errors import ScenarioError
from seatrial.scenario.kind import RUN_DURATION, STEP_DURATION, Operation
from seatrial.scenario.operations import is_done
from seatrial.scenario.plan import Planned
from seatrial.scenario.play import Play, step_duration
from seatrial.scenario.profile import Profile
from seatrial.scenario.registry import REGISTRY
from seatrial.scenario.validation import problems

TIMED_FIELDS = {
    RUN_DURATION: "the run time of pods",
    "tolerationSeconds": "tolerationSeconds",
    "activeDeadlineSeconds": "activeDeadlineSeconds",
    "ttlSecondsAfterFinished": "ttlSecondsAfterFinished",
    "durationMilliseconds": "the delay of a Stage",
}


def lint(document: Document, profile: Profile, operations: Sequence[Planned]) -> tuple[list[str], list[str]]:
    """Errors and warnings of a scenario."""
    errors = [str(problem) for problem in problems(document, profile, operations, REGISTRY.names())]
    try:
        duration = step_duration(document)
    except ScenarioError as error:
        return [*errors, str(error)], []
    return errors, [*_warnings(operations), *([] if duration else _unused(operations))]


def _warnings(operations: Sequence[Planned]) -> Iterator[str]:
    last: int | None = None
    for planned in operations:
        operation = msgspec.json.decode(planned.data, type=Operation)
        if operation.done_operation is not None:
            if is_done(operation):
                last = planned.step if last is None else min(last, planned.step)
            else:
                yield f"operation {planned.id}: done: false is recorded and has no effect"
        patch = operation.patch_operation
        if patch is not None and '"status"' in patch.patch and not patch.subresource:
            yield f"operation {planned.id}: .status in a patch is ignored without subresource: status"
    if last is None:
        yield "there is no Done: the scenario will end Paused"
        return
    for planned in operations:
        if planned.step > last:
            yield f"operation {planned.id}: step {planned.step} comes after Done in step {last}, it never runs"


def _unused(operations: Sequence[Planned]) -> Iterator[str]:
    """Outer timers never fire in a scenario whose steps take no time."""
    for field, said in TIMED_FIELDS.items():
        found = [planned.id for planned in operations if f'"{field}"'.encode() in planned.data]
        if found:
            yield (
                f"{said} (operation {found[0]}{' and others' if len(found) > 1 else ''}) has no effect: "
                f"steps take no time without the annotation {STEP_DURATION}"
            )


def unused_timers(play: Play) -> Iterator[str]:
    """One warning for a scenario that asks for time to pass though its steps take none."""
    if play.engine is not None and not play.engine.settings.step_duration and not play.options.drain:
        yield from list(_unused(play.listed))[:1]
