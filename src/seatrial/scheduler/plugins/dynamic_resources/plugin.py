"""DynamicResources: the claims of the pod can be allocated, or are usable, on the node.

Upstream: pkg/scheduler/framework/plugins/dynamicresources (v1.36.3), with its default feature gates: prioritized lists,
device taints, partitionable devices, consumable capacity, binding conditions and extended resources are on; node
allocatable resources, list attributes and claims of pod groups are off.
"""

import numpy as np

from seatrial.model.documents import Document
from seatrial.model.durations import parse_duration
from seatrial.model.errors import StatusError
from seatrial.model.times import SECOND
from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.cache.node_table import Ints, Nodes
from seatrial.scheduler.cache.pod_info import PodInfo, PodShape
from seatrial.scheduler.dra.allocator import AllocationError, Allocator, NodeRefused
from seatrial.scheduler.dra.cycle import ClaimsState, NodeAllocation
from seatrial.scheduler.dra.extended import derive, existing_claim, is_special, new_claim, resources_for
from seatrial.scheduler.dra.pod_claims import (
    ClaimProblem,
    allocation_of,
    claims_of,
    is_reserved_for,
    reserved_for,
    uid_of,
)
from seatrial.scheduler.dra.readiness import BindingFailed, has_conditions, has_timed_out, is_ready
from seatrial.scheduler.dra.readiness_wait import ReadinessWait
from seatrial.scheduler.dra.requests import key_of
from seatrial.scheduler.dra.tracker import CONDITIONS, DeviceTracker
from seatrial.scheduler.dra.writing import (
    WriteFailed,
    bind_claim,
    create_extended_claim,
    deallocate,
    delete_claim,
    note_extended_claim,
    unreserve_claim,
)
from seatrial.scheduler.framework.interface import Handle, Plugin, Poll, PostFiltered, Rejections
from seatrial.scheduler.framework.runtime import CycleState
from seatrial.scheduler.framework.scoring import default_normalize
from seatrial.scheduler.framework.status import MISSING, SKIP, SUCCESS, Status, error, unresolvable, unschedulable
from seatrial.scheduler.plugins.dynamic_resources.arguments import ARGUMENTS
from seatrial.scheduler.plugins.dynamic_resources.hints import HINTS
from seatrial.scheduler.volumes.claims import metadata_of
from seatrial.scheduler.volumes.node_terms import selects

NOT_AVAILABLE = "resourceclaim not available on the node"
NOT_ALLOCATED = "cannot allocate all claims"
NOTHING_TO_FREE = "no new claims to deallocate"
FREED = "deallocation of ResourceClaim completed"
DELETED = "deletion of ResourceClaim completed"
STILL_NOT = "still not schedulable"
NO_STATE = "not found"
DEFAULT_BINDING_TIMEOUT = 600 * SECOND


PRIORITIZED, TIMEOUT = "DRAPrioritizedList", "DRASchedulerFilterTimeout"


