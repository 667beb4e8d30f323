"""All controllers by name, in the order in which they run."""

from collections.abc import Iterable

from seatrial.clock import Clock
from seatrial.controllers.clusterroleaggregation import ClusterRoleAggregation
from seatrial.controllers.cronjob.controller import CronJob
from seatrial.controllers.daemonset.controller import DaemonSet
from seatrial.controllers.deployment.controller import Deployment
from seatrial.controllers.drain.controller import Drain
from seatrial.controllers.endpoints.endpoint import Endpoint
from seatrial.controllers.endpoints.endpointslice import EndpointSlice
from seatrial.controllers.framework.controller import Context, Controller, Ensemble, QueueController
from seatrial.controllers.framework.events import EventRecorder
from seatrial.controllers.framework.kubelet import Kubelet
from seatrial.controllers.framework.pod_index import PodIndex
from seatrial.controllers.garbagecollector import GarbageCollector
from seatrial.controllers.hpa.controller import HorizontalPodAutoscaler
from seatrial.controllers.job.controller import Job
from seatrial.controllers.namespace import Namespace
from seatrial.controllers.node.controller import Node
from seatrial.controllers.persistentvolume.controller import PersistentVolume
from seatrial.controllers.poddisruptionbudget import PodDisruptionBudget
from seatrial.controllers.replicaset import ReplicaSet, ReplicationController
from seatrial.controllers.resourceclaim import ResourceClaim
from seatrial.controllers.resourcequota import ResourceQuota
from seatrial.controllers.serviceaccount import ServiceAccount
from seatrial.controllers.stages.stages_controller import StagesController
from seatrial.controllers.statefulset.controller import StatefulSet
from seatrial.controllers.tainteviction import TaintEviction
from seatrial.controllers.ttlafterfinished import TTLAfterFinished
from seatrial.model.errors import ConfigError
from seatrial.store import Store

CONTROLLERS: tuple[type[QueueController] | type[Ensemble], ...] = (
    Namespace,
    ServiceAccount,
    CronJob,
    HorizontalPodAutoscaler,
    Deployment,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
    DaemonSet,
    Job,
    PersistentVolume,
    ResourceClaim,
    PodDisruptionBudget,
    TTLAfterFinished,
    Node,
    TaintEviction,
    Drain,
    StagesController,
    Endpoint,
    EndpointSlice,
    GarbageCollector,
    ResourceQuota,
    ClusterRoleAggregation,
)
OFF_BY_DEFAULT = frozenset({"cronjob", "hpa", "clusterroleaggregation", "endpoint", "endpointslice"})
"""Controllers that a run has only where they are asked for: KEP-140 says so of those that act by the clock alone, and
no scheduling depends on the others."""


def controller_names() -> list[str]:
    return [controller.name for controller in CONTROLLERS]


def build_controllers(
    store: Store,
    clock: Clock,
    names: Iterable[str] | None = None,
    *,
    kubelet: Kubelet | None = None,
    events: EventRecorder | None = None,
) -> list[Controller]:
    """The controllers of these names (all but the ones off by default), not yet started."""
    wanted = set(names) if names is not None else set(controller_names()) - OFF_BY_DEFAULT
    unknown = sorted(wanted - set(controller_names()))
    if unknown:
        raise ConfigError("", "controllers", f"{unknown[0]!r} is not known; known are {', '.join(controller_names())}")
    context = Context(store, clock, PodIndex(store), kubelet, events)
    return [controller(context) for controller in CONTROLLERS if controller.name in wanted]
