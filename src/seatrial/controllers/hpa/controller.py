"""HorizontalPodAutoscaler: sets replicas from usage, every 15 seconds of virtual time. Off by default.

Upstream: pkg/controller/podautoscaler/horizontal.go (v1.36). Resource and ContainerResource metrics come from `usage`;
other metrics have no source here, which a condition reports.
"""

from collections.abc import Iterable, Mapping
from typing import ClassVar

from seatrial.controllers.framework.conditions import find_condition
from seatrial.controllers.framework.controller import Context, Key, Listener, QueueController
from seatrial.controllers.framework.pod_control import set_status
from seatrial.controllers.hpa.behavior import UNHURRIED, Memory, limited, rules_of, stabilized
from seatrial.controllers.hpa.replicas import NoProposal, Proposal, Sample, by_average, by_utilization
from seatrial.controllers.usage import container_usage, pod_usage
from seatrial.model.documents import Document
from seatrial.model.errors import StatusError
from seatrial.model.kinds import Kind
from seatrial.model.label_selectors import LabelSelector
from seatrial.model.quantity import Quantity, quantity_milli
from seatrial.model.times import SECOND, to_time
from seatrial.store import Change, Stored

PERIOD = 15 * SECOND
SOURCES = {"Resource": "resource", "ContainerResource": "containerResource"}


class HorizontalPodAutoscaler(QueueController):
    """Sets the scale of workloads."""

    name: ClassVar[str] = "hpa"
    component: ClassVar[str] = "horizontal-pod-autoscaler"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.kind = context.kind("autoscaling/v2", "HorizontalPodAutoscaler")
        self._pods = context.kind("v1", "Pod")
        self._memories: dict[Key, Memory] = {}

    def watches(self) -> Mapping[Kind, Listener]:
        return {self.kind: self._changed}

    def owners(self) -> Iterable[Kind]:
        return [self.kind]

    def stop(self) -> None:
        super().stop()
        self._memories.clear()

    def sync(self, key: Key) -> None:
        stored = self.store.find(self.kind, key[1], key[0])
        if stored is None:
            self._memories.pop(key, None)
            return
        Reconciliation(self, stored, self._memories.setdefault(key, Memory())).reconcile()
        self.enqueue_after(key, PERIOD)

    def scale_of(self, hpa: Document) -> tuple[Kind, Document]:
        """The target of an autoscaler and its Scale; a StatusError if the target does not exist."""
        reference = hpa["spec"]["scaleTargetRef"]
        kind = self.context.kind(reference.get("apiVersion", "v1"), reference["kind"])
        return kind, self.store.scale(kind, reference["name"], hpa["metadata"]["namespace"])

    def set_scale(self, kind: Kind, scale: Document, replicas: int) -> None:
        body = scale | {"spec": {"replicas": replicas}}
        namespace = scale["metadata"]["namespace"]
        self.store.update(kind, body, namespace=namespace, subresource="scale", writer=self.name)

    def samples(self, namespace: str, selector: LabelSelector, source: Document) -> list[Sample]:
        """The pods of a target with what they use of a resource, in one container or in all."""
        found = []
        for stored in self.store.list(self._pods, namespace, selector):
            pod = stored.document()
            phase = pod.get("status", {}).get("phase")
            ready = find_condition(pod.get("status", {}), "Ready")
            found.append(
                Sample(
                    used=_used(pod, source),
                    requested=_requested(pod, source),
                    is_ready=phase == "Running" and ready is not None and ready["status"] == "True",
                    is_ignored="deletionTimestamp" in pod["metadata"] or phase == "Failed",
                )
            )
        return found

    def _changed(self, change: Change) -> None:
        if change.subresource != "status":
            self.enqueue_changed(change)


