"""The kinds Simulator (KEP-159) and SchedulerSimulation (KEP-184), which live in the user's cluster.

Neither text gives JSON names or defaults; the ports are those of kube-scheduler-simulator. "Cannot be updated" is said
in CEL in the CustomResourceDefinition, so that every API server enforces it without a webhook.
"""

from typing import Annotated, Any

import msgspec

import seatrial
from seatrial.model.documents import Document
from seatrial.model.kind_declaration import Column, Part, Resource, custom_resource_definition, kind
from seatrial.operator.structural_schema import structural_schema
from seatrial.scenario.spec.kind import API_VERSION

IMAGE = f"seatrial:{seatrial.__version__}"
"""One image serves as simulator, scenario-runner and operator; this default means the image of the operator."""
KUBE_API_SERVER_PORT = 3131
SIMULATOR_SERVER_PORT = 1212
PENDING, CREATING, AVAILABLE = "Pending", "Creating", "Available"
FAILED, COMPLETED = "Failed", "Completed"
ALWAYS_SET = ("simulatorSpec", "scenarioTemplateFilePath", "scenarioResultFilePath", "scenarioRunnerImage")
MAY_BE_ABSENT = ("volume", "activeDeadlineSeconds")
"""Fields of a SchedulerSimulation that cannot be updated: required or defaulted ones, and optional ones."""

Port = msgspec.Meta(ge=1, le=65535, extra_json_schema={"format": "int32"})
Time = msgspec.Meta(extra_json_schema={"format": "date-time"})
Image = msgspec.Meta(extra_json_schema={"minLength": 1, "default": IMAGE})
FilePath = msgspec.Meta(extra_json_schema={"minLength": 1})


def _described(text: str, **schema: Any) -> msgspec.Meta:
    return msgspec.Meta(extra_json_schema={"description": text, **schema})


DistinctPorts = msgspec.Meta(
    extra_json_schema={
        "x-kubernetes-validations": [
            {
                "rule": "self.kubeAPIServerPort != self.simulatorServerPort",
                "message": "must differ from kubeAPIServerPort",
                "fieldPath": ".simulatorServerPort",
            }
        ]
    }
)


class SimulatorSpec(Part):
    """How a simulator is run."""

    kube_api_server_port: Annotated[
        int, Port, _described("Port of the simulator's kube-apiserver.", default=KUBE_API_SERVER_PORT)
    ] = msgspec.field(name="kubeAPIServerPort", default=KUBE_API_SERVER_PORT)
    simulator_server_port: Annotated[
        int, Port, _described("Port of the simulator's HTTP API.", default=SIMULATOR_SERVER_PORT)
    ] = SIMULATOR_SERVER_PORT
    kube_scheduler_configuration_path: Annotated[
        str, _described("A KubeSchedulerConfiguration, as a path in the container simulator.")
    ] = ""
    scheduler_plugin_paths: Annotated[
        list[str],
        _described(
            "Files with scheduler plugins in Python, as paths in the container simulator.",
            **{"x-kubernetes-list-type": "atomic"},
        ),
    ] = msgspec.field(default_factory=list)
    outside_scheduler: Annotated[
        list[str],
        _described(
            "Command of a scheduler that replaces the embedded one, run in the container simulator.",
            **{"x-kubernetes-list-type": "atomic"},
        ),
    ] = msgspec.field(default_factory=list)
    etcd_url: Annotated[str, _described("An etcd for images that need one; without it they get a container etcd.")] = (
        msgspec.field(name="etcdURL", default="")
    )
    cors_allowed_origin_list: Annotated[
        list[str], _described("Origins whose pages may call the simulator.", **{"x-kubernetes-list-type": "atomic"})
    ] = msgspec.field(default_factory=list)
    image: Annotated[str, Image, _described("Image of the container simulator.")] = IMAGE
    pod_template: Annotated[
        dict[str, Any], _described("Merged over the Pod that the operator makes; its fields take precedence.")
    ] = msgspec.field(default_factory=dict)


class SimulatorStatus(Part):
    """Where the simulator is and whether it can be reached; written by the operator."""

    phase: Annotated[str, _described("Pending, Creating or Available.", enum=[PENDING, CREATING, AVAILABLE])] = PENDING
    message: Annotated[str, _described("Why the simulator is in this phase.")] = ""
    kube_api_server_url: Annotated[str, _described("Address of the simulator's kube-apiserver in this cluster.")] = (
        msgspec.field(name="kubeAPIServerURL", default="")
    )


