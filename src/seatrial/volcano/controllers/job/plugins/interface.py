"""The interface of the plugins of a Job, and the objects that they make for it.

Upstream: pkg/controllers/job/plugins/interface and the helpers of volcano.sh/apis that create, update and delete.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from seatrial.controllers.framework import controller_reference
from seatrial.model.documents import Document
from seatrial.model.errors import NotFound
from seatrial.model.kinds import Kind
from seatrial.store import Store
from seatrial.volcano.apis import WRITER

Named = tuple[str, str]
"""The apiVersion and the kind of an object."""


class JobPlugin:
    """A plugin of one Job with its arguments; the methods that a plugin does not need do nothing."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self.arguments = arguments

    def flag(self, name: str, default: str = "") -> str:
        """The value of a flag of Go's flag package among the arguments; the last one counts."""
        value = default
        for place, argument in enumerate(self.arguments):
            key, equals, given = argument.lstrip("-").partition("=")
            if key == name:
                following = self.arguments[place + 1 : place + 2]
                value = given if equals else (following[0] if following else default)
        return value

    def switch(self, name: str) -> bool:
        """Whether a boolean flag is set."""
        return any(argument.lstrip("-") in (name, f"{name}=true") for argument in self.arguments)

    def on_pod_create(self, job: Document, pod: Document) -> None: ...
    def on_job_add(self, owner: "Owner", job: Document) -> None: ...
    def on_job_update(self, owner: "Owner", job: Document) -> None: ...
    def on_job_delete(self, owner: "Owner", job: Document) -> None: ...


@dataclass(frozen=True, slots=True)
class Owner:
    """Writes objects that a Job owns."""

    store: Store
    kind: Kind
    """That of Jobs."""

    def create(self, job: Document, named: Named, name: str, **fields: Any) -> None:
        """Create an object, unless there is one of the name."""
        kind, namespace = self._kind(named), job["metadata"]["namespace"]
        if self.store.find(kind, name, namespace) is not None:
            return
        metadata = {"name": name, "ownerReferences": [controller_reference(self.kind, job)]}
        document = {"apiVersion": named[0], "kind": named[1], "metadata": metadata, **fields}
        self.store.create(kind, document, namespace=namespace, writer=WRITER)

    def create_or_update(self, job: Document, named: Named, name: str, data: dict[str, str]) -> None:
        """Create an object with data, or give it this data."""
        kind, namespace = self._kind(named), job["metadata"]["namespace"]
        if self.store.find(kind, name, namespace) is None:
            self.create(job, named, name, data=data)
            return

        def change(document: Document) -> None:
            document["data"] = data

        self.store.modify(kind, name, change, namespace=namespace, writer=WRITER)

    def delete(self, job: Document, named: Named, name: str) -> None:
        """Delete an object, where there is one."""
        try:
            self.store.delete(self._kind(named), name, namespace=job["metadata"]["namespace"], writer=WRITER)
        except NotFound:
            return

    def _kind(self, named: Named) -> Kind:
        kind = self.store.kinds.named(*named)
        if kind is None:
            raise LookupError(f"{' '.join(named)} is not served")
        return kind


def containers_of(pod: Document) -> list[Document]:
    """The containers of a pod, then its init containers."""
    spec = pod["spec"]
    return [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]


def hosts_of(job: Document, task: Document) -> Iterator[tuple[str, str]]:
    """Host name and subdomain of every pod of a task; a template with a host name of its own has one."""
    pod, name = task["template"].get("spec") or {}, job["metadata"]["name"]
    own, subdomain = pod.get("hostname"), pod.get("subdomain") or name
    for index in range(task.get("replicas", 0)):
        yield own or f"{name}-{task['name']}-{index}", subdomain
        if own:
            return
