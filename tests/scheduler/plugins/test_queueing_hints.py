"""Queueing hints, plugin by plugin: a table of events and answers with the upstream test each one follows (v1.36.3).

Tests: scheduler/plugins/*/hints.py, scheduler/queue/queueing_hints.py
"""

from collections.abc import Sequence
from typing import Any

import pytest

from seatrial.model.documents import Document
from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.cache.node_table import NodeTable
from seatrial.scheduler.cache.pod_info import PodInfo, PodReader
from seatrial.scheduler.framework.events import ClusterEvent, registrations, requeues_of
from seatrial.scheduler.framework.interface import Action, Handle, Plugin
from seatrial.scheduler.plugins.registry import load, points_of
from seatrial.scheduler.queue import PodNominator
from seatrial.scheduler.versions import DEFAULT, VERSIONS

READER = PodReader()
ADD, DELETE = Action.ADD, Action.DELETE


def pod(name: str = "target", node: str = "", nominated: str = "", labels: Any = None, **more: Any) -> PodInfo:
    spec = {key: value for key, value in more.items() if key not in ("namespace", "uid", "status")}
    return READER.read(
        {
            "metadata": {
                "name": name,
                "namespace": more.get("namespace", "ns"),
                "uid": more.get("uid", name),
                "labels": labels or {},
            },
            "spec": {"containers": [{"name": "c"}], **spec} | ({"nodeName": node} if node else {}),
            "status": {"nominatedNodeName": nominated, **more.get("status", {})},
        }
    )


def asking(**requests: str) -> list[Document]:
    return [{"name": "c", "resources": {"requests": {key.replace("_", "/"): v for key, v in requests.items()}}}]


def node(name: str = "n", labels: Any = None, taints: Any = (), **amounts: str) -> NodeInfo:
    return NodeInfo.read(
        {
            "metadata": {"name": name, "labels": labels or {}},
            "spec": {"taints": list(taints), "unschedulable": amounts.pop("unschedulable", False)},
            "status": {
                "declaredFeatures": amounts.pop("features", []),
                "allocatable": {key.replace("_", "/"): value for key, value in amounts.items()},
            },
        }
    )


class Objects:
    """A cluster of documents."""

    changes = 0

    def __init__(self, *documents: Document) -> None:
        self.documents = documents

    def list(self, kind: str, namespace: str | None = None) -> Sequence[Document]:
        found = [d for d in self.documents if d["kind"] == kind]
        return [d for d in found if namespace is None or d["metadata"].get("namespace", "") == namespace]

    def get(self, kind: str, name: str, namespace: str = "") -> Document | None:
        return next((d for d in self.list(kind, namespace) if d["metadata"]["name"] == name), None)

    def version(self, kind: str) -> int:
        return 1


def plugin_named(
    name: str, args: Document | None = None, cluster: Objects | None = None, minor: str = DEFAULT.minor
) -> Plugin:
    kind = load(name)
    assert kind is not None
    handle = Handle(cluster or Objects(), NodeTable(), PodNominator(lambda pod: pod), version=VERSIONS[minor])
    return kind(args or {}, handle)


def answers(
    name: str, subject: PodInfo, resource: str, action: Action, old: Any, new: Any, **options: Any
) -> list[bool]:
    """What the hints say that a plugin registered for an event; empty where it does not want to hear of it."""
    plugin = plugin_named(name, **options)
    event = ClusterEvent(resource, action)
    return [
        entry.hint is None or entry.hint(subject, old, new)
        for entry in registrations(plugin, requeues_of(plugin, points_of(type(plugin))))
        if entry.event.covers(event)
    ]


def check(expected: bool | None, *question: Any, **options: Any) -> None:
    assert answers(*question, **options) == ([] if expected is None else [expected])


# -- pods alone ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("uid", "expected"), [("target", True), ("other", False)])
def test_scheduling_gates(uid: str, expected: bool) -> None:
    """Follows Test_isSchedulableAfterPodChange (schedulinggates)."""
    check(expected, "SchedulingGates", pod(), "Pod", Action.UPDATE_POD_GATES_ELIMINATED, pod(uid), pod(uid))


# -- nodes ---------------------------------------------------------------------------------------------------------

CORDONED, OPEN = node(unschedulable=True), node()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [(None, CORDONED, False), (None, OPEN, True), (CORDONED, OPEN, True), (OPEN, CORDONED, False), (OPEN, OPEN, False)],
)
def test_node_unschedulable_after_a_node(old: Any, new: Any, expected: bool) -> None:
    """Follows TestIsSchedulableAfterNodeChange (nodeunschedulable)."""
    check(expected, "NodeUnschedulable", pod(), "Node", ADD if old is None else Action.UPDATE_NODE_TAINT, old, new)


