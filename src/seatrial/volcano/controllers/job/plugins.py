"""The plugins of a Job as far as they show in its pods: env, svc and ssh.

Upstream: pkg/controllers/job/plugins. What only containers read (host files, keys, the variables of distributed
frameworks) is left out; every plugin is noted in `status.controlledResources` as upstream does.
"""

from seatrial.controllers.framework import controller_reference
from seatrial.model.documents import Document
from seatrial.model.errors import AlreadyExists, NotFound
from seatrial.model.kinds import Kind
from seatrial.store import Store
from seatrial.volcano.apis import WRITER
from seatrial.volcano.apis.labels import JOB_NAME, JOB_NAMESPACE, TASK_INDEX
from seatrial.volcano.controllers.job.status import JobStatus

_PREFIX = "plugin-"


def on_pod_create(job: Document, pod: Document) -> None:
    """What the plugins of a Job add to a pod."""
    plugins = job["spec"].get("plugins") or {}
    spec = pod["spec"]
    if "env" in plugins:
        index = pod["metadata"]["labels"][TASK_INDEX]
        for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
            variables = container.setdefault("env", [])
            variables += [{"name": name, "value": index} for name in ("VK_TASK_INDEX", "VC_TASK_INDEX")]
    if "svc" in plugins:
        spec.setdefault("hostname", pod["metadata"]["name"])
        spec.setdefault("subdomain", job["metadata"]["name"])


def on_job_add(store: Store, kind: Kind, job: Document, status: JobStatus) -> None:
    """Create what the plugins of a new Job need."""
    plugins = job["spec"].get("plugins") or {}
    if "svc" in plugins and f"{_PREFIX}svc" not in status.controlled_resources:
        _create_service(store, kind, job, plugins["svc"])
    status.controlled_resources |= {f"{_PREFIX}{name}": name for name in sorted(plugins)}


def on_job_delete(store: Store, job: Document, status: JobStatus) -> None:
    """Delete what the plugins of a Job made; its pods are killed."""
    if f"{_PREFIX}svc" in status.controlled_resources:
        services = store.kinds.named("v1", "Service")
        try:
            if services is not None:
                meta = job["metadata"]
                store.delete(services, meta["name"], namespace=meta["namespace"], writer=WRITER)
        except NotFound:
            pass
    status.controlled_resources = {
        key: value for key, value in status.controlled_resources.items() if not key.startswith(_PREFIX)
    }


def _create_service(store: Store, kind: Kind, job: Document, arguments: list[str]) -> None:
    """The headless Service through which the pods of a Job find each other."""
    meta = job["metadata"]
    services = store.kinds.named("v1", "Service")
    if services is None or store.find(services, meta["name"], meta["namespace"]) is not None:
        return
    publishes = any(argument.lstrip("-") == "publish-not-ready-addresses=true" for argument in arguments)
    service: Document = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": meta["name"], "ownerReferences": [controller_reference(kind, job)]},
        "spec": {
            "clusterIP": "None",
            "selector": {JOB_NAME: meta["name"], JOB_NAMESPACE: meta["namespace"]},
            **({"publishNotReadyAddresses": True} if publishes else {}),
        },
    }
    try:
        store.create(services, service, namespace=meta["namespace"], writer=WRITER)
    except AlreadyExists:
        return
