"""Validation of a Volcano Job.

Upstream: pkg/webhooks/admission/jobs/validate/admit_job.go. One difference: a queue without a state counts as open,
since the queue controller opens every new queue, and in a scenario it works only after the operations of a step.
"""

from typing import Final

import orjson

from seatrial.model.defaults import apply_defaults
from seatrial.model.documents import Document
from seatrial.model.kinds import Kind
from seatrial.model.label_selectors import label_key_faults
from seatrial.model.quantity import Quantity
from seatrial.store import Request, Store
from seatrial.store.admission import Reader
from seatrial.store.validation import template_causes
from seatrial.volcano.apis import QUEUE, ROOT_QUEUE
from seatrial.volcano.webhooks.denied import Denied
from seatrial.volcano.webhooks.job_policies import is_acyclic, policy_faults, volume_fault

WEBHOOK: Final = "validatejob.volcano.sh"
PLUGINS: Final = frozenset({"ssh", "env", "svc", "tensorflow", "mpi", "pytorch", "hcclrank", "ray"})
TWO_TIERS: Final = "must not specify 'highestTierAllowed' and 'highestTierName' in networkTopology simultaneously"
_ONLY: Final = (
    "job updates may not change fields other than `minAvailable`, "
    "`tasks[*].replicas under spec` and `PriorityClassName`"
)


def validate_create(request: Request, reader: Reader) -> None:
    """Refuse a Job that the controller could not run."""
    job = request.document
    tasks: list[Document] = job["spec"].get("tasks") or []
    if not tasks:
        raise Denied(WEBHOOK, "No task specified in job spec")
    faults = _mpi_fault(job) or _create_faults(request, reader, job, tasks)
    if faults:
        raise Denied(WEBHOOK, faults.strip())


def validate_update(request: Request, reader: Reader) -> None:
    """Refuse a change of anything but the numbers that scale a Job."""
    fault = _update_fault(request.document, request.old or {})
    if fault:
        raise Denied(WEBHOOK, fault)


def _create_faults(request: Request, reader: Reader, job: Document, tasks: list[Document]) -> str:
    spec, name = job["spec"], job["metadata"]["name"]
    text = topology_fault(spec.get("networkTopology"))
    text += _task_faults(request.store, job, tasks)
    if faults := label_key_faults(name):
        text += f"create job with name {name} validate failed [{' '.join(faults)}]"
    if sum(task.get("replicas", 0) for task in tasks) < spec["minAvailable"]:
        text += " job 'minAvailable' should not be greater than total replicas in tasks;"
    text += policy_faults(spec.get("policies"), "spec.policies")
    for plugin in spec.get("plugins") or {}:
        if plugin not in PLUGINS:
            text += f" unable to find job plugin: {plugin};"
    text += volume_fault(spec.get("volumes"))
    text += _queue_faults(request.store, reader, spec["queue"])
    if any(task.get("dependsOn") is not None for task in tasks) and not is_acyclic(tasks):
        text += " job has dependencies between tasks, but doesn't form a directed acyclic graph(DAG);"
    return text


def _mpi_fault(job: Document) -> str:
    arguments = (job["spec"].get("plugins") or {}).get("mpi")
    if arguments is None:
        return ""
    master = "master"
    for argument in arguments:
        if argument.lstrip("-").startswith("master="):
            master = argument.partition("=")[2]
    found = any(task["name"] == master for task in job["spec"]["tasks"])
    return "" if found else "The specified mpi master task was not found"


def _task_faults(store: Store, job: Document, tasks: list[Document]) -> str:
    text, name = "", job["metadata"]["name"]
    seen: set[str] = set()
    for index, task in enumerate(tasks):
        if task["minAvailable"] > task.get("replicas", 0):
            text += f" 'minAvailable' is greater than 'replicas' in task: {task['name']}, job: {name};"
        if task["name"] in seen:
            return text + f" duplicated task name {task['name']};"
        seen.add(task["name"])
        text += policy_faults(task.get("policies"), "spec.tasks.policies")
        pod = f"{name}-{task['name']}-{index}"
        if faults := label_key_faults(pod):
            text += f"create pod with name {pod} validate failed [{' '.join(faults)}];"
        text += _template_faults(store, task, index)
        text += _partition_fault(task, name)
    return text


def _template_faults(store: Store, task: Document, index: int) -> str:
    template = task.get("template") or {}
    faults = store.views.once(_faults_of, orjson.dumps(template), store.kinds.named("v1", "PodTemplate"))
    return f"spec.task[{index}].{faults}" if faults else _numa_fault(task, index)


