"""What both controllers read: Services, the pods that they select, and when these changed.

Upstream: k8s.io/endpointslice/util (controller_utils.go, trigger_time_tracker.go) and utils.go (v1.36).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address

import msgspec

from seatrial.controllers.framework.controller import Context, Key, Listener, QueueController
from seatrial.controllers.framework.selectors import SelectorIndex
from seatrial.model.documents import Document
from seatrial.model.kinds import Kind
from seatrial.model.label_selectors import LabelSelector
from seatrial.model.times import MILLISECOND, parse_time, to_time
from seatrial.store import Change, Condition, View

ENDED = ("Succeeded", "Failed")
HEADLESS = "service.kubernetes.io/headless"
TRIGGER_TIME = "endpoints.kubernetes.io/last-change-trigger-time"
COST_OF_A_POD = MILLISECOND // 10
"""How long, for each pod of a Service, its next sync waits in real time: a rollout of thousands of pods would
otherwise sync after each of them."""
NOTHING = LabelSelector.from_document(None)


class Port(msgspec.Struct, rename="camel"):
    container_port: int = 0
    name: str = ""
    protocol: str = "TCP"


class Container(msgspec.Struct, rename="camel"):
    ports: list[Port] = []
    restart_policy: str = ""


class PodMeta(msgspec.Struct, rename="camel"):
    name: str
    namespace: str = ""
    uid: str = ""
    labels: dict[str, str] = {}
    deletion_timestamp: str | None = None


class PodSpec(msgspec.Struct, rename="camel"):
    node_name: str = ""
    hostname: str = ""
    subdomain: str = ""
    containers: list[Container] = []
    init_containers: list[Container] = []


class Address(msgspec.Struct):
    ip: str = ""


class PodStatus(msgspec.Struct, rename="camel"):
    phase: str = ""
    pod_ips: list[Address] = msgspec.field(name="podIPs", default_factory=list)
    conditions: list[Condition] = []


class ServicePod(msgspec.Struct):
    """The fields of a pod that its endpoints depend on."""

    metadata: PodMeta
    spec: PodSpec = msgspec.field(default_factory=PodSpec)
    status: PodStatus = msgspec.field(default_factory=PodStatus)

    @property
    def is_terminating(self) -> bool:
        return self.metadata.deletion_timestamp is not None

    @property
    def ready(self) -> Condition | None:
        return next((condition for condition in self.status.conditions if condition.type == "Ready"), None)

    @property
    def is_ready(self) -> bool:
        ready = self.ready
        return ready is not None and ready.status == "True"

    @property
    def addresses(self) -> list[str]:
        return [entry.ip for entry in self.status.pod_ips if entry.ip]

    def belongs(self, *, terminating: bool) -> bool:
        """Whether the pod has endpoints; terminating ones have where they are asked for."""
        return self.status.phase not in ENDED and bool(self.addresses) and (terminating or not self.is_terminating)

    def has_hostname_for(self, service: Document) -> bool:
        return bool(self.spec.hostname) and self.spec.subdomain == service["metadata"]["name"]

    def reference(self) -> Document:
        meta = self.metadata
        return {"kind": "Pod", "name": meta.name, "namespace": meta.namespace, "uid": meta.uid}

    def port(self, service_port: Document) -> int | None:
        """The number of the pod's port that a port of a Service stands for."""
        target = service_port.get("targetPort")
        if isinstance(target, int):
            return target
        sidecars = [container for container in self.spec.init_containers if container.restart_policy == "Always"]
        for container in (*self.spec.containers, *sidecars):
            for port in container.ports:
                if port.name == target and port.protocol == service_port.get("protocol", "TCP"):
                    return port.container_port
        return None


def of_family(addresses: Iterable[str], family: str) -> list[str]:
    """The addresses of a family: IPv4 or IPv6."""
    return [address for address in addresses if f"IPv{ip_address(address).version}" == family]


def is_headless(service: Document) -> bool:
    return service["spec"].get("clusterIP", "") in ("", "None")


