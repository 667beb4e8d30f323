"""Node selectors over whole columns: nodeSelector, required and preferred node affinity.

Upstream: component-helpers/scheduling/corev1/nodeaffinity.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from seatrial.model.documents import Document
from seatrial.model.label_selectors import LabelSelector, NodeSelectorTerm, Requirement, SelectorError
from seatrial.scheduler.cache.node_table import Ints, Mask, Nodes
from seatrial.scheduler.cache.pod_info import PodShape


class NamedNode(Protocol):
    """A node as far as selectors look at it."""

    @property
    def name(self) -> str: ...

    @property
    def labels(self) -> Mapping[str, str]: ...


def requirement_mask(requirement: Requirement, nodes: Nodes) -> Mask:
    """Which nodes meet one requirement; it is worked out once per value of the label."""
    column = nodes.table.label(requirement.key)
    truth = [requirement.matches({requirement.key: value}) for value in column.values]
    truth.append(requirement.matches({}))  # the last place is where the number of an absent label points
    picked: Mask = np.asarray(truth, np.bool_)[nodes.label(requirement.key)]
    return picked


def labels_mask(selector: LabelSelector, nodes: Nodes) -> Mask:
    """Which nodes a label selector picks."""
    mask = np.full(len(nodes), not selector.selects_nothing, np.bool_)
    for requirement in selector.requirements:
        mask &= requirement_mask(requirement, nodes)
    return mask


class NodeSelector:
    """Alternative terms. A term that cannot be read, or is empty, picks no node."""

    def __init__(self, terms: Sequence[Document]) -> None:
        self.terms = [parsed for term in terms if (parsed := _parsed(term)) is not None]

    def mask(self, nodes: Nodes) -> Mask:
        mask = np.zeros(len(nodes), np.bool_)
        for term in self.terms:
            mask |= _term_mask(term, nodes)
        return mask

    def matches(self, node: NamedNode) -> bool:
        return any(term.matches(node.labels, node.name) for term in self.terms)


class PreferredTerms:
    """Weighted terms; a node's score is the sum of the weights of the terms that pick it."""

    def __init__(self, terms: Sequence[Document]) -> None:
        self.fault = ""
        self._terms: list[tuple[int, NodeSelectorTerm]] = []
        for entry in terms:
            try:
                term = NodeSelectorTerm(entry.get("preference") or {})
            except SelectorError as error:
                self.fault = self.fault or error.message
                continue
            if entry.get("weight") and not term.is_empty:
                self._terms.append((entry["weight"], term))

    def score(self, nodes: Nodes) -> Ints:
        scores = np.zeros(len(nodes), np.int64)
        for weight, term in self._terms:
            scores += weight * _term_mask(term, nodes)
        return scores


class RequiredNodes:
    """What a pod requires of its node: nodeSelector and required node affinity together."""

    def __init__(self, spec: Document) -> None:
        wanted = spec.get("nodeSelector")
        self._labels = LabelSelector.from_labels(wanted) if wanted else None
        required = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(REQUIRED)
        self._selector = None if required is None else NodeSelector(required.get("nodeSelectorTerms") or ())
        self.is_trivial = self._labels is None and self._selector is None

    def mask(self, nodes: Nodes) -> Mask:
        mask = np.ones(len(nodes), np.bool_) if self._labels is None else labels_mask(self._labels, nodes)
        return mask if self._selector is None else mask & self._selector.mask(nodes)

    def matches(self, node: NamedNode) -> bool:
        if self._labels is not None and not self._labels.matches(node.labels):
            return False
        return self._selector is None or self._selector.matches(node)


REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def required_nodes(shape: PodShape) -> RequiredNodes:
    """What pods of a shape require of their node."""
    known: Any = shape.notes.get(RequiredNodes)
    if known is None:
        known = shape.notes[RequiredNodes] = RequiredNodes(shape.spec)
    required: RequiredNodes = known
    return required


def _parsed(term: Document) -> NodeSelectorTerm | None:
    try:
        parsed = NodeSelectorTerm(term)
    except SelectorError:
        return None
    return None if parsed.is_empty else parsed


def _term_mask(term: NodeSelectorTerm, nodes: Nodes) -> Mask:
    mask = labels_mask(term.labels, nodes)
    for key, wanted, value in term.fields:
        if key == "metadata.name":
            named = nodes.rows == nodes.table.row_of.get(value, -1)
            mask &= named if wanted else ~named
        elif (value == "") != wanted:
            mask[:] = False
    return mask