CORDON = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule", "operator": "Exists"}
OTHER = {"key": "x", "operator": "Exists"}


@pytest.mark.parametrize(
    ("name", "toleration", "expected"), [("target", CORDON, True), ("target", OTHER, False), ("other", CORDON, False)]
)
def test_node_unschedulable_after_a_toleration(name: str, toleration: Document, expected: bool) -> None:
    """Follows TestIsSchedulableAfterPodTolerationChange (nodeunschedulable)."""
    new = pod(name, tolerations=[toleration])
    check(expected, "NodeUnschedulable", pod(), "Pod", Action.UPDATE_POD_TOLERATION, pod(name), new)


def test_node_name_hears_of_every_new_node() -> None:
    """NodeName registers node adds without a hint."""
    check(True, "NodeName", pod(), "Node", ADD, None, OPEN)
    check(None, "NodeName", pod(), "Node", Action.UPDATE_NODE_LABEL, OPEN, OPEN)


TAINTED = node(taints=[{"key": "k", "value": "v", "effect": "NoExecute"}])
TOLERANT: dict[str, Any] = {"tolerations": [{"key": "k", "value": "v", "effect": "NoExecute"}]}


@pytest.mark.parametrize(
    ("spec", "old", "new", "expected"),
    [
        ({}, None, TAINTED, False),
        (TOLERANT, None, TAINTED, True),
        ({}, None, OPEN, True),
        ({}, TAINTED, OPEN, True),
        ({}, TAINTED, TAINTED, False),
        (TOLERANT, TAINTED, OPEN, False),
    ],
)
def test_taint_toleration_after_a_node(spec: Any, old: Any, new: Any, expected: bool) -> None:
    """Follows TestIsSchedulableAfterNodeChange (tainttoleration)."""
    action = ADD if old is None else Action.UPDATE_NODE_TAINT
    check(expected, "TaintToleration", pod(**spec), "Node", action, old, new)


@pytest.mark.parametrize(("name", "expected"), [("target", True), ("other", False)])
def test_taint_toleration_after_a_toleration(name: str, expected: bool) -> None:
    """Follows Test_isSchedulableAfterPodTolerationChange (tainttoleration)."""
    check(expected, "TaintToleration", pod(), "Pod", Action.UPDATE_POD_TOLERATION, pod(name), pod(name, **TOLERANT))


IN_FOO = {
    "affinity": {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [{"key": "foo", "operator": "In", "values": ["bar"]}]}]
            }
        }
    }
}
FOO, PLAIN = node(labels={"foo": "bar"}), node()
ADDED = {"addedAffinity": IN_FOO["affinity"]["nodeAffinity"]}


@pytest.mark.parametrize(
    ("spec", "args", "old", "new", "expected"),
    [
        (IN_FOO, {}, None, FOO, True),
        (IN_FOO, {}, None, PLAIN, False),
        (IN_FOO, {}, PLAIN, FOO, True),
        (IN_FOO, {}, FOO, PLAIN, False),
        (IN_FOO, {}, FOO, FOO, False),
        ({"nodeSelector": {"foo": "bar"}}, {}, None, FOO, True),
        ({"nodeSelector": {"foo": "bar"}}, {}, None, PLAIN, False),
        ({}, ADDED, None, PLAIN, False),
        ({}, ADDED, None, FOO, True),
    ],
)
def test_node_affinity(spec: Any, args: Any, old: Any, new: Any, expected: bool) -> None:
    """Follows Test_isSchedulableAfterNodeChange (nodeaffinity)."""
    action = ADD if old is None else Action.UPDATE_NODE_LABEL
    check(expected, "NodeAffinity", pod(**spec), "Node", action, old, new, args=args)


def port(number: int, address: str = "", protocol: str = "TCP") -> list[Document]:
    return [{"name": "c", "ports": [{"hostPort": number, "hostIP": address, "protocol": protocol}]}]


@pytest.mark.parametrize(
    ("deleted", "expected"),
    [
        (pod("other", node="n", containers=port(8080)), True),
        (pod("other", containers=port(8080)), False),
        (pod("other", nominated="n", containers=port(8080)), True),
        (pod("other", node="n", containers=port(9090)), False),
        (pod("other", node="n", containers=port(8080, protocol="UDP")), False),
        (pod("other", node="n", containers=port(8080, "10.0.0.1")), True),
        (pod("other", node="n"), False),
    ],
)
def test_node_ports(deleted: PodInfo, expected: bool) -> None:
    """Follows Test_isSchedulableAfterPodDeleted (nodeports)."""
    check(expected, "NodePorts", pod(containers=port(8080)), "Pod", DELETE, deleted, None)


