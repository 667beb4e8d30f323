"""Replays a recorded case and says what came out, field by field as it was recorded."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cmp_to_key
from typing import Any

from seatrial.model.documents import Document
from seatrial.model.quantity import canonical_quantity
from seatrial.scheduler.cache import PodInfo
from seatrial.scheduler.config import Configuration, ConfigurationError, load_configuration, write_config
from seatrial.scheduler.framework import Framework, Handle, Status
from seatrial.scheduler.plugins import DefaultPreemption, Registry
from seatrial.scheduler.schedule_one import Algorithm, Attempt, TieBreak
from seatrial.scheduler.versions import DEFAULT, Version, find_version
from seatrial.verify.admission import admit, admitted_fields
from seatrial.verify.attempts import AttemptWriter, status_document
from seatrial.verify.cases import Case
from seatrial.verify.comparing import first_difference
from seatrial.verify.recorded_cluster import FIRST_START, World

MOST_ATTEMPTS = 3


UNNAMED = "1.36"
"""The version of cases that name none."""


def difference(case: Case, version: Version | None = None) -> str | None:
    """The first difference between a recorded case and its replay, by the version that it names or another one."""
    actual = replay(case.input, version or find_version(case.expected.get("kubernetes") or UNNAMED))
    expected = dict(case.expected)
    error = expected.get("configError")
    if error and error["stage"] == "decode":
        expected["configError"] = {"stage": "decode"}
        if "configError" in actual:
            actual["configError"].pop("message", None)
    return first_difference(expected, actual)


def replay(case: Document, version: Version = DEFAULT) -> Document:
    """Runs a case from its manifests."""
    out: Document = {"kubernetes": version.release}
    gates = case.get("featureGates")
    try:
        configuration = load_configuration(case.get("config"), versions="upstream", gates=gates, version=version)
    except ConfigurationError as error:
        out["configError"] = {"stage": error.stage, "message": error.message}
        return out
    out["profiles"] = [profile.resolved() for profile in configuration.profiles]
    out["writeConfig"] = write_config(configuration)
    objects = admit(case.get("objects") or (), configuration.gates)
    queue = [name if "/" in name else f"default/{name}" for name in case.get("queue") or ()]
    run = Replay(configuration, World(objects, queue, configuration), bool(case.get("sampling")))
    run.world.nodes.refresh()
    changed = {
        f"{document['metadata']['namespace']}/{document['metadata']['name']}": fields
        for document in objects
        if document["kind"] == "Pod" and (fields := admitted_fields(document)) is not None
    }
    return out | _nonempty(
        nodeOrder=run.world.nodes.names(),
        queueSortOrder=run.queue_order(queue),
        admitted=changed,
        pods=[run.schedule(name) for name in queue],
    )


@dataclass(slots=True)
class _Queued:
    pod: PodInfo
    timestamp: int


class Replay:
    """A scheduler without its queue: pods come in the order of the case."""

    def __init__(self, configuration: Configuration, world: World, sampling: bool) -> None:
        self.world = world
        self.sampling = sampling
        self.knows_start = True
        gates, version = configuration.gates, configuration.version
        self.throws_dice = version.rules.throws_dice_for_ties
        handle = Handle(world, world.nodes, world.nominator, world, gates, lambda: FIRST_START, version=version)
        self.frameworks = {
            profile.name: Framework.build(profile, Registry(), handle) for profile in configuration.profiles
        }
        for framework in self.frameworks.values():
            for plugin in framework.points.get("postFilter", ()):
                if isinstance(plugin, DefaultPreemption):
                    plugin.tries_all = True
        self.algorithm = Algorithm(
            world.nodes,
            world.nominator,
            percentage=configuration.percentage_of_nodes_to_score,
            tie_break=TieBreak("name"),
            search_all=not sampling,
            score_always=True,
            stops_at_errors=False,
        )

    def queue_order(self, queue: Sequence[str]) -> list[str]:
        """The queue as the QueueSort plugin orders it."""
        plugin: Any = next(iter(self.frameworks.values())).points["queueSort"][0]
        queued = [_Queued(self.world.pods[name], place) for place, name in enumerate(queue)]
        ordered = sorted(queued, key=cmp_to_key(lambda a, b: -1 if plugin.less(a, b) else int(plugin.less(b, a))))
        return [entry.pod.key for entry in ordered]

    def schedule(self, name: str) -> Document:
        """Takes one pod through its attempts until it is bound or nothing more can be done."""
        pod = self.world.pods[name]
        result: Document = {"pod": name}
        framework = self.frameworks.get(pod.shape.scheduler_name)
        if framework is None:
            return result | {"outcome": "noProfile"}
        result["profile"] = framework.name
        if pod.deleting:
            return result | {"outcome": "deleting"}
        gate = framework.run_pre_enqueue(pod)
        if not gate.is_success:
            return result | {
                "outcome": "gated",
                "preEnqueue": {gate.plugin: status_document(gate, signed=False)},
            }
        result["attempts"] = []
        while len(result["attempts"]) < MOST_ATTEMPTS:
            attempt = self._attempt(framework, pod, result["attempts"])
            if attempt.is_error:
                return result | {"outcome": "error"}
            if attempt.node:
                bound = self._bind(framework, attempt)
                return result | {"outcome": "scheduled", "node": attempt.node} | bound
            pod, goes_on = self._after_failure(pod, attempt)
            if not goes_on:
                break
        return result | {"outcome": "unschedulable"}

    def _attempt(self, framework: Framework, pod: PodInfo, attempts: list[Document]) -> Attempt:
        start = self.algorithm.start
        self.world.deallocated = []
        self.world.nodes.refresh()
        apart = framework.run_pre_filter(pod, self.world.nodes.all()).cycle
        attempt = self.algorithm.schedule(framework, pod, lambda visited: True)
        if attempt.pre_filter.status.is_success:
            failed_early = attempt.is_error and attempt.scored is None
            self.knows_start &= not failed_early and (self.sampling or bool(framework.scorers))
        writer = AttemptWriter(self.algorithm, framework, self.knows_start, start, apart, self.throws_dice)
        document = writer.write(attempt)
        if self.world.deallocated:
            document["postFilter"]["deallocated"] = self.world.deallocated
        attempts.append(document)
        return attempt

    def _after_failure(self, pod: PodInfo, attempt: Attempt) -> tuple[PodInfo, bool]:
        """Carries out what PostFilter decided; whether the pod is tried again at once."""
        result = attempt.post_filter
        nominated = "" if result is None else result.nominated_node
        pod = self.world.nominate(pod, pod.nominated_node if nominated is None else nominated)
        if result is None or not result.nominated_node:
            return pod, bool(self.world.deallocated)
        self.world.evict(result.nominated_node, result.victims, pod)
        return pod, True

    def _bind(self, framework: Framework, attempt: Attempt) -> Document:
        """Reserves and binds volumes and devices, then the pod; what that did to claims."""
        pod, world = attempt.pod, self.world
        node = world.nodes.find(attempt.node)
        assert node is not None
        before = world.bound_claims()
        claims = _claims_of(pod, world)
        free = [key for key in claims if _allocation(world, key) is None]
        for name in ("DynamicResources", "VolumeBinding"):
            plugin: Any = framework.plugin(name)
            if plugin is None or name not in attempt.cycle.states:
                continue
            state = attempt.cycle.of(name)
            for step in (plugin.reserve, plugin.pre_bind):
                status = step(pod, node, state)
                if status is not None and not isinstance(status, Status):
                    continue  # the recording made these writes, and did not wait for what came of them
                assert status is None or status.is_success or status.code.text == "Skip", f"{name}: {status}"
        world.bind(pod, attempt.node)
        after = world.bound_claims()
        return _nonempty(
            volumeBindings={claim: volume for claim, volume in after.items() if before.get(claim) != volume},
            **_claim_result(pod, world, claims, free),
        )


def _claims_of(pod: PodInfo, world: World) -> list[str]:
    """The resource claims of a pod that exist, as namespace/name."""
    generated = {entry["name"]: entry.get("resourceClaimName") for entry in pod.status.get("resourceClaimStatuses", ())}
    names = [
        entry.get("resourceClaimName") or generated.get(entry["name"]) for entry in pod.spec.get("resourceClaims") or ()
    ]
    return [f"{pod.namespace}/{name}" for name in names if name and world.get("ResourceClaim", name, pod.namespace)]


def _allocation(world: World, key: str) -> Document | None:
    namespace, _, name = key.partition("/")
    claim = world.get("ResourceClaim", name, namespace) or {}
    allocation: Document | None = (claim.get("status") or {}).get("allocation")
    return allocation


def _claim_result(pod: PodInfo, world: World, claims: Sequence[str], free: Sequence[str]) -> Document:
    allocations: Document = {}
    selectors: Document = {}
    for key in free:
        allocation = _allocation(world, key)
        if allocation is None:
            continue
        allocations[key] = [_device(entry) for entry in (allocation.get("devices") or {}).get("results") or ()]
        if allocation.get("nodeSelector") is not None:
            selectors[key] = allocation["nodeSelector"]
    reserved = set()
    for key in claims:
        namespace, _, name = key.partition("/")
        claim = world.get("ResourceClaim", name, namespace) or {}
        holders = (claim.get("status") or {}).get("reservedFor") or ()
        if any(holder.get("uid") == pod.uid for holder in holders):
            reserved.add(key)
    return {"claimAllocations": allocations, "claimNodeSelectors": selectors, "reservedClaims": sorted(reserved)}


def _device(entry: Document) -> Document:
    device = {field: entry.get(field, "") for field in ("request", "driver", "pool", "device")}
    if entry.get("adminAccess"):
        device["adminAccess"] = True
    if entry.get("consumedCapacity"):
        device["consumedCapacity"] = {n: canonical_quantity(q) for n, q in entry["consumedCapacity"].items()}
    return device


def _nonempty(**fields: Any) -> Document:
    return {name: value for name, value in fields.items() if value}
