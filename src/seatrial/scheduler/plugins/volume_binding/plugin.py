"""VolumeBinding: claims of the pod are bound, or can be bound or provisioned on the node.

Upstream: pkg/scheduler/framework/plugins/volumebinding. Score is skipped where StorageCapacityScoring is off.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from seatrial.model.documents import Document
from seatrial.model.errors import StatusError
from seatrial.model.times import SECOND
from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.cache.node_table import Nodes, NodeTable
from seatrial.scheduler.cache.pod_info import PodInfo, PodShape
from seatrial.scheduler.framework.interface import Handle, Plugin, Poll
from seatrial.scheduler.framework.row_rules import DomainTerm
from seatrial.scheduler.framework.status import MISSING, SKIP, SUCCESS, Status, error, unresolvable
from seatrial.scheduler.plugins.volume_binding.arguments import ARGUMENTS, CAPACITY_SCORING
from seatrial.scheduler.plugins.volume_binding.capacity_score import CapacityScore
from seatrial.scheduler.plugins.volume_binding.hints import HINTS
from seatrial.scheduler.volumes.binder import BinderError, PodClaims, PodVolumes, VolumeBinder, watched_objects
from seatrial.scheduler.volumes.claims import (
    claim_missing,
    claim_references,
    foreign_claim,
    metadata_of,
    volume_name,
)

DEFAULT_BIND_TIMEOUT = 600
UNBOUND_IMMEDIATE = "pod has unbound immediate PersistentVolumeClaims"


@dataclass(slots=True)
class VolumeState:
    """The claims of the pod, and what binding them takes on each node that passed."""

    claims: PodClaims
    by_node: dict[str, PodVolumes] = field(default_factory=dict)
    assumed: PodVolumes | None = None
    """What Reserve assumed; None: everything is bound."""


_NO_VOLUMES = VolumeState(PodClaims((), (), ()))


class VolumeBinding(Plugin):
    """Filters by volumes, and binds them with the pod."""

    prebinds_in_parallel = True
    arguments = ARGUMENTS
    requeues = HINTS

    def __init__(self, args: Document | None = None, handle: Handle | None = None) -> None:
        super().__init__(args, handle)
        self.binder = VolumeBinder(self.handle.cluster) if handle is not None else None
        shape = self.args.get("shape") if handle is not None and handle.gates.get(CAPACITY_SCORING) else None
        self._filtering = "", _NO_VOLUMES
        """The uid and the state of the pod that is being scheduled, for PreScore."""
        self._capacity_score = CapacityScore(shape) if shape else None
        self.bind_timeout = self.args.get("bindTimeoutSeconds", DEFAULT_BIND_TIMEOUT) * SECOND

    def skips_shape(self, shape: PodShape) -> bool:
        return not shape.volumes

    def pre_filter(self, pod: PodInfo, nodes: Nodes) -> VolumeState | Status:
        if not pod.shape.volumes:
            return SKIP
        has_claims, problem = self._check_claims(pod)
        if problem is not None:
            return unresolvable(problem)
        if not has_claims:
            return SKIP
        assert self.binder is not None
        try:
            claims = self.binder.pod_claims(pod)
        except BinderError as failure:
            return error(str(failure))
        if claims.immediate:
            return unresolvable(UNBOUND_IMMEDIATE)
        state = VolumeState(claims)
        self._filtering = pod.uid, state
        return state

    def _check_claims(self, pod: PodInfo) -> tuple[bool, str | None]:
        """Whether the pod has claims, and what is wrong with the first bad one."""
        has_claims = False
        for reference in claim_references(pod):
            has_claims = True
            claim = self.handle.cluster.get("PersistentVolumeClaim", reference.name, pod.namespace)
            name = reference.name
            if claim is None and reference.is_ephemeral:
                return True, f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{name}"'
            if claim is None:
                return True, claim_missing(name)
            if (claim.get("status") or {}).get("phase") == "Lost":
                gone = volume_name(claim)
                return True, f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{gone}"'
            if metadata_of(claim).get("deletionTimestamp") is not None:
                return True, f'persistentvolumeclaim "{name}" is being deleted'
            complaint = foreign_claim(pod, claim) if reference.is_ephemeral else None
            if complaint is not None:
                return True, complaint
        return has_claims, None

    def filter_one(self, pod: PodInfo, node: NodeInfo, state: VolumeState) -> Status:
        if state is MISSING:
            return error("not found")
        assert self.binder is not None
        try:
            volumes, reasons = self.binder.find(state.claims, node)
        except BinderError as failure:
            self._count_error("predicate", str(failure))
            return error(str(failure))
        if reasons:
            return unresolvable(*reasons)
        state.by_node[node.name] = volumes
        return SUCCESS

    def pre_score(self, pod: PodInfo, nodes: Nodes) -> "VolumeState | Status":
        if self._capacity_score is None:
            return SKIP
        uid, state = self._filtering
        return state if uid == pod.uid else _NO_VOLUMES

    def domain_terms(self, pod: PodInfo, table: NodeTable) -> list[DomainTerm] | None:
        """None: `pre_score` always skips, unless capacity is scored."""
        return [] if self._capacity_score is None else None

    def scores_nothing(self, pod: PodInfo) -> bool:
        """Whether `pre_score` passes and no node gets a score, whatever pods there are: without volumes, none is used.

        Where capacity is not scored, `pre_score` skips instead.
        """
        return self._capacity_score is not None and self.skips_shape(pod.shape)

    def score(self, pod: PodInfo, nodes: Nodes, state: object) -> NDArray[np.int64] | None:
        score = self._capacity_score
        if score is None or not isinstance(state, VolumeState) or not state.by_node:
            return None
        scores = np.zeros(len(nodes), np.int64)
        for place in range(len(nodes)):
            volumes = state.by_node.get(nodes[place].name) if nodes.is_there(place) else None
            scores[place] = 0 if volumes is None else score(volumes)
        return scores

    def reserve(self, pod: PodInfo, node: NodeInfo, state: VolumeState | None) -> Status | None:
        if isinstance(state, VolumeState) and node.name in state.by_node:
            assert self.binder is not None
            state.assumed = self.binder.assume(pod, node.name, state.by_node[node.name])
        return None

    def unreserve(self, pod: PodInfo, node: NodeInfo, state: VolumeState | None) -> None:
        if isinstance(state, VolumeState) and state.assumed is not None:
            assert self.binder is not None
            self.binder.revert(state.assumed)

    def pre_bind_pre_flight(self, pod: PodInfo, node: NodeInfo, state: VolumeState | None) -> Status | None:
        return None if isinstance(state, VolumeState) and state.assumed is not None else SKIP

    def pre_bind(self, pod: PodInfo, node: NodeInfo, state: VolumeState | None) -> Status | Poll | None:
        """Writes the bindings; the pod waits for the volume controller."""
        if not isinstance(state, VolumeState) or state.assumed is None or self.handle.client is None:
            return None
        assert self.binder is not None
        volumes = state.assumed
        try:
            self.binder.write(self.handle.client, volumes)
        except StatusError as failure:
            self._count_error("bind", str(failure))
            return error(str(failure))
        return Poll(
            lambda: self._check(pod, node, volumes),
            frozenset((("Pod", pod.namespace, pod.name), ("Node", "", node.name), *watched_objects(volumes))),
            SECOND,
            self.bind_timeout,
            "binding volumes: context deadline exceeded",
            finished=lambda failure: self._count_error("bind", failure),
        )

    def _count_error(self, stage: str, failure: str) -> None:
        if failure:
            self.handle.metrics.inc("volume_scheduling_stage_error_total", stage)

    def _check(self, pod: PodInfo, node: NodeInfo, volumes: PodVolumes) -> Status | None:
        """Whether the volume controller is done with all claims."""
        assert self.binder is not None
        try:
            return SUCCESS if self.binder.check_written(pod, node.name, volumes) else None
        except BinderError as failure:
            return error(f"binding volumes: {failure}")