FEATURED = node(features=["RestartAllContainersOnContainerExits"])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("old", "new", "expected"), [(None, PLAIN, True), (PLAIN, FEATURED, True), (FEATURED, FEATURED, False)]
)
def test_node_declared_features_after_a_node(old: Any, new: Any, expected: bool) -> None:
    """Follows TestIsSchedulableAfterNodeChange (nodedeclaredfeatures)."""
    action = ADD if old is None else Action.UPDATE_NODE_DECLARED_FEATURE
    check(expected, "NodeDeclaredFeatures", pod(), "Node", action, old, new)


RESTARTING = {"containers": [{"name": "c", "restartPolicyRules": [{"action": "RestartAllContainers"}]}]}


@pytest.mark.parametrize(
    ("name", "old", "new", "expected"),
    [("target", RESTARTING, {}, True), ("target", RESTARTING, RESTARTING, False), ("other", RESTARTING, {}, False)],
)
def test_node_declared_features_after_a_pod(name: str, old: Any, new: Any, expected: bool) -> None:
    """Follows TestIsSchedulableAfterPodUpdate (nodedeclaredfeatures)."""
    check(expected, "NodeDeclaredFeatures", pod(), "Pod", Action.UPDATE, pod(name, **old), pod(name, **new))


# -- resources -----------------------------------------------------------------------------------------------------

SMALL, LARGE = asking(cpu="1"), asking(cpu="2")


@pytest.mark.parametrize(
    ("action", "old", "new", "expected"),
    [
        (DELETE, pod("other"), None, False),
        (DELETE, pod("other", node="n"), None, True),
        (DELETE, pod("other", nominated="n"), None, True),
        (
            Action.UPDATE_POD_SCALE_DOWN,
            pod("other", node="n", containers=LARGE),
            pod("other", node="n", containers=SMALL),
            True,
        ),
        (Action.UPDATE_POD_SCALE_DOWN, pod("other", containers=LARGE), pod("other", containers=SMALL), False),
        (Action.UPDATE_POD_SCALE_DOWN, pod(containers=LARGE), pod(containers=SMALL), True),
        (
            Action.UPDATE_POD_SCALE_DOWN,
            pod("other", node="n", containers=asking(memory="2")),
            pod("other", node="n", containers=asking(memory="1")),
            False,
        ),
    ],
)
def test_node_resources_fit_after_a_pod(action: Action, old: Any, new: Any, expected: bool) -> None:
    """Follows Test_isSchedulableAfterPodEvent (noderesources)."""
    check(expected, "NodeResourcesFit", pod(containers=SMALL), "Pod", action, old, new)


@pytest.mark.parametrize(
    ("requests", "old", "new", "expected"),
    [
        ({"cpu": "1", "memory": "2"}, None, node(cpu="2", memory="1", pods="9"), False),
        ({"cpu": "1", "memory": "2"}, None, node(cpu="1", memory="2", pods="9"), True),
        ({"cpu": "1"}, None, node(cpu="1", pods="0"), False),
        ({"cpu": "1"}, node(cpu="1", pods="9"), node(cpu="2", pods="9"), True),
        ({"cpu": "1"}, node(cpu="1", memory="1", pods="9"), node(cpu="1", memory="2", pods="9"), False),
        ({"cpu": "1"}, node(cpu="2", pods="9"), node(cpu="1", pods="9"), False),
        ({}, node(pods="9"), node(pods="9", cpu="3"), False),
        ({}, node(pods="1"), node(pods="9"), True),
        ({"example.com_gpu": "1"}, node(pods="9"), node(pods="9", **{"example.com_gpu": "1"}), True),
    ],
)
def test_node_resources_fit_after_a_node(requests: Any, old: Any, new: Any, expected: bool) -> None:
    """Follows Test_isSchedulableAfterNodeChange (noderesources)."""
    action = ADD if old is None else Action.UPDATE_NODE_ALLOCATABLE
    check(expected, "NodeResourcesFit", pod(containers=asking(**requests)), "Node", action, old, new)


def device_class(resource: str | None = None, name: str = "gpu") -> Document:
    spec = {} if resource is None else {"extendedResourceName": resource}
    return {"kind": "DeviceClass", "metadata": {"name": name}, "spec": spec}