class Reconciliation:
    """One reconciliation of one autoscaler."""

    def __init__(self, controller: HorizontalPodAutoscaler, stored: Stored, memory: Memory) -> None:
        self._controller = controller
        self._stored = stored
        self._memory = memory
        self._hpa = stored.document()
        self._spec: Document = self._hpa["spec"]
        self._now = controller.clock.now()
        before = self._hpa.get("status", {})
        self._status: Document = {key: before[key] for key in ("lastScaleTime", "conditions") if key in before}
        self._status["desiredReplicas"] = before.get("desiredReplicas", 0)
        self._metrics: list[Document] = []

    def reconcile(self) -> None:
        try:
            kind, scale = self._controller.scale_of(self._hpa)
        except (StatusError, LookupError) as error:
            why = f"the HPA controller was unable to get the target's current scale: {error}"
            self._condition("AbleToScale", False, "FailedGetScale", why)
            self._write()
            return
        why = "the HPA controller was able to get the target's current scale"
        self._condition("AbleToScale", True, "SucceededGetScale", why)
        current: int = scale["spec"].get("replicas", 0)
        if not self._memory.recommendations:
            self._memory.recommendations.append((self._now, current))
        desired = self._desired(scale, current)
        if desired is not None and desired != current:
            self._controller.set_scale(kind, scale, desired)
            why = f"the HPA controller was able to update the target scale to {desired}"
            self._condition("AbleToScale", True, "SucceededRescale", why)
            self._memory.scaled(self._now, desired - current)
            self._status["lastScaleTime"] = to_time(self._now)
        self._status["currentReplicas"] = current
        if desired is not None:
            self._status["desiredReplicas"] = desired
        if self._metrics:
            self._status["currentMetrics"] = self._metrics
        self._write()

    def _desired(self, scale: Document, current: int) -> int | None:
        """The desired replicas; None where no metric is available."""
        least, most = self._spec.get("minReplicas", 1), self._spec["maxReplicas"]
        if current == 0 and least != 0:
            why = "scaling is disabled since the replica count of the target is zero"
            self._condition("ScalingActive", False, "ScalingDisabled", why)
            return current
        if not least <= current <= most:
            return int(min(max(current, least), most))
        wished = self._wish(scale, current)
        if wished is None:
            return None
        rules = rules_of(self._spec.get("behavior"))
        calm = stabilized(self._memory, rules, current, wished, self._now)
        if calm == wished:
            self._condition("AbleToScale", True, "ReadyForNewScale", "recommended size matches current size")
        else:
            word, other = ("Up", "low") if wished >= current else ("Down", "high")
            why = (
                f"recent recommendations were {other}er than current one, applying the {other}est recent recommendation"
            )
            self._condition("AbleToScale", True, f"Scale{word}Stabilized", why)
        chosen, reason, why = limited(self._memory, rules, (least, most), current, calm, self._now)
        self._condition("ScalingLimited", reason != UNHURRIED[0], reason, why)
        return chosen

    def _wish(self, scale: Document, current: int) -> int | None:
        """The highest proposal of all metrics; fewer replicas only if every metric can be read."""
        selector = LabelSelector.parse(scale["status"].get("selector", ""))
        proposals: list[tuple[int, str]] = []
        failure: tuple[str, str] | None = None
        for metric in self._spec.get("metrics", []):
            try:
                proposals.append(self._propose(metric, selector, current))
            except NoProposal as error:
                reason = f"FailedGet{metric['type']}Metric"
                failure = failure or (reason, f"the HPA was unable to compute the replica count: {error}")
        best = max(proposals, key=lambda proposal: proposal[0], default=None)
        if best is None or (failure is not None and best[0] < current):
            if failure is not None:
                self._condition("ScalingActive", False, *failure)
            return None
        why = f"the HPA was able to successfully calculate a replica count from {best[1]}"
        self._condition("ScalingActive", True, "ValidMetricFound", why)
        return best[0]

    def _propose(self, metric: Document, selector: LabelSelector, current: int) -> tuple[int, str]:
        field = SOURCES.get(metric["type"])
        if field is None:
            raise NoProposal(f"there is no source for metrics of type {metric['type']}")
        source = metric[field]
        target, resource = source["target"], source["name"]
        samples = self._controller.samples(self._hpa["metadata"]["namespace"], selector, source)
        if target["type"] == "Utilization":
            proposal = by_utilization(current, target["averageUtilization"], samples, resource)
        else:
            proposal = by_average(current, quantity_milli(target["averageValue"]), samples)
        self._metrics.append({"type": metric["type"], field: _shown(source, proposal)})
        label = f"{resource} container resource" if field == "containerResource" else f"{resource} resource"
        how = "utilization (percentage of request)" if target["type"] == "Utilization" else ""
        return proposal.replicas, f"{label} {how}".rstrip()

    def _condition(self, kind: str, is_true: bool, reason: str, message: str) -> None:
        """Conditions stay where they are; the time moves with the status only."""
        wanted = "True" if is_true else "False"
        fresh = {
            "type": kind,
            "status": wanted,
            "lastTransitionTime": to_time(self._now),
            "reason": reason,
            "message": message,
        }
        conditions = self._status.setdefault("conditions", [])
        for place, condition in enumerate(conditions):
            if condition["type"] == kind:
                if condition["status"] == wanted:
                    fresh["lastTransitionTime"] = condition["lastTransitionTime"]
                conditions[place] = fresh
                return
        conditions.append(fresh)

    def _write(self) -> None:
        set_status(self._controller.context, self._stored, self._status, self._controller.name)


def _used(pod: Document, source: Document) -> int:
    resource = source["name"]
    if source.get("container"):
        return container_usage(pod).get(source["container"], {}).get(resource, 0)
    return pod_usage(pod).get(resource, 0)


def _requested(pod: Document, source: Document) -> int | None:
    total = 0
    for container in pod["spec"].get("containers", []):
        if source.get("container") in (None, container["name"]):
            amount = container.get("resources", {}).get("requests", {}).get(source["name"])
            if amount is None:
                return None
            total += quantity_milli(amount)
    return total


def _shown(source: Document, proposal: Proposal) -> Document:
    current: Document = {"averageValue": str(Quantity.parse(f"{proposal.average}m"))}
    if proposal.utilization is not None:
        current["averageUtilization"] = proposal.utilization
    kept = {key: source[key] for key in ("name", "container") if key in source}
    return kept | {"current": current}