@dataclass(slots=True)
class TriggerTimes:
    """When a Service and its pods changed last, as far as it was seen."""

    service: int = -1
    pods: dict[str, int] = field(default_factory=dict)

    def next_change(self, service: Document, pods: Iterable[ServicePod]) -> int | None:
        """The first change since the last call; for a new Service its creation."""
        is_new, created = self.service < 0, parse_time(service["metadata"]["creationTimestamp"])
        times = {pod.metadata.name: when for pod in pods if (when := _changed_at(pod)) is not None}
        changed = [when for name, when in times.items() if when > self.pods.get(name, -1)]
        changed += [created] if created > self.service else []
        self.service, self.pods = created, times
        return created if is_new else min(changed, default=None)


def _changed_at(pod: ServicePod) -> int | None:
    ready = pod.ready
    return parse_time(ready.last_transition_time) if ready is not None and ready.last_transition_time else None


class ServiceController(QueueController):
    """A controller whose objects are derived from Services and the pods that they select."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.services = context.kind("v1", "Service")
        self.pods = context.kind("v1", "Pod")
        self._selectors = SelectorIndex(self.store, self.services, _selector)
        self._trigger_times: dict[Key, TriggerTimes] = {}
        self._not_before: dict[Key, int] = {}

    def watches(self) -> Mapping[Kind, Listener]:
        return {self.services: self._service_changed, self.pods: self._pod_changed}

    def owners(self) -> Iterable[Kind]:
        return [self.services]

    def start(self) -> None:
        self._selectors.start()
        super().start()

    def stop(self) -> None:
        super().stop()
        self._selectors.stop()
        self._trigger_times.clear()
        self._not_before.clear()

    def sync(self, key: Key) -> None:
        stored = self.store.find(self.services, key[1], key[0])
        if stored is None:
            self._trigger_times.pop(key, None)
            self._not_before.pop(key, None)
            self.forget(key)
            return
        service = stored.document()
        if service["spec"].get("type") == "ExternalName" or not service["spec"].get("selector"):
            return
        selector = self._selectors.get(*key) or NOTHING
        pods = [SERVICE_POD.read(found) for found in self.store.list(self.pods, key[0], selector)]
        changed = self._trigger_times.setdefault(key, TriggerTimes()).next_change(service, pods)
        self._not_before[key] = self.clock.now() + len(pods) * COST_OF_A_POD
        self.reconcile(service, pods, to_time(changed) if changed is not None else "")

    def forget(self, key: Key) -> None:
        """A Service is gone."""

    def reconcile(self, service: Document, pods: list[ServicePod], changed: str) -> None:
        """Bring the objects of a Service in line with its pods."""
        raise NotImplementedError

    def _soon(self, key: Key) -> None:
        """Enqueue a Service; in real time not sooner than its size allows."""
        wait = self._not_before.get(key, 0) - self.clock.now() if self.context.is_live else 0
        if wait > 0:
            self.enqueue_after(key, wait)
        else:
            self.enqueue(key)

    def _service_changed(self, change: Change) -> None:
        self._selectors.changed(change)
        self.enqueue((change.stored.namespace, change.stored.name))

    def _pod_changed(self, change: Change) -> None:
        namespace = change.stored.namespace
        if self._selectors.is_empty(namespace):
            return
        new = SERVICE_POD.read(change.stored) if change.type != "DELETED" else None
        old = SERVICE_POD.read(change.previous) if change.previous is not None else None
        if new is not None and old is not None and _endpoints_of(old) == _endpoints_of(new):
            return
        names: dict[str, None] = {}
        for pod in (old, new if new is not None else SERVICE_POD.read(change.stored)):
            if pod is not None:
                names |= dict.fromkeys(self._selectors.matching(namespace, pod.metadata.labels))
        for name in names:
            self._soon((namespace, name))


SERVICE_POD = View(ServicePod)


def _endpoints_of(pod: ServicePod) -> tuple[object, ...]:
    """What of a pod its endpoints show."""
    meta, spec = pod.metadata, pod.spec
    shown = meta.labels, meta.deletion_timestamp, spec.hostname, spec.subdomain
    return (*shown, pod.status.phase in ENDED, pod.is_ready, pod.addresses)


def _selector(service: Document) -> LabelSelector:
    labels = service["spec"].get("selector")
    return LabelSelector.from_document({"matchLabels": labels}) if labels else NOTHING
