"""NodeAffinity: nodeSelector, required and preferred node affinity, and affinity added by the profile.

Upstream: pkg/scheduler/framework/plugins/nodeaffinity (v1.36).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from seatrial.model.documents import Document
from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.cache.node_selectors import PREFERRED, REQUIRED, NodeSelector, PreferredTerms, required_nodes
from seatrial.scheduler.cache.node_table import Ints, Nodes
from seatrial.scheduler.cache.pod_info import PodInfo, PodShape
from seatrial.scheduler.framework.interface import Action, Handle, Narrowed, Plugin, Reads, requeue
from seatrial.scheduler.framework.row_rules import Normalizes
from seatrial.scheduler.framework.scoring import default_normalize
from seatrial.scheduler.framework.status import MISSING, SKIP, Status, Verdicts, error, unresolvable
from seatrial.scheduler.plugins.node_affinity.arguments import ARGUMENTS

REASON = "node(s) didn't match Pod's node affinity/selector"
REASON_ENFORCED = "node(s) didn't match scheduler-enforced node affinity"
REASON_CONFLICT = "pod affinity terms conflict"


class NodeAffinity(Plugin):
    """Reads labels and names of nodes only."""

    reads = Reads.NODE
    pre_filters_by_shape = True
    normalizes = Normalizes.SHARE
    arguments = ARGUMENTS

    def __init__(self, args: Document | None = None, handle: Handle | None = None) -> None:
        super().__init__(args, handle)
        added = self.args.get("addedAffinity") or {}
        required, preferred = added.get(REQUIRED), added.get(PREFERRED)
        self._added = NodeSelector(required.get("nodeSelectorTerms") or ()) if required is not None else None
        self._added_preferred = PreferredTerms(preferred) if preferred else None

    def skips_shape(self, shape: PodShape) -> bool:
        has_required = shape.node_affinity.get(REQUIRED) is not None or shape.spec.get("nodeSelector") is not None
        return self._added is None and not has_required

    def pre_filter(self, pod: PodInfo, nodes: Nodes) -> Any:
        required = pod.shape.node_affinity.get(REQUIRED)
        if required is None and self._added is None and pod.spec.get("nodeSelector") is None:
            return SKIP
        names = _names(required.get("nodeSelectorTerms") or ()) if required is not None else None
        if names is None:
            return None
        return Narrowed(names) if names else unresolvable(REASON_CONFLICT)

    def filter(self, pod: PodInfo, nodes: Nodes, state: Any = None) -> Verdicts:
        enforced = np.zeros(len(nodes), np.bool_) if self._added is None else ~self._added.mask(nodes)
        return Verdicts.first_of(
            [
                (enforced, unresolvable(REASON_ENFORCED)),
                (~required_nodes(pod.shape).mask(nodes), unresolvable(REASON)),
            ],
            nodes,
        )

    def pre_score(self, pod: PodInfo, nodes: Nodes) -> Any:
        terms = self._preferred(pod)
        if terms is not None and terms.fault:
            return error(terms.fault)
        return SKIP if terms is None and self._added_preferred is None else terms

    def score(self, pod: PodInfo, nodes: Nodes, state: Any = MISSING) -> Ints | Status:
        scores = np.zeros(len(nodes), np.int64)
        if self._added_preferred is not None:
            scores += self._added_preferred.score(nodes)
        terms = self._preferred(pod) if state is MISSING else state
        if terms is not None:
            if terms.fault:
                return error(terms.fault)
            scores += terms.score(nodes)
        return scores

    def normalize(self, pod: PodInfo, nodes: Nodes, scores: Ints, state: Any = None) -> Ints:
        return default_normalize(scores, reverse=False)

    @requeue.on("Node", Action.ADD | Action.UPDATE_NODE_LABEL)
    def affinity_matches(self, pod: PodInfo, old: NodeInfo | None, new: NodeInfo) -> bool:
        if self._added is not None and not self._added.matches(new):
            return False
        required = required_nodes(pod.shape)
        return required.matches(new) and (old is None or not required.matches(old))

    def _preferred(self, pod: PodInfo) -> PreferredTerms | None:
        terms = pod.shape.node_affinity.get(PREFERRED)
        return None if terms is None else PreferredTerms(terms)


def _names(terms: Sequence[Document]) -> frozenset[str] | None:
    """The nodes that terms name; None unless every term does."""
    if not terms:
        return None
    named: frozenset[str] = frozenset()
    for term in terms:
        sets = [
            frozenset(field.get("values") or ())
            for field in term.get("matchFields") or ()
            if field.get("key") == "metadata.name" and field.get("operator") == "In"
        ]
        if not sets:
            return None
        named |= frozenset.intersection(*sets)
    return named
