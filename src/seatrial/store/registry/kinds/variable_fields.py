"""The fields in which objects made from one template differ, for the kinds that are created in large numbers.

A field may be listed where its value has no effect on the rest of the object: defaulting, admission and managedFields
do not read the value, and it is validated alone. See `registry.templates`.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from seatrial.model.documents import Document
from seatrial.model.label_selectors import label_value_faults
from seatrial.store.object_meta import label_faults, subdomain_faults
from seatrial.store.registry.strategy import Check, VariableField, VariableFields

_INDEX_ANNOTATIONS = ("batch.kubernetes.io/job-completion-index", "volcano.sh/task-index")
"""Annotations with the number of a pod among those of its owner; a creation does not read them."""
_GROUP_ANNOTATIONS = ("scheduling.k8s.io/group-name", "volcano.sh/job-name", "volcano.sh/template-uid")
"""Annotations with the names of the objects that a pod belongs to; a creation does not read them."""
LONGEST_NAME = 253
VALUES_KEPT = 4096
_INDEX_VARIABLES = ("VC_TASK_INDEX", "VK_TASK_INDEX")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_MICRO_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= LONGEST_NAME


def _is_label(value: Any) -> bool:
    return isinstance(value, str) and not label_faults(value)


def _is_node_name(value: Any) -> bool:
    return isinstance(value, str) and not subdomain_faults(value)


def _is_prefix(value: Any) -> bool:
    """Whether names may begin with it: a name that may be followed by a dash."""
    return isinstance(value, str) and value.endswith("-") and not subdomain_faults(value[:-1])


def _is_label_value(value: Any) -> bool:
    return isinstance(value, str) and _is_valid_label_value(value)


@lru_cache(VALUES_KEPT)
def _is_valid_label_value(value: str) -> bool:
    return not label_value_faults(value)


def _is_micro_time(value: Any) -> bool:
    return isinstance(value, str) and _is_valid_micro_time(value)


@lru_cache(VALUES_KEPT)
def _is_valid_micro_time(value: str) -> bool:
    return _MICRO_TIME.fullmatch(value) is not None


def _values(document: Document, field: str, keys: tuple[str, ...] | None, is_valid: Check) -> Iterator[VariableField]:
    """The values of a map in the metadata, all or those of some keys."""
    for key, value in (document["metadata"].get(field) or {}).items():
        if keys is None or key in keys:
            yield VariableField(("metadata", field, key), value, is_valid)


def _of_pod(pod: Document) -> Iterator[VariableField]:
    metadata, spec = pod["metadata"], pod["spec"]
    if "generateName" in metadata:
        yield VariableField(("metadata", "generateName"), metadata["generateName"], _is_prefix)
    yield from _values(pod, "labels", None, _is_label_value)
    if metadata.get("annotations"):
        yield from _values(pod, "annotations", _INDEX_ANNOTATIONS, _is_text)
        yield from _values(pod, "annotations", _GROUP_ANNOTATIONS, _is_name)
    yield from owners(pod)
    if "hostname" in spec:
        yield VariableField(("spec", "hostname"), spec["hostname"], _is_label)
    if "affinity" in spec:
        yield from _daemon_node(spec["affinity"])
    for field in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(field) or ()):
            if "env" in container:
                yield from _indices(("spec", field, index, "env"), container["env"])
    for index, volume in enumerate(spec.get("volumes") or ()):
        if claim := volume.get("persistentVolumeClaim"):
            path = ("spec", "volumes", index, "persistentVolumeClaim", "claimName")
            yield VariableField(path, claim["claimName"], _is_text)


def owners(document: Document) -> Iterator[VariableField]:
    """Name and uid of each owner."""
    for index, owner in enumerate(document["metadata"].get("ownerReferences") or ()):
        for key in ("name", "uid"):
            yield VariableField(("metadata", "ownerReferences", index, key), owner[key], _is_name)


def _daemon_node(affinity: Document) -> Iterator[VariableField]:
    """The node of a DaemonSet's pod, which is required by name."""
    terms = ((affinity.get("nodeAffinity") or {}).get(_REQUIRED) or {}).get("nodeSelectorTerms") or ()
    for index, term in enumerate(terms):
        if fields := term.get("matchFields"):
            path = ("spec", "affinity", "nodeAffinity", _REQUIRED, "nodeSelectorTerms", index, "matchFields", 0)
            yield VariableField((*path, "values", 0), fields[0]["values"][0], _is_node_name)


def _indices(path: tuple[str | int, ...], variables: list[Document]) -> Iterator[VariableField]:
    for index, variable in enumerate(variables or ()):
        if variable.get("name") in _INDEX_VARIABLES and "value" in variable:
            yield VariableField((*path, index, "value"), variable["value"], _is_text)


def _of_node(node: Document) -> Iterator[VariableField]:
    yield from _values(node, "labels", None, _is_label_value)


def _of_event(event: Document) -> Iterator[VariableField]:
    about = event["involvedObject"]
    for key in ("name", "uid", "resourceVersion"):
        if key in about:
            yield VariableField(("involvedObject", key), about[key], _is_text)
    yield VariableField(("message",), event["message"], _is_text)
    if event.get("eventTime"):
        yield VariableField(("eventTime",), event["eventTime"], _is_micro_time)


POD = VariableFields(_of_pod, never_with=(b'"nodeName"', b'"ephemeral"', b'atchLabelKeys"'))
"""Never where the topology labels of a node, the pod's own name or its label values decide about the rest."""
NODE = VariableFields(_of_node)
EVENT = VariableFields(_of_event)
