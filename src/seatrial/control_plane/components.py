"""Assembles a server: store, API, scheduler, controllers, scenarios, web pages.

`compose` is the one place that knows all packages. A new part is one function here that adds its workers, routes and
gates, and a call in `compose`.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from seatrial.control_plane.scenarios import WatchedScheduler, add_scenarios
from seatrial.control_plane.scheduler_configuration import load_or_refuse
from seatrial.control_plane.unusable_objects import ignore_unusable_objects, started
from seatrial.control_plane.volcano import add_volcano, install_volcano
from seatrial.model.defaults import GatedFields

log = logging.getLogger("seatrial.server")

if TYPE_CHECKING:
    from seatrial.clock import RealClock
    from seatrial.control_plane.outside_programs import OutsidePrograms
    from seatrial.control_plane.scheduler import EmbeddedScheduler
    from seatrial.control_plane.unusable_objects import Check
    from seatrial.outside import OutsideController
    from seatrial.scenario import ScenarioController
    from seatrial.scheduler.versions import Version
    from seatrial.server import Worker
    from seatrial.server.auth import Authority
    from seatrial.server.authorization import Authorizer
    from seatrial.server.extension_points import Gate, Routes
    from seatrial.store import Store
    from seatrial.store.durable import Durability
    from seatrial.store.snapshots import Snapshot


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of `seatrial serve`."""

    port: int = 3131
    bind_address: str = "127.0.0.1"
    ui: bool = True
    """Whether the browser interface is at `/`."""
    simulator_port: int | None = None
    """A second port, where clients of kube-scheduler-simulator look for its API."""
    cors_allowed_origins: tuple[str, ...] = ()
    data_dir: Path | None = None
    kubeconfig: Path | None = None
    insecure: bool = False
    token_file: Path | None = None
    authorization_mode: Literal["RBAC", "AlwaysAllow"] = "RBAC"
    disabled_plugins: frozenset[str] = frozenset()
    """Admission plugins that are off."""
    max_request_bytes: int = 64 * 1024 * 1024
    scheduler: bool = True
    scheduler_config: Path | None = None
    feature_gates: str = ""
    kubernetes_version: str = ""
    """The minor version of kube-scheduler; empty: the default one."""
    controllers: tuple[str, ...] | None = None
    own_controllers: tuple[str, ...] = ()
    """Modules with controllers of the user's, for scenarios."""
    record: Literal["none", "summary", "full"] = "full"
    plugins: tuple[str, ...] = ()
    outside: "tuple[OutsideController, ...]" = ()
    explain_with_model: bool = False
    strict: bool = False
    drain: bool = False
    snapshot: "Snapshot | None" = None
    """The cluster to begin with."""
    volcano: bool = False
    volcano_config: Path | None = None
    volcano_version: str = ""

    @property
    def version(self) -> "Version":
        """The record of the minor version."""
        from seatrial.scheduler.versions import DEFAULT, find_version

        return find_version(self.kubernetes_version) if self.kubernetes_version else DEFAULT


@dataclass(slots=True)
class Parts:
    """A server's parts, before it is started."""

    store: "Store"
    clock: "RealClock"
    durability: "Durability | None" = None
    authorizer: "Authorizer | None" = None
    """None where every known user may do everything."""
    workers: "list[Worker]" = field(default_factory=list)
    routes: "list[Routes]" = field(default_factory=list)
    gates: "list[Gate]" = field(default_factory=list)
    metrics: "list[Callable[[], str]]" = field(default_factory=list)
    """More pages for /metrics."""
    on_stop: "list[Callable[[], None]]" = field(default_factory=list)
    """Called when the server stops, before its connections end."""
    outside: "OutsidePrograms | None" = None
    """The programs that take part in scenarios."""
    snapshot: "Snapshot | None" = None
    """The cluster to begin with."""


def compose(settings: Settings, port: int = 443, authority: "Authority | None" = None) -> Parts:
    """Put a server together that listens on a port; without a certificate authority it signs and publishes nothing."""
    if settings.data_dir is None:
        return _composed(settings, port, authority, None)
    return started(lambda check: _composed(settings, port, authority, check))


def _composed(settings: Settings, port: int, authority: "Authority | None", check: "Check | None") -> Parts:
    parts = build_store(settings, port, check)
    try:
        _add_all(parts, settings, authority)
    except Exception:
        if parts.durability is not None:
            parts.durability.abandon()
        raise
    return parts


def _add_all(parts: Parts, settings: Settings, authority: "Authority | None") -> None:
    from seatrial.control_plane.admission_plugins import add_configured_admission
    from seatrial.server.webhooks import ConversionWebhooks

    if settings.volcano:
        install_volcano(parts)
    if settings.snapshot is not None:
        load_snapshot(parts, settings.snapshot)
    add_configured_admission(parts.store, settings.disabled_plugins)
    parts.store.versions.call_webhook = ConversionWebhooks(parts.store)
    if settings.authorization_mode == "RBAC":
        add_rbac(parts)
    scheduler = add_scheduler(parts, settings) if settings.scheduler else None
    if scheduler is None:
        chosen = load_or_refuse(None, (), settings.feature_gates, settings.kubernetes_version)
        parts.store.gated_fields = GatedFields(chosen.gates)
    add_controllers(parts, settings)
    add_compaction(parts)
    if authority is not None:
        add_authority(parts, settings, authority)
    if settings.volcano:
        add_volcano(parts, settings)
    controller = add_scenarios(parts, settings, scheduler)
    add_simulator_api(parts, scheduler, controller)
    add_metrics_api(parts)