@pytest.mark.parametrize(
    ("requests", "old", "new", "expected"),
    [
        ({"example.com_gpu": "1"}, None, device_class("example.com/gpu"), True),
        ({"example.com_gpu": "1"}, None, device_class("example.com/other"), False),
        ({"example.com_gpu": "1"}, None, device_class(), False),
        ({"example.com_gpu": "1"}, device_class(), device_class("example.com/gpu"), True),
        ({"example.com_gpu": "1"}, device_class("example.com/gpu"), device_class("example.com/gpu"), False),
        ({"deviceclass.resource.kubernetes.io_gpu": "1"}, None, device_class(), True),
    ],
)
def test_node_resources_fit_after_a_device_class(requests: Any, old: Any, new: Any, expected: bool) -> None:
    """Follows Test_isSchedulableAfterDeviceClassEvent (noderesources)."""
    action = ADD if old is None else Action.UPDATE
    check(expected, "NodeResourcesFit", pod(containers=asking(**requests)), "DeviceClass", action, old, new)


# -- other pods ----------------------------------------------------------------------------------------------------


def near(label: str, key: str = "zone", anti: bool = False) -> Document:
    term = {"labelSelector": {"matchLabels": {"service": label}}, "topologyKey": key}
    return {
        "affinity": {
            "podAntiAffinity" if anti else "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
        }
    }


S1, S2 = {"service": "s1"}, {"service": "s2"}


@pytest.mark.parametrize(
    ("spec", "action", "old", "new", "expected"),
    [
        (near("s1"), ADD, None, pod("o", node="n", labels=S1), True),
        (near("s1"), ADD, None, pod("o", labels=S1), False),
        (near("s1"), ADD, None, pod("o", node="n", labels=S2), False),
        (near("s1"), ADD, None, pod("o", node="n", labels=S1, namespace="elsewhere"), False),
        (near("s1"), Action.UPDATE_POD_LABEL, pod("o", node="n", labels=S2), pod("o", node="n", labels=S1), True),
        (near("s1"), Action.UPDATE_POD_LABEL, pod("o", node="n", labels=S1), pod("o", node="n", labels=S2), False),
        (
            near("s1", anti=True),
            Action.UPDATE_POD_LABEL,
            pod("o", node="n", labels=S1),
            pod("o", node="n", labels=S2),
            True,
        ),
        (near("s1", anti=True), DELETE, pod("o", node="n", labels=S1), None, True),
        (near("s1", anti=True), DELETE, pod("o", node="n", labels=S2), None, False),
        ({}, DELETE, pod("o", node="n", **near("s9", anti=True)), None, False),
        (near("s1"), Action.UPDATE_POD_LABEL, pod(), pod(labels=S1), True),
    ],
)
def test_inter_pod_affinity_after_a_pod(spec: Any, action: Action, old: Any, new: Any, expected: bool) -> None:
    """Follows Test_isSchedulableAfterPodChange (interpodaffinity)."""
    check(expected, "InterPodAffinity", pod(**spec), "Pod", action, old, new)


@pytest.mark.parametrize(("minor", "expected"), [("1.35", False), ("1.36", True), ("1.37", True)])
def test_inter_pod_affinity_after_a_pod_that_shunned_it(minor: str, expected: bool) -> None:
    """Follows Test_isSchedulableAfterPodChange (interpodaffinity): the deleted pod's own anti-affinity."""
    deleted = pod("o", node="n", **near("s1", anti=True))
    check(expected, "InterPodAffinity", pod(labels=S1), "Pod", DELETE, deleted, None, minor=minor)


@pytest.mark.parametrize(("minor", "expected"), [("1.35", False), ("1.36", True), ("1.37", True)])
def test_inter_pod_affinity_and_spread_after_a_nominated_pod(minor: str, expected: bool) -> None:
    added = pod("o", nominated="n", labels=S1)
    check(expected, "InterPodAffinity", pod(**near("s1")), "Pod", ADD, None, added, minor=minor)
    check(expected, "PodTopologySpread", pod(**spread()), "Pod", ADD, None, added, minor=minor)


@pytest.mark.parametrize(("minor", "expected"), [("1.35", False), ("1.36", True), ("1.37", True)])
def test_inter_pod_affinity_after_its_own_labels(minor: str, expected: bool) -> None:
    check(expected, "InterPodAffinity", pod(), "Pod", Action.UPDATE_POD_LABEL, pod(), pod(labels=S1), minor=minor)


