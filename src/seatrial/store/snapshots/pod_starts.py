"""Pods of a snapshot that were about to start: they go on, and those that could not start stay as they were.

The pod stages start a bound pod of which no kubelet has said anything. A pod whose containers were being created is
such a pod again; one that cannot pull its image keeps its status, and the rollout that waits for it goes on waiting.
"""

from seatrial.model.documents import Document

STARTING = ("ContainerCreating", "PodInitializing")
STATUSES = ("containerStatuses", "initContainerStatuses")


def starting(document: Document) -> Document:
    """The object; a pod in the middle of its start without the statuses of its containers."""
    status = document.get("status")
    if document.get("kind") != "Pod" or not isinstance(status, dict) or status.get("phase") != "Pending":
        return document
    reported = [status.get(field) or [] for field in STATUSES]
    if not all(isinstance(each, list) and all(map(_is_starting, each)) for each in reported):
        return document
    return {**document, "status": {key: value for key, value in status.items() if key not in STATUSES}}


def _is_starting(container: object) -> bool:
    """Whether nothing is wrong with a container that does not run yet; an init container may be done or run."""
    if not isinstance(container, dict):
        return False
    state = container.get("state")
    waiting = state.get("waiting") if isinstance(state, dict) else None
    return waiting is None or (isinstance(waiting, dict) and waiting.get("reason") in STARTING)