def build_store(settings: Settings, port: int = 443, check: "Check | None" = None) -> Parts:
    """The store, in memory or durable, with what every cluster has; `check` takes out stored objects."""
    from seatrial.clock import RealClock
    from seatrial.control_plane.bootstrap import bootstrap
    from seatrial.control_plane.bootstrap.service import create_service, create_token_tracking
    from seatrial.controllers.stages import serve_stages
    from seatrial.scenario import empty_store, follow, furnish
    from seatrial.server import RandomIdentities
    from seatrial.store import EventExpiry
    from seatrial.store.durable import Durability
    from seatrial.store.mvcc import Packing

    clock = RealClock()
    store = empty_store(clock, RandomIdentities(), disabled_plugins=settings.disabled_plugins, packing=Packing())
    follow(store, settings.version)
    serve_stages(store)
    durability = Durability(store, settings.data_dir / "store") if settings.data_dir is not None else None
    try:
        if check is not None:
            ignore_unusable_objects(store, check)
        EventExpiry(store)
        furnish(store)
        bootstrap(store)
        create_service(store, port)
        create_token_tracking(store)
        if durability is not None:
            durability.sync()
    except Exception:
        if durability is not None:
            durability.abandon()
        raise
    return Parts(store, clock, durability)


def load_snapshot(parts: Parts, snapshot: "Snapshot") -> None:
    """Begin with the objects of a file; a durable store that has objects keeps what it has."""
    from seatrial.store.snapshots import restore_cluster

    nodes = parts.store.kinds.named("v1", "Node")
    parts.snapshot = snapshot
    if nodes is None or not parts.store.list(nodes):
        for note in snapshot.notes:
            log.warning("%s: %s", snapshot.path, note)
        restore_cluster(parts.store, snapshot.documents, "snapshot", snapshot.path)


def add_rbac(parts: Parts) -> None:
    """RBAC decides what users may do, and which rights they may grant."""
    from seatrial.server.authorization import EscalationCheck, RbacAuthorizer, SignerCheck

    parts.authorizer = authorizer = RbacAuthorizer(parts.store)
    parts.store.admission = SignerCheck(EscalationCheck(parts.store.admission, authorizer), authorizer)


def add_scheduler(parts: Parts, settings: Settings) -> "EmbeddedScheduler":
    """The embedded kube-scheduler, which works on the server's loop."""
    from seatrial.control_plane.scheduler import EmbeddedScheduler
    from seatrial.timeline import Annotator

    annotator = Annotator(parts.store, summary=settings.record == "summary")
    recorder = annotator if settings.record != "none" else None
    configuration = (settings.scheduler_config, settings.feature_gates, settings.kubernetes_version)
    arrivals = parts.snapshot.arrivals if parts.snapshot is not None else None
    scheduler = EmbeddedScheduler.build(parts.store, parts.clock, configuration, settings.plugins, recorder, arrivals)
    parts.workers.append(scheduler)
    parts.metrics.append(scheduler.metrics)
    return scheduler


def add_controllers(parts: Parts, settings: Settings) -> None:
    """The controllers that were named, all of them by default."""
    if settings.controllers == ():
        return
    from seatrial.control_plane.kubelet import add_kubelet
    from seatrial.controllers import build_controllers, controller_names
    from seatrial.controllers.framework import EventRecorder

    names = controller_names() if settings.controllers is None else settings.controllers
    events = EventRecorder(parts.store, parts.clock)
    kubelet = add_kubelet(parts, events, nodes="node" in names) if "pod" in names or "node" in names else None
    controllers = build_controllers(parts.store, parts.clock, names, kubelet=kubelet, events=events)
    for controller in controllers:
        controller.start()
    parts.workers.extend(controllers)


def add_compaction(parts: Parts) -> None:
    """History older than five minutes is forgotten."""
    from seatrial.control_plane.compaction import Compactor

    compactor = Compactor(parts.store, parts.clock)
    compactor.start()
    parts.workers.append(compactor)


def add_authority(parts: Parts, settings: Settings, authority: "Authority") -> None:
    """Publish the certificate authority in every namespace and sign approved requests with it."""
    from seatrial.control_plane.bootstrap.service import create_authentication_info
    from seatrial.control_plane.csr_signing import CertificateSigner
    from seatrial.control_plane.root_ca import RootCaPublisher
    from seatrial.controllers.framework import Context, PodIndex

    create_authentication_info(parts.store, authority.pem.decode())
    if settings.controllers is not None:
        return
    context = Context(parts.store, parts.clock, PodIndex(parts.store))
    for controller in (RootCaPublisher(context, authority.pem.decode()), CertificateSigner(context, authority)):
        controller.start()
        parts.workers.append(controller)


def add_simulator_api(parts: Parts, scheduler: "EmbeddedScheduler | None", controller: "ScenarioController") -> None:
    """kube-scheduler-simulator's HTTP API."""
    from seatrial.server.handlers import SimulatorApi

    watched = WatchedScheduler(scheduler, controller) if scheduler is not None else None
    reset = watched.reset if watched is not None else controller.reset
    api = SimulatorApi(parts.store, watched, reset, controller.held)
    parts.routes.append(api.routes)
    parts.on_stop.append(api.close)


def add_metrics_api(parts: Parts) -> None:
    """metrics.k8s.io, for `kubectl top`."""
    from seatrial.control_plane.metrics_api import MetricsApi

    parts.routes.append(MetricsApi(parts.store).routes)