@kind(API_VERSION, plural="simulators", namespaced=True)
class Simulator(Resource, kw_only=True):
    """A simulator that runs as a Pod."""

    spec: Annotated[SimulatorSpec, DistinctPorts]
    status: SimulatorStatus | None = None

    columns = (
        Column("Phase", ".status.phase"),
        Column("API server", ".status.kubeAPIServerURL"),
        Column("Message", ".status.message", priority=1),
        Column.age(),
    )


class SchedulerSimulationSpec(Part):
    """Which scenario runs in which simulator."""

    simulator_spec: Annotated[
        SimulatorSpec,
        _described("The simulator to create. Cannot be updated.", **(DistinctPorts.extra_json_schema or {})),
    ]
    scenario_template_file_path: Annotated[
        str, FilePath, _described("File with the Scenario, usually under /mnt. Cannot be updated.")
    ]
    scenario_result_file_path: Annotated[
        str, FilePath, _described("File for the Scenario's result, usually under /mnt. Cannot be updated.")
    ]
    volume: Annotated[
        dict[str, Any], _described("Mounted at /mnt in the container scenario-runner. Cannot be updated.")
    ] = msgspec.field(default_factory=dict)
    scenario_runner_image: Annotated[str, Image, _described("Image of scenario-runner. Cannot be updated.")] = IMAGE
    active_deadline_seconds: Annotated[
        int, msgspec.Meta(ge=1), _described("The simulation fails when it runs longer. Cannot be updated.")
    ] = 0


class Condition(Part):
    """A fact about the simulation, as metav1.Condition."""

    type: Annotated[str, _described("Name of the condition.")]
    status: Annotated[str, _described("True, False or Unknown.")]
    reason: Annotated[str, _described("Why the condition has this status, in one word.")]
    last_transition_time: Annotated[str, Time, _described("When the status changed.")]
    message: Annotated[str, _described("Why the condition has this status, in a sentence.")] = ""


class SchedulerSimulationStatus(Part):
    """The progress and the outcome of the simulation; written by the operator."""

    phase: Annotated[str, _described("Failed or Completed; absent until then.", enum=[FAILED, COMPLETED])] = ""
    start_time: Annotated[str, Time, _described("When the operator began with this object.")] = ""
    completion_time: Annotated[str, Time, _described("When the simulation completed; only set if it did.")] = ""
    message: Annotated[str, _described("Why the simulation is in this phase.")] = ""
    conditions: Annotated[
        list[Condition],
        _described(
            "RunnerFinished holds the outcome while the Simulator is being deleted.",
            **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]},
        ),
    ] = msgspec.field(default_factory=list)


def _immutable(field: str) -> Document:
    rule = f"self.{field} == oldSelf.{field}"
    if field in MAY_BE_ABSENT:
        rule = f"has(self.{field}) == has(oldSelf.{field}) && (!has(self.{field}) || {rule})"
    return {"rule": rule, "message": "cannot be updated", "fieldPath": f".{field}", "reason": "FieldValueForbidden"}


Immutable = msgspec.Meta(
    extra_json_schema={"x-kubernetes-validations": [_immutable(field) for field in (*ALWAYS_SET, *MAY_BE_ABSENT)]}
)


@kind(API_VERSION, plural="schedulersimulations", namespaced=True)
class SchedulerSimulation(Resource, kw_only=True):
    """One run of a Scenario in a simulator of its own."""

    spec: Annotated[SchedulerSimulationSpec, Immutable]
    status: SchedulerSimulationStatus | None = None

    columns = (
        Column("Phase", ".status.phase"),
        Column("Started", ".status.startTime", "date"),
        Column("Completed", ".status.completionTime", "date"),
        Column("Message", ".status.message", priority=1),
        Column.age(),
    )


def definitions() -> list[Document]:
    """The CustomResourceDefinitions of both kinds."""
    template = structural_schema("PodTemplateSpec", optional=["spec.containers"])
    volume = structural_schema("Volume", optional=["name"])
    # A Volume without a name is fine here: it is mounted in one place only.
    volume["properties"]["name"]["default"] = "scenario"
    made = []
    for resource in (Simulator, SchedulerSimulation):
        document = custom_resource_definition(resource)
        spec = document["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
        simulator = spec if resource is Simulator else spec["simulatorSpec"]["properties"]
        _fill(simulator["podTemplate"], template)
        if resource is SchedulerSimulation:
            _fill(spec["volume"], volume)
        made.append(document)
    return made


def _fill(field: Document, schema: Document) -> None:
    """Give a field that is any object the schema of its type."""
    field.pop("x-kubernetes-preserve-unknown-fields")
    field.update(schema)