@pytest.mark.parametrize(("minor", "expected"), [("1.36", False), ("1.37", True)])
def test_inter_pod_affinity_after_a_pod_that_one_of_its_terms_shunned(minor: str, expected: bool) -> None:
    both = near("s1", anti=True)
    for other in near("s2", anti=True)["affinity"]["podAntiAffinity"].values():
        both["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] += other
    gone, new = pod("o", node="n", labels=S1), pod("o", node="n")
    check(expected, "InterPodAffinity", pod(**both), "Pod", DELETE, gone, None, minor=minor)
    check(expected, "InterPodAffinity", pod(**both), "Pod", Action.UPDATE_POD_LABEL, gone, new, minor=minor)
    shunning = pod("o", node="n", **both)
    check(expected, "InterPodAffinity", pod(labels=S1), "Pod", DELETE, shunning, None, minor=minor)


ZONE_A, ZONE_B, NO_ZONE = node(labels={"zone": "a"}), node(labels={"zone": "b"}), node()


@pytest.mark.parametrize(
    ("spec", "old", "new", "expected"),
    [
        (near("s1"), None, ZONE_A, True),
        (near("s1"), None, NO_ZONE, False),
        (near("s1"), NO_ZONE, ZONE_A, True),
        (near("s1"), ZONE_A, ZONE_B, True),
        (near("s1"), ZONE_A, NO_ZONE, False),
        (near("s1"), ZONE_A, ZONE_A, False),
        (near("s1", anti=True), None, NO_ZONE, True),
        (near("s1", anti=True), ZONE_A, NO_ZONE, True),
        (near("s1", anti=True), ZONE_A, ZONE_B, True),
        (near("s1", anti=True), NO_ZONE, ZONE_A, False),
        ({}, None, ZONE_A, False),
    ],
)
def test_inter_pod_affinity_after_a_node(spec: Any, old: Any, new: Any, expected: bool) -> None:
    """Follows Test_isSchedulableAfterNodeChange (interpodaffinity)."""
    action = ADD if old is None else Action.UPDATE_NODE_LABEL
    check(expected, "InterPodAffinity", pod(**spec), "Node", action, old, new)


def spread(key: str = "zone", taints: str = "Ignore", when: str = "DoNotSchedule") -> Document:
    constraint = {
        "maxSkew": 1,
        "topologyKey": key,
        "whenUnsatisfiable": when,
        "nodeTaintsPolicy": taints,
        "labelSelector": {"matchLabels": S1},
    }
    return {"topologySpreadConstraints": [constraint]}


@pytest.mark.parametrize(
    ("spec", "action", "old", "new", "expected"),
    [
        (spread(), ADD, None, pod("o", node="n", labels=S1), True),
        (spread(), ADD, None, pod("o", labels=S1), False),
        (spread(), ADD, None, pod("o", node="n", labels=S2), False),
        (spread(), ADD, None, pod("o", node="n", labels=S1, namespace="elsewhere"), False),
        (spread(), DELETE, pod("o", node="n", labels=S1), None, True),
        (spread(), DELETE, pod("o", node="n", labels=S2), None, False),
        (spread(), Action.UPDATE_POD_LABEL, pod("o", node="n", labels=S1), pod("o", node="n", labels=S2), True),
        (
            spread(),
            Action.UPDATE_POD_LABEL,
            pod("o", node="n", labels=S2),
            pod("o", node="n", labels={"a": "b"}),
            False,
        ),
        (spread(taints="Honor"), Action.UPDATE_POD_TOLERATION, pod(), pod(tolerations=[OTHER]), True),
        (spread(), Action.UPDATE_POD_TOLERATION, pod(), pod(tolerations=[OTHER]), False),
        (spread(when="ScheduleAnyway"), ADD, None, pod("o", node="n", labels=S1), False),
    ],
)
def test_pod_topology_spread_after_a_pod(spec: Any, action: Action, old: Any, new: Any, expected: bool) -> None:
    """Follows Test_isSchedulableAfterPodChange (podtopologyspread)."""
    check(expected, "PodTopologySpread", pod(labels=S1, **spec), "Pod", action, old, new)


TAINTED_A = node(labels={"zone": "a"}, taints=[{"key": "k", "effect": "NoSchedule"}])


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (None, ZONE_A, True),
        (None, NO_ZONE, False),
        (ZONE_A, None, True),
        (NO_ZONE, None, False),
        (NO_ZONE, ZONE_A, True),
        (ZONE_A, NO_ZONE, True),
        (ZONE_A, ZONE_B, True),
        (ZONE_A, ZONE_A, False),
        (TAINTED_A, ZONE_A, True),
    ],
)
def test_pod_topology_spread_after_a_node(old: Any, new: Any, expected: bool) -> None:
    """Follows Test_isSchedulableAfterNodeChange (podtopologyspread)."""
    action = ADD if old is None else DELETE if new is None else Action.UPDATE_NODE_LABEL
    check(expected, "PodTopologySpread", pod(**spread()), "Node", action, old, new)