class DynamicResources(Plugin):
    """Allocates devices."""

    prebinds_in_parallel = True
    arguments = ARGUMENTS
    requeues = HINTS

    def __init__(self, args: Document | None = None, handle: Handle | None = None) -> None:
        super().__init__(args, handle)
        if handle is not None:
            self.tracker: DeviceTracker = handle.shared.setdefault(
                "devices",
                DeviceTracker(handle.cluster, handle.gates, checks_pools=handle.version.rules.checks_pools),
            )
        timeout = self.args.get("bindingTimeout")
        self.binding_timeout = DEFAULT_BINDING_TIMEOUT if timeout is None else parse_duration(timeout)

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        if not pod.spec.get("resourceClaims"):
            return None
        try:
            claims_of(pod, self.handle.cluster)
        except ClaimProblem as problem:
            return unresolvable(str(problem))
        return None

    # PreFilter and Filter.

    def skips_shape(self, shape: PodShape) -> bool:
        return not shape.spec.get("resourceClaims") and not shape.requests.scalars

    def pre_filter(self, pod: PodInfo, nodes: Nodes) -> ClaimsState | Status:
        if not pod.spec.get("resourceClaims") and not pod.shape.requests.scalars:
            return SKIP
        try:
            claims = claims_of(pod, self.handle.cluster)
        except ClaimProblem as problem:
            return unresolvable(str(problem))
        user_claims = len(claims)
        extended = self._extended_claim(pod)
        if extended is not None:
            claims.append(extended)
        if not claims:
            return SKIP
        for claim in claims[:user_claims]:
            problem_found = self._check(claim) if allocation_of(claim) is None else None
            if problem_found is not None:
                return problem_found
        state = ClaimsState(claims, user_claims)
        if any(True for _ in state.to_allocate()):
            tracker = self.tracker
            gives_up = self.handle.gates.get(TIMEOUT, True)
            taken, classes = tracker.allocated(), tracker.classes.get
            state.allocator = Allocator(tracker.inventory(), taken, classes, gives_up=gives_up, rules=self.rules)
        return state

    def _extended_claim(self, pod: PodInfo) -> Document | None:
        """The claim for the pod's extended resources that devices stand for."""
        if not self.handle.gates.get("DRAExtendedResource", True):
            return None
        amounts = pod.shape.requests.scalars
        if not self.tracker.classes.backs(name for name, amount in amounts.items() if amount):
            return None
        return existing_claim(pod, self.handle.cluster.list("ResourceClaim")) or new_claim(pod)

    def _check(self, claim: Document) -> Status | None:
        """Why an unallocated claim cannot be allocated on any node."""
        if uid_of(claim) in self.tracker.in_flight:
            return unresolvable(f"resource claim {key_of(claim)} is in the process of being allocated")
        for request in (claim.get("spec") or {}).get("devices", {}).get("requests") or ():
            name = request.get("name", "")
            if request.get("exactly") is not None:
                wanted = [(name, request["exactly"])]
            elif request.get("firstAvailable") and not self.handle.gates.get(PRIORITIZED, True):
                text = f"has subrequests, but the {PRIORITIZED} feature is disabled"
                return unresolvable(f"resource claim {key_of(claim)}, request {name}: {text}")
            elif request.get("firstAvailable"):
                wanted = [(f"{name}/{sub.get('name', '')}", sub) for sub in request["firstAvailable"]]
            else:
                return unresolvable(f"resource claim {key_of(claim)}, request {name}: unknown request type")
            for full_name, one in wanted:
                device_class = one.get("deviceClassName") or ""
                if not device_class:
                    return error(f"request {full_name}: unsupported request type")
                if self.tracker.classes.get(device_class) is None:
                    return unresolvable(f"request {full_name}: device class {device_class} does not exist")
        return None

    def filter_one(self, pod: PodInfo, node: NodeInfo, state: ClaimsState) -> Status:
        if state is MISSING:
            return error(NO_STATE)
        extended: Document | None = None
        mappings: tuple[Document, ...] = ()
        if state.extended is not None:
            if (state.extended.get("spec") or {}).get("devices", {}).get("requests"):
                # Left over from an attempt that failed; PostFilter deletes it.
                return unresolvable("cannot schedule extended resource claim")
            resources = resources_for(pod, node.allocatable, self.tracker.classes)
            if resources is None:
                return unresolvable("cannot fit resource")
            if resources or state.user_claims:
                derived = derive(pod, resources, self.tracker.classes)
                extended = {**state.extended, "spec": {"devices": {"requests": list(derived.requests)}}}
                mappings = derived.mappings
            else:
                return SUCCESS
        unavailable = {place for place, claim in enumerate(state.claims) if not self._is_usable(claim, node)}
        results: list[Document] = []
        if state.allocator is not None:
            claims = [
                extended if claim is state.extended and extended is not None else claim
                for _, claim in state.to_allocate()
            ]
            try:
                found = state.allocator.allocate(node, claims)
            except NodeRefused as refusal:
                return unresolvable(str(refusal))
            except AllocationError as problem:
                return error(str(problem))
            if found is None:
                return unresolvable(NOT_ALLOCATED)
            results = found
        if unavailable:
            state.unavailable |= unavailable
            return unresolvable(NOT_AVAILABLE)
        if state.allocator is not None:
            state.by_node[node.name] = NodeAllocation(tuple(results), extended, mappings)
        return SUCCESS

    def _is_usable(self, claim: Document, node: NodeInfo) -> bool:
        """Whether an allocated claim can be used on the node; one that is not allocated can."""
        allocation = allocation_of(claim)
        if allocation is None:
            return True
        if not selects(allocation.get("nodeSelector"), node):
            return False
        if not self.handle.gates.get(CONDITIONS, True):
            return True
        try:
            return is_ready(claim) or not has_timed_out(claim, self.handle.now(), self.binding_timeout)
        except BindingFailed:
            return False

    def post_filter(self, pod: PodInfo, rejections: Rejections, cycle: CycleState) -> PostFiltered:
        state = cycle.of(self.name)
        if state is MISSING and self.name not in cycle.skipped:
            return PostFiltered(error(NO_STATE))
        client = self.handle.client
        if not isinstance(state, ClaimsState) or client is None:
            return PostFiltered(self._nothing_done(NOTHING_TO_FREE))
        try:
            # Upstream picks one of them at random.
            for place in sorted(state.unavailable):
                claim = state.claims[place]
                if claim is state.extended:
                    break
                if all(consumer.get("uid") == pod.uid for consumer in reserved_for(claim)):
                    deallocate(client, claim)
                    return PostFiltered(unschedulable(FREED), details={"deallocated": [key_of(claim)]})
            if state.extended is not None and not is_special(state.extended):
                delete_claim(client, self.handle.cluster, state.extended)
                return PostFiltered(unschedulable(DELETED))
        except (StatusError, WriteFailed) as problem:
            return PostFiltered(error(str(problem)))
        return PostFiltered(self._nothing_done(STILL_NOT))

    def _nothing_done(self, why: str) -> Status:
        return unschedulable(why) if self.rules.names_idle_post_filter else unschedulable()

    # Score.

    def score(self, pod: PodInfo, nodes: Nodes, state: ClaimsState) -> Ints | Status | None:
        if not isinstance(state, ClaimsState):
            return None if self._is_pre_filter() else error(NO_STATE)
        if not self.handle.gates.get(PRIORITIZED, True):
            return np.zeros(len(nodes), np.int64)
        if not self.rules.scores_allocated_claims:
            problem = state.score_problem(nodes[place].name for place in range(len(nodes)) if nodes.is_there(place))
            if problem:
                return error(problem)
        return np.fromiter(
            (state.score(nodes[place].name) if nodes.is_there(place) else 0 for place in range(len(nodes))),
            np.int64,
            len(nodes),
        )

    def normalize(self, pod: PodInfo, nodes: Nodes, scores: Ints, state: object) -> Ints:
        return default_normalize(scores, reverse=False)

    def _is_pre_filter(self) -> bool:
        """Whether the profile has the plugin at PreFilter; else there is no state, which is an error."""
        return self.handle.framework is None or self in self.handle.framework.points.get("preFilter", ())

    # Reserve, PreBind and Unreserve.

    def reserve(self, pod: PodInfo, node: NodeInfo, state: ClaimsState) -> Status | None:
        if not isinstance(state, ClaimsState):
            return None if self._is_pre_filter() else error(NO_STATE)
        pending = list(state.to_allocate())
        if not pending:
            return None
        allocation = state.by_node.get(node.name)
        if allocation is None or not allocation.results:
            # All its extended resources come from a device plugin.
            if all(claim is state.extended for _, claim in pending):
                return None
            return error("claim allocation not found for node")
        for (place, claim), result in zip(pending, allocation.results, strict=True):
            state.chosen[place] = result
            self.tracker.in_flight[uid_of(claim)] = result
            if claim is state.extended:
                state.extended_uid = uid_of(claim)
        return None

    def unreserve(self, pod: PodInfo, node: NodeInfo, state: ClaimsState) -> None:
        if not isinstance(state, ClaimsState):
            return
        client, cluster = self.handle.client, self.handle.cluster
        for claim in state.claims[: state.user_claims]:
            self.tracker.in_flight.pop(uid_of(claim), None)
            if client is not None and allocation_of(claim) is not None and is_reserved_for(claim, pod):
                unreserve_claim(client, cluster, claim, pod)
        if state.extended is not None:
            self.tracker.in_flight.pop(state.extended_uid, None)
            if client is not None and not is_special(state.extended):
                try:
                    delete_claim(client, cluster, state.extended)
                except (StatusError, WriteFailed):
                    # Upstream logs it: PostFilter of the next attempt deletes the claim.
                    return

    def pre_bind_pre_flight(self, pod: PodInfo, node: NodeInfo, state: ClaimsState) -> Status | None:
        return None if isinstance(state, ClaimsState) else SKIP

    def pre_bind(self, pod: PodInfo, node: NodeInfo, state: ClaimsState) -> Status | Poll | None:
        if not isinstance(state, ClaimsState) or self.handle.client is None:
            return None
        try:
            for place, claim in enumerate(list(state.claims)):
                if not is_reserved_for(claim, pod):
                    state.claims[place] = self._bind(pod, node, state, place)
        except WriteFailed as problem:
            return error(str(problem))
        if not has_conditions(state.claims) or not self.handle.gates.get(CONDITIONS, True):
            return None
        note = f"waiting for binding conditions for device on node {node.name}"
        self.handle.report_event(pod, "Normal", "BindingConditionsPending", "Scheduling", note)
        wait = ReadinessWait(self.handle, state.claims, pod.shape.scheduler_name, self.binding_timeout)
        status = wait.check()
        if status is None:
            return wait.poll()
        wait.finished(status.message)
        return status

    def _bind(self, pod: PodInfo, node: NodeInfo, state: ClaimsState, place: int) -> Document:
        client, cluster, claim = self.handle.client, self.handle.cluster, state.claims[place]
        assert client is not None
        allocation, is_extended = state.chosen.get(place), claim is state.extended
        if is_extended and allocation is None:
            return claim
        in_flight = uid_of(claim)
        try:
            if is_extended and is_special(claim):
                wanted = state.by_node[node.name].extended_claim
                if wanted is None:
                    raise WriteFailed(f"extended resource claim not found for node {node.name}")
                claim = state.claims[place] = self._create(wanted)
            bound = bind_claim(client, cluster, claim, allocation, pod, self.handle.now())
        finally:
            self.tracker.in_flight.pop(in_flight, None)
        if is_extended:
            mappings = list(state.by_node[node.name].mappings)
            note_extended_claim(client, cluster, pod, metadata_of(bound).get("name", ""), mappings)
        return bound

    def _create(self, wanted: Document) -> Document:
        """Creates the claim for a pod's extended resources."""
        assert self.handle.client is not None
        count = self.handle.metrics.inc
        try:
            claim = create_extended_claim(self.handle.client, wanted)
        except WriteFailed:
            count("resourceclaim_creates_total", "failure")
            raise
        count("resourceclaim_creates_total", "success")
        return claim
