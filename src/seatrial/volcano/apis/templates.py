"""The fields in which Jobs and PodGroups of one template differ: thousands of Jobs come from one document."""

from collections.abc import Iterator
from typing import Any

from seatrial.model.documents import Document
from seatrial.model.label_selectors import label_key_faults
from seatrial.store import Store
from seatrial.store.registry import VariableFields, owners
from seatrial.volcano.apis import JOB, POD_GROUP, kind_of


def declare_templates(store: Store) -> None:
    """Create Jobs and PodGroups from templates, see `store.registry.templates`."""
    store.templates.declare(kind_of(store, JOB), VariableFields(_name_alone, accepts=_names_pods))
    store.templates.declare(kind_of(store, POD_GROUP), VariableFields(owners))


def _name_alone(job: Document) -> Iterator[Any]:
    return iter(())


def _names_pods(job: Document) -> bool:
    """Whether the webhook takes the names of the Job and of its pods."""
    name = job["metadata"].get("name") or ""
    tasks = enumerate(job["spec"]["tasks"])
    pods = [f"{name}-{task.get('name') or f'default{place}'}-{place}" for place, task in tasks]
    return not any(label_key_faults(text) for text in (name, *pods))
