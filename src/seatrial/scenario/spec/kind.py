"""The kind Scenario, in both spellings of KEP-140.

`events` (first version) and `operations` (second version) are two spellings of one thing, so one Struct reads both.
What the KEP calls invalid (no operation, two operations, a wrong discriminator) must be storable, since the Scenario
then ends Failed; so hardly a field is required here, and `validation` reports the errors.
"""

from typing import Annotated, Any

import msgspec

from seatrial.model.documents import Document
from seatrial.model.kind_declaration import Column, Part, Resource, kind

GROUP = "simulation.kube-scheduler-simulator.x-k8s.io"
API_VERSION = f"{GROUP}/v1alpha1"
STEP_DURATION = f"{GROUP}/step-duration"
RUN_DURATION = f"{GROUP}/run-duration"
EXIT_CODE = f"{GROUP}/exit-code"
AUTOSCALER_FLAGS = f"{GROUP}/cluster-autoscaler"
"""Flags of the built-in cluster-autoscaler: `--expander=price --scale-down-unneeded-time=5m`."""
FOREIGN_WRITES = f"{GROUP}/foreign-writes"
LAST_REMOVED = f"{GROUP}/last-removed-operation"
"""The highest number of an operation id that was given and is no longer listed: new ids go on after it."""
CREATED_BY = f"{GROUP}/created-by"
"""Left by a Scenario on what it creates of the kinds that stay for the next one (`scenario.reset`)."""

LAST_STEP = 2**31 - 1
Step = Annotated[int, msgspec.Meta(ge=0, le=LAST_STEP, extra_json_schema={"format": "int32"})]
MERGED_BY_ID: dict[str, Any] = {
    "x-kubernetes-patch-merge-key": "id",
    "x-kubernetes-patch-strategy": "merge",
    # Server-side apply merges by keys that each element has; operations get their ids later, at admission.
    "x-kubernetes-list-type": "atomic",
}
Atomic = msgspec.Meta(extra_json_schema={"x-kubernetes-list-type": "atomic"})
MergedById = msgspec.Meta(extra_json_schema=MERGED_BY_ID)
ByName = msgspec.Meta(extra_json_schema={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]})


class TypeMeta(Part):
    api_version: str = ""
    kind: str = ""


class ObjectMeta(Part):
    """metav1.ObjectMeta; a target is found by name and namespace."""

    name: str = ""
    namespace: str = ""
    generate_name: str = ""
    self_link: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: list[dict[str, Any]] | None = None
    finalizers: list[str] | None = None
    managed_fields: list[dict[str, Any]] | None = None


class CreateOptions(TypeMeta):
    dry_run: list[str] | None = None
    field_manager: str = ""
    field_validation: str = ""


class PatchOptions(CreateOptions):
    force: bool | None = None


class Preconditions(Part):
    uid: str | None = None
    resource_version: str | None = None


class DeleteOptions(TypeMeta):
    grace_period_seconds: int | None = None
    preconditions: Preconditions | None = None
    orphan_dependents: bool | None = None
    propagation_policy: str | None = None
    dry_run: list[str] | None = None
    ignore_store_read_error_with_cluster_breaking_potential: bool | None = None


class CreateOperation(Part):
    object: dict[str, Any] | None = None
    create_options: CreateOptions | None = None


class PatchOperation(Part):
    type_meta: TypeMeta = msgspec.field(default_factory=TypeMeta)
    object_meta: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    patch: str = ""
    patch_type: str = ""
    subresource: str = ""
    patch_options: PatchOptions | None = None


class DeleteOperation(Part):
    type_meta: TypeMeta = msgspec.field(default_factory=TypeMeta)
    object_meta: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    delete_options: DeleteOptions | None = None


class DoneOperation(Part):
    """Empty in the second version; the first has `done`, where false is recorded and has no effect."""

    done: bool | None = None


class Operation(Part, kw_only=True):
    """One operation on the cluster at a step."""

    id: str = ""
    step: Step
    operation: str | None = None
    create_operation: CreateOperation | None = None
    patch_operation: PatchOperation | None = None
    delete_operation: DeleteOperation | None = None
    done_operation: DoneOperation | None = None


class Spread(Part):
    """Over how many steps the copies of a generator are dealt out, in equal shares."""

    steps: Annotated[int, msgspec.Meta(ge=1)]
    every: Annotated[int, msgspec.Meta(ge=1)] = 1


class Source(Part):
    """Where a generator takes its rows or objects from; a path is relative to the scenario's file."""

    file: str = ""
    csv: str = ""


class Generator(Part):
    """A template for many operations; expanded into plain operations before the run."""

    id: str = ""
    step: Any = 0
    count: Annotated[int, msgspec.Meta(ge=0)] | None = None
    start: int = 0
    spread: Spread | None = None
    source: Source | None = msgspec.field(name="from", default=None)
    create_operation: dict[str, Any] | None = None
    patch_operation: dict[str, Any] | None = None
    delete_operation: dict[str, Any] | None = None


class ControllerName(Part):
    name: str


class ControllerSet(Part):
    enabled: Annotated[list[ControllerName], Atomic] | None = None
    disabled: Annotated[list[ControllerName], ByName] | None = None


class Controllers(Part):
    presimulation_controllers: ControllerSet | None = None
    simulation_controllers: ControllerSet | None = None

    @classmethod
    def of(cls, scenario: Document) -> "Controllers":
        """The controllers that a Scenario names."""
        return msgspec.convert((scenario.get("spec") or {}).get("controllers") or {}, cls)


class ScenarioSpec(Part):
    events: Annotated[list[Operation], MergedById] | None = None
    operations: Annotated[list[Operation], MergedById] | None = None
    controllers: Controllers | None = None
    generators: list[Generator] | None = None


@kind(API_VERSION, plural="scenarios", namespaced=False)
class Scenario(Resource):
    """A scenario in steps: operations on the cluster, and the controllers that react to them."""

    spec: ScenarioSpec = msgspec.field(default_factory=ScenarioSpec)
    status: dict[str, Any] | None = None

    columns = (
        Column("Phase", ".status.phase"),
        Column("Step", ".status.stepStatus.step"),
        Column("Message", ".status.message"),
        Column.age(),
    )


SCENARIO = Scenario.record
