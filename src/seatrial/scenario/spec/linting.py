"""The findings of `seatrial run --check`: errors that would end the scenario Failed, and likely mistakes."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from seatrial.model.documents import Document
from seatrial.model.errors import ScenarioError
from seatrial.scenario.dry_run import Finding, rehearse
from seatrial.scenario.engine.controller_registry import CLUSTER_AUTOSCALER, REGISTRY, enabled_names
from seatrial.scenario.engine.operations import is_done
from seatrial.scenario.scenario_run import step_duration
from seatrial.scenario.spec.annotations import unknown_on_scenario
from seatrial.scenario.spec.dialect import Dialect
from seatrial.scenario.spec.generators import expand
from seatrial.scenario.spec.kind import STEP_DURATION, Controllers, Generator, Operation
from seatrial.scenario.spec.operation_ids import Planned
from seatrial.scenario.spec.timers import idle_cron_jobs, unused_timers
from seatrial.scenario.spec.validation import problems


def lint(
    document: Document, dialect: Dialect, operations: Sequence[Planned], snapshot: Sequence[Document] = ()
) -> list[Finding]:
    """The errors and likely mistakes in a scenario."""
    found = [
        Finding("error", problem.why, problem.operation)
        for problem in problems(document, dialect, operations, REGISTRY.names())
    ]
    annotations = (document.get("metadata") or {}).get("annotations") or {}
    found += [Finding("warning", text, field="metadata.annotations") for text in unknown_on_scenario(annotations)]
    wrong = {finding.operation for finding in found}
    watched = {name: controller.watches for name, controller in REGISTRY.own.items()}
    volcano = REGISTRY.uses_volcano(Controllers.of(document), dialect)
    found += rehearse(
        operations,
        snapshot,
        wrong,
        own_controllers=bool(watched),
        volcano=volcano,
        node_groups=CLUSTER_AUTOSCALER in enabled_names(Controllers.of(document)),
        watched=watched,
    )
    try:
        duration = step_duration(document)
    except ScenarioError as error:
        return [*found, Finding("error", str(error), field=f"metadata.annotations[{STEP_DURATION}]")]
    return [*found, *_warnings(operations), *map(_warning, _untimely(document, operations, duration))]


def places(document: Document, dialect: Dialect, folder: Path) -> Iterator[str]:
    """The origin of each operation, in the order of the settled list: an index of the list, or a generator."""
    spec = document.get("spec") or {}
    for position, _ in enumerate(spec.get(dialect.listing) or []):
        yield f"spec.{dialect.listing}[{position}]"
    for position, generator in enumerate(spec.get("generators") or []):
        field = f"spec.generators[{position}]"
        made = expand(msgspec.convert(generator, Generator), field, folder, discriminated=not dialect.minor_steps)
        for _ in made:
            yield field


def _warning(message: str, operation: str = "") -> Finding:
    return Finding("warning", message, operation)


def _warnings(operations: Sequence[Planned]) -> Iterator[Finding]:
    last: int | None = None
    for planned in operations:
        operation = msgspec.json.decode(planned.data, type=Operation)
        if operation.done_operation is not None:
            if is_done(operation):
                last = planned.step if last is None else min(last, planned.step)
            else:
                yield _warning("done: false is recorded and has no effect", planned.id)
        patch = operation.patch_operation
        if patch is not None and '"status"' in patch.patch and not patch.subresource:
            yield _warning(".status in a patch is ignored without subresource: status", planned.id)
    if last is None:
        yield _warning("there is no Done: the scenario will end Paused")
        return
    for planned in operations:
        if planned.step > last:
            yield _warning(f"step {planned.step} comes after Done in step {last}, it never runs", planned.id)


def _untimely(document: Document, operations: Sequence[Planned], duration: int) -> Iterator[str]:
    yield from idle_cron_jobs(operations, enabled_names(Controllers.of(document)), duration)
    if not duration:
        yield from unused_timers(operations)