def _faults_of(template: bytes, kind: Kind | None) -> str:
    document: Document = {"metadata": {"name": ""}, "template": orjson.loads(template)}
    if kind is not None:
        apply_defaults(kind, document)
    return "".join(f"{c.field}: {c.message}. " for c in template_causes(document["template"], "template"))


def _numa_fault(task: Document, index: int) -> str:
    if task.get("topologyPolicy") in (None, "", "none"):
        return ""
    pod = (task.get("template") or {}).get("spec") or {}
    for number, container in enumerate([*(pod.get("containers") or ()), *(pod.get("initContainers") or ())]):
        resources = container.get("resources") or {}
        cpu = Quantity.parse((resources.get("requests") or resources.get("limits") or {}).get("cpu", "0"))
        if cpu.value() * 1000 != cpu.milli_value() or not cpu.value():
            return f"the cpu request isn't  an integer in spec.task[{index}] container[{number}]."
    return ""


def _partition_fault(task: Document, job: str) -> str:
    policy = task.get("partitionPolicy")
    if policy is None:
        return ""
    where = f"in task: {task['name']}, job: {job}"
    total, size = policy.get("totalPartitions", 0), policy.get("partitionSize", 0)
    least = (policy.get("minPartitions") or 0) * size
    text = ""
    if total <= 0:
        text = f"'TotalPartitions' must be greater than 0 {where}"
    elif size <= 0:
        text = f"'PartitionSize' must be greater than 0 {where}"
    elif task.get("replicas", 0) != total * size:
        text = f"'Replicas' are not equal to TotalPartitions*PartitionSize {where}"
    elif least > 0 and task.get("minAvailable") is not None and task["minAvailable"] != least:
        text = f"'MinAvailable' is not equal to MinPartitions*PartitionSize {where}"
    return text + topology_fault(policy.get("networkTopology"))


def topology_fault(topology: Document | None) -> str:
    """A tier may be given by number or by name, not both."""
    topology = topology or {}
    both = topology.get("highestTierAllowed") is not None and topology.get("highestTierName")
    return TWO_TIERS if both else ""


def _queue_faults(store: Store, reader: Reader, name: str) -> str:
    queue = reader.find(store, *QUEUE, name)
    if queue is None:
        return f' unable to find job queue: queue.scheduling.volcano.sh "{name}" not found;'
    text = ""
    state = (queue.get("status") or {}).get("state", "")
    if state not in ("", "Open"):
        text = f" can only submit job to queue with state `Open`, queue `{name}` status is `{state}`;"
    if name == ROOT_QUEUE:
        return text + " can not submit job to root queue;"
    children = sum(1 for other in reader.all(store, *QUEUE) if (other.get("spec") or {}).get("parent") == name)
    if children:
        text += f" can only submit job to leaf queue, queue `{name}` has {children} child queues;"
    return text


def _update_fault(job: Document, old: Document) -> str:
    spec = job["spec"]
    tasks: list[Document] = spec.get("tasks") or []
    for task in tasks:
        least = task.get("minAvailable")
        if least is not None and least > task.get("replicas", 0):
            return f"'minAvailable' must be <= 'replicas' in task: {task.get('name', '')}"
        if fault := _partition_fault(task, job["metadata"]["name"]):
            return fault
    if spec.get("minAvailable", 0) > sum(task.get("replicas", 0) for task in tasks):
        return "job 'minAvailable' must not be greater than total replicas"
    if fault := topology_fault(spec.get("networkTopology")):
        return fault
    if len(tasks) != len(old["spec"].get("tasks") or ()):
        return "job updates may not add or remove tasks"
    return "" if _fixed(spec) == _fixed(old["spec"]) else _ONLY


def _fixed(spec: Document) -> Document:
    """The part of a spec that may not change; claim names are filled in by the controller."""
    fixed = {key: value for key, value in spec.items() if key not in ("minAvailable", "priorityClassName")}
    fixed["tasks"] = [
        {key: value for key, value in task.items() if key not in ("replicas", "minAvailable")}
        for task in spec.get("tasks") or ()
    ]
    if spec.get("volumes"):
        fixed["volumes"] = [
            {key: value for key, value in volume.items() if key != "volumeClaimName" or "volumeClaim" not in volume}
            for volume in spec["volumes"]
        ]
    return fixed
