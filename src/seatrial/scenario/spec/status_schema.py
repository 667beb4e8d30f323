"""The schema of a Scenario's status, for the CustomResourceDefinition and `kubectl explain`.

The engine writes the status encoded and piece by piece (`scenario.status`, `timeline.wire`); these Structs only declare
its fields. Objects of any kind and the results of plugins, which may be many, are not described field by field: every
write of the Scenario would have to walk through them.
"""

from typing import Annotated, Any

from msgspec import Meta

from seatrial.model.documents import Document
from seatrial.model.kind_declaration import Part, openapi_of
from seatrial.scenario.spec.dialect import (
    EVENTS,
    FAILED,
    OPERATIONS,
    PAUSED,
    PENDING,
    RUNNING,
    SCHEDULING,
    STOPPED,
    SUCCEEDED,
    UNKNOWN,
    WILL_RUN,
    WILL_STOP,
)

PHASES = [PENDING, RUNNING, PAUSED, SUCCEEDED, FAILED, UNKNOWN]
STEP_PHASES = list(dict.fromkeys([*EVENTS.phases.values(), *OPERATIONS.phases.values()]))
SCHEDULER_STATUSES = [WILL_RUN, SCHEDULING, WILL_STOP, STOPPED, UNKNOWN]
ENTRY_OPERATIONS = ["Create", "Patch", "Delete", "Done", "PodScheduled", "PodUnscheduled", "PodPreempted"]
STEP = "A number for spec.events, {major, minor} for spec.operations."


def _described(text: str, *values: str) -> Meta:
    """A description, with the values that the field may have."""
    return Meta(description=text, extra_json_schema={"enum": list(values)} if values else None)


Step = Annotated[Any, Meta(description=STEP)]


class PluginResults(Part):
    """The answers of the plugins for each node that was visited."""

    filter: Annotated[
        dict[str, Any] | None, _described('By node and plugin: "passed", or the reason why the node was rejected.')
    ] = None
    score: Annotated[
        dict[str, Any] | None,
        _described("By node and plugin: rawScore, normalizedScore, and finalScore, which is normalizedScore × weight."),
    ] = None


class ScheduleResult(Part):
    """One scheduling attempt."""

    step: Annotated[Step, _described(f"The step of the attempt. {STEP}")]
    attempts: Annotated[
        int | None, _described("How many attempts up to this step the item counts; entries of their steps list them.")
    ] = None
    all_candidate_nodes: Annotated[list[str] | None, _described("The nodes that Filter was called for.")] = None
    all_filtered_nodes: Annotated[list[str] | None, _described("The nodes that passed Filter.")] = None
    plugin_results: PluginResults | None = None


class PodResult(Part):
    """What happened to a Pod up to this entry."""

    pod: Annotated[dict[str, Any], _described("The Pod as it was stored.")]
    bound_to: Annotated[str | None, _described("The node that the Pod is bound to; null while it has none.")] = None
    preempted_by: Annotated[
        str | None, _described("namespace/name of the Pod that it was preempted for; null if it was not.")
    ] = None
    created_at: Annotated[Step, _described(f"The step in which the Pod was created. {STEP}")] = None
    bound_at: Annotated[Step, _described(f"The step in which the Pod was bound; null if it was not. {STEP}")] = None
    preempted_at: Annotated[Step, _described(f"The step of the preemption; null without one. {STEP}")] = None
    schedule_result: Annotated[
        list[ScheduleResult] | None,
        _described("All attempts to schedule the Pod; empty for schedulers that do not use the scheduling framework."),
    ] = None


class OperationResult(Part):
    """An operation that was carried out."""

    operation: Annotated[dict[str, Any], _described("The operation, as spec.events or spec.operations would have it.")]
    result: Annotated[dict[str, Any] | None, _described("The object afterwards; absent for delete and done.")] = None


class TimelineEntry(Part):
    """Something that happened; exactly one of create, patch, delete, done and the pod… fields is set."""

    id: Annotated[str, _described("The id of the operation in spec, or a new one.")]
    step: Annotated[Step, _described(f"The step in which it happened. {STEP}")]
    operation: Annotated[
        str | None, _described("Which of the fields is set; only for spec.events.", *ENTRY_OPERATIONS)
    ] = None
    create: OperationResult | None = None
    patch: OperationResult | None = None
    delete: OperationResult | None = None
    done: OperationResult | None = None
    pod_scheduled: Annotated[PodResult | None, _described("The scheduler bound the Pod to a node.")] = None
    pod_unscheduled: Annotated[
        PodResult | None, _described("The scheduler tried the Pod in this step and found no node for it.")
    ] = None
    pod_preempted: Annotated[PodResult | None, _described("The scheduler deleted the Pod in favour of another.")] = None


class ScenarioResult(Part):
    """The result so far. It is updated when a step has finished, unless UPDATE_SCENARIO_RESULTS_STRATEGY delays it."""

    simulator_version: Annotated[str | None, _described("The version of the simulator that ran the Scenario.")] = None
    timeline: Annotated[
        dict[str, list[TimelineEntry]] | None,
        _described("Everything that happened, by step (the major step for spec.operations), in order."),
    ] = None


class StepStatus(Part):
    """Where the simulation is."""

    step: Annotated[
        Step,
        _described(f"The current step. {STEP} minor grows with each loop of a simulated controller that writes."),
    ] = None
    phase: Annotated[
        str | None,
        _described(
            "What happens in the step: operations are carried out, simulated controllers run or are paused, or the "
            "step has finished. Words with Scheduling or Events belong to spec.events, the others to spec.operations.",
            *STEP_PHASES,
        ),
    ] = None
    running_simulation_controller: Annotated[
        str | None, _described("The simulated controller that runs, is paused or has completed its work.")
    ] = None


class StatusSchema(Part):
    """What the simulator says about the Scenario."""

    phase: Annotated[
        str | None,
        _described(
            "Pending: waits for another Scenario. Running. Paused: every operation was carried out and none was Done; "
            "operations of later steps may be added. Succeeded: ended by Done. Failed: see message. Unknown.",
            *PHASES,
        ),
    ] = None
    message: Annotated[str | None, _described("Why the Scenario is in its phase, and warnings.")] = None
    scheduler_status: Annotated[
        str | None, _described("The state of the scheduler; only for spec.events.", *SCHEDULER_STATUSES)
    ] = None
    step_status: StepStatus | None = None
    scenario_result: ScenarioResult | None = None
    not_in_timeline: Annotated[
        dict[str, Any] | None,
        _described(
            "What readers of the result need and no entry of the timeline shows: finishedPods by step, with the number "
            "of entries before; the numbers of attempts, attemptsWithoutNodes, nodeStatusWrites and snapshotObjects."
        ),
    ] = None


def status_schema() -> Document:
    """The OpenAPI schema of `.status`."""
    return openapi_of(StatusSchema)
