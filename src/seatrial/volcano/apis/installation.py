"""Makes a store serve Volcano: definitions, admission webhooks, and the queues `root` and `default`.

Upstream: newDefaultAndRootQueue of pkg/scheduler/cache/cache.go for the queues.
"""

from seatrial.model.documents import Document
from seatrial.scheduler.evaluator import chosen_shortcuts
from seatrial.store import Store
from seatrial.volcano.apis import DEFAULT_QUEUE, QUEUE, ROOT_QUEUE, SCHEDULING, WRITER, definitions, kind_of
from seatrial.volcano.apis.templates import declare_templates
from seatrial.volcano.webhooks import VolcanoAdmission


def install(store: Store) -> None:
    """Serve Volcano's kinds; objects that exist already stay as they are."""
    crd = store.kinds.named("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    if crd is None:
        raise LookupError("CustomResourceDefinitions are not served")
    for document in definitions():
        if store.find(crd, document["metadata"]["name"]) is None:
            store.create(crd, document, writer=WRITER)
    if not isinstance(store.admission, VolcanoAdmission):
        store.admission = VolcanoAdmission(store.admission)
    if chosen_shortcuts().volcano_creates:
        declare_templates(store)
    create_queues(store)


def create_queues(store: Store) -> None:
    """The two queues that every cluster with Volcano has."""
    kind = kind_of(store, QUEUE)
    for name, reclaimable in ((ROOT_QUEUE, False), (DEFAULT_QUEUE, True)):
        if store.find(kind, name) is None:
            store.create(kind, _queue(name, reclaimable), writer=WRITER)


def _queue(name: str, reclaimable: bool) -> Document:
    return {
        "apiVersion": SCHEDULING,
        "kind": "Queue",
        "metadata": {"name": name},
        "spec": {"reclaimable": reclaimable, "weight": 1},
    }
