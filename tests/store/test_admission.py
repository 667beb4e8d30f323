"""Admission as kube-apiserver has it: what the cluster fills in, and what it refuses."""

from collections.abc import Callable
from typing import Any

import pytest

from seatrial.clock.virtual import Clock
from seatrial.model.builtin import builtin_kinds
from seatrial.model.errors import Forbidden, NotFound
from seatrial.store.admission import StandardAdmission, quota_usage, topology_labels
from seatrial.store.admission.priorities import SYSTEM_PRIORITY_CLASSES
from seatrial.store.objects import Stored
from seatrial.store.store import Store
from tests.known_kinds import known_kind

Create = Callable[..., Stored]


@pytest.fixture
def store() -> Store:
    store = Store(builtin_kinds(), Clock(), admission=StandardAdmission())
    make(store, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}})
    return store


def make(store: Store, document: dict[str, Any], **changes: Any) -> dict[str, Any]:
    kind = known_kind(store.kinds, document["apiVersion"], document["kind"])
    namespace = document["metadata"].get("namespace", "default") if kind.namespaced else ""
    return store.create(kind, {**document, **changes}, writer="user:test", namespace=namespace).document()


def pod(
    name: str = "p", requests: dict[str, str] | None = None, limits: dict[str, str] | None = None, **spec: Any
) -> Any:
    resources = {key: value for key, value in (("requests", requests), ("limits", limits)) if value}
    containers = [{"name": "c", "image": "i", "resources": resources}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": "web"}},
        "spec": {"containers": containers, **spec},
    }


def quota(hard: dict[str, str], **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": hard, **spec}}


def limit_range(**limit: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "l"}, "spec": {"limits": [limit]}}


def priority_class(name: str, value: int, **more: Any) -> dict[str, Any]:
    about = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}}
    return {**about, "value": value, **more}


def refused(store: Store, document: dict[str, Any]) -> str:
    with pytest.raises(Forbidden) as refusal:
        make(store, document)
    return refusal.value.message


def test_a_pod_gets_account_tolerations_and_priority(store: Store) -> None:
    spec = make(store, pod())["spec"]
    assert spec["serviceAccountName"] == spec["serviceAccount"] == "default"
    assert spec["priority"] == 0
    assert spec["preemptionPolicy"] == "PreemptLowerPriority"
    assert [(t["key"], t["tolerationSeconds"]) for t in spec["tolerations"]] == [
        ("node.kubernetes.io/not-ready", 300),
        ("node.kubernetes.io/unreachable", 300),
    ]
    assert "volumes" not in spec


def test_a_pod_that_tolerates_outages_itself_is_left_alone(store: Store) -> None:
    given = [{"operator": "Exists"}]
    assert make(store, pod(tolerations=given))["spec"]["tolerations"] == given


def test_a_missing_namespace_is_not_found(store: Store) -> None:
    document = pod()
    document["metadata"]["namespace"] = "nowhere"
    with pytest.raises(NotFound, match=r'^namespaces "nowhere" not found$'):
        make(store, document)


def test_a_terminating_namespace_takes_nothing_new(store: Store) -> None:
    kind = known_kind(store.kinds, "v1", "Namespace")
    make(store, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "going"}})
    store.delete(kind, "going", writer="user:test")
    document = pod()
    document["metadata"]["namespace"] = "going"
    text = 'pods "p" is forbidden: unable to create new content in namespace going because it is being terminated'
    assert refused(store, document) == text


def test_the_default_namespace_stays(store: Store) -> None:
    kind = known_kind(store.kinds, "v1", "Namespace")
    with pytest.raises(Forbidden, match="this namespace may not be deleted"):
        store.delete(kind, "default", writer="user:test")


def test_a_priority_class_gives_priority_and_policy(store: Store) -> None:
    make(store, priority_class("high", 1000, preemptionPolicy="Never"))
    spec = make(store, pod(priorityClassName="high"))["spec"]
    assert (spec["priority"], spec["preemptionPolicy"]) == (1000, "Never")


@pytest.mark.parametrize(
    ("name", "value"), [("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)]
)
def test_system_classes_are_there_with_and_without_their_objects(store: Store, name: str, value: int) -> None:
    assert make(store, pod("a", priorityClassName=name))["spec"]["priority"] == value
    for class_name, class_value in SYSTEM_PRIORITY_CLASSES.items():
        make(store, priority_class(class_name, class_value))
    assert make(store, pod("b", priorityClassName=name))["spec"]["priority"] == value


def test_the_default_class_is_used_and_only_one_may_be(store: Store) -> None:
    make(store, priority_class("usual", 7, globalDefault=True))
    spec = make(store, pod())["spec"]
    assert (spec["priorityClassName"], spec["priority"]) == ("usual", 7)
    message = refused(store, priority_class("other", 8, globalDefault=True))
    assert message.endswith("PriorityClass usual is already marked as default. Only one default can exist")


def test_an_unknown_class_or_a_priority_of_ones_own_is_refused(store: Store) -> None:
    assert refused(store, pod(priorityClassName="x")) == 'pods "p" is forbidden: no PriorityClass with name x was found'
    assert "the integer value of priority (5) must not be provided" in refused(store, pod(priority=5))


def test_limit_ranges_fill_in_and_say_so(store: Store) -> None:
    make(store, limit_range(type="Container", default={"cpu": "1"}, defaultRequest={"cpu": "500m", "memory": "1Gi"}))
    made = make(store, pod(requests={"memory": "2Gi"}))
    resources = made["spec"]["containers"][0]["resources"]
    assert resources == {"requests": {"memory": "2Gi", "cpu": "500m"}, "limits": {"cpu": "1"}}
    note = "LimitRanger plugin set: cpu request for container c; cpu limit for container c"
    assert made["metadata"]["annotations"]["kubernetes.io/limit-ranger"] == note


@pytest.mark.parametrize(
    ("limit", "asked", "text"),
    [
        (
            {"type": "Container", "min": {"cpu": "1"}},
            {"requests": {"cpu": "500m"}},
            "minimum cpu usage per Container is 1, but request is 500m",
        ),
        (
            {"type": "Pod", "max": {"memory": "1Gi"}},
            {},
            "maximum memory usage per Pod is 1Gi.  No limit is specified",
        ),
        (
            {"type": "Pod", "max": {"cpu": "1"}},
            {"limits": {"cpu": "2"}},
            "maximum cpu usage per Pod is 1, but limit is 2",
        ),
        (
            {"type": "Container", "maxLimitRequestRatio": {"cpu": "2"}},
            {"requests": {"cpu": "1"}, "limits": {"cpu": "3"}},
            "cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000",
        ),
    ],
)
def test_limit_ranges_are_enforced(store: Store, limit: Any, asked: Any, text: str) -> None:
    make(store, limit_range(**limit))
    assert refused(store, pod(**asked)) == f'pods "p" is forbidden: {text}'


def test_a_claim_outside_the_limits_is_refused(store: Store) -> None:
    make(store, limit_range(type="PersistentVolumeClaim", max={"storage": "1Gi"}))
    message = refused(store, claim("c", "2Gi"))
    assert message.endswith("maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi")


def test_a_quota_is_enforced_and_its_usage_kept(store: Store) -> None:
    made = make(store, quota({"requests.cpu": "2", "pods": "5"}))
    make(store, pod("a", {"cpu": "1500m"}))
    text = "exceeded quota: q, requested: requests.cpu=1, used: requests.cpu=1500m, limited: requests.cpu=2"
    assert refused(store, pod("b", {"cpu": "1"})) == f'pods "b" is forbidden: {text}'
    kind = known_kind(store.kinds, "v1", "ResourceQuota")
    used = {"requests.cpu": "1500m", "pods": "1"}
    assert store.get(kind, "q", "default").document()["status"]["used"] == used
    assert quota_usage(store, made, store.clock.now()) == used


def test_a_stale_usage_refuses_nothing(store: Store) -> None:
    make(store, quota({"pods": "1"}))
    make(store, pod("a"))
    kind = known_kind(store.kinds, "v1", "Pod")
    while store.find(kind, "a", "default") is not None:
        store.delete(kind, "a", writer="user:test", namespace="default")
    make(store, pod("b"))


def test_what_a_quota_limits_must_be_set(store: Store) -> None:
    make(store, quota({"cpu": "2", "limits.memory": "1Gi"}))
    text = 'pods "p" is forbidden: failed quota: q: must specify cpu for: c; limits.memory for: c'
    assert refused(store, pod()) == text


@pytest.mark.parametrize(
    ("scope", "counts", "not_counts"),
    [
        ({"scopes": ["BestEffort"]}, pod("a"), pod("b", {"cpu": "1"})),
        ({"scopes": ["Terminating"]}, pod("a", activeDeadlineSeconds=9), pod("b")),
        (
            {
                "scopeSelector": {
                    "matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}]
                }
            },
            pod("a", priorityClassName="high"),
            pod("b"),
        ),
    ],
)
def test_a_scoped_quota_counts_only_its_pods(store: Store, scope: Any, counts: Any, not_counts: Any) -> None:
    make(store, priority_class("high", 1))
    make(store, quota({"pods": "0"}, **scope))
    make(store, not_counts)
    assert "exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0" in refused(store, counts)


def test_objects_of_any_kind_are_counted(store: Store) -> None:
    make(store, quota({"count/configmaps": "1", "services.nodeports": "1"}))
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    make(store, config)
    assert "requested: count/configmaps=1" in refused(store, {**config, "metadata": {"name": "b"}})
    ports = [{"port": 80, "name": "a"}, {"port": 81, "name": "b"}]
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "s"},
        "spec": {"type": "NodePort", "ports": ports},
    }
    assert "requested: services.nodeports=2" in refused(store, service)


def claim(name: str, size: str = "1Gi", **spec: Any) -> dict[str, Any]:
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}, **spec}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": wanted}


def storage_class(name: str, *, default: bool = False, **more: Any) -> dict[str, Any]:
    annotations = {"storageclass.kubernetes.io/is-default-class": "true"} if default else {}
    metadata = {"name": name, "annotations": annotations}
    return {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": metadata, "provisioner": "x", **more}


def test_claims_get_the_default_class_and_protection(store: Store) -> None:
    make(store, storage_class("slow"))
    make(store, storage_class("fast", default=True))
    made = make(store, claim("a"))
    assert made["spec"]["storageClassName"] == "fast"
    assert made["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]
    assert make(store, claim("b", storageClassName=""))["spec"]["storageClassName"] == ""


def test_a_runtime_class_brings_overhead_selector_and_tolerations(store: Store) -> None:
    scheduling = {"nodeSelector": {"sandbox": "yes"}, "tolerations": [{"key": "sandbox", "operator": "Exists"}]}
    runtime = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "kata"}, "handler": "kata"}
    make(store, {**runtime, "overhead": {"podFixed": {"cpu": "250m"}}, "scheduling": scheduling})
    spec = make(store, pod(runtimeClassName="kata"))["spec"]
    assert spec["overhead"] == {"cpu": "250m"}
    assert spec["nodeSelector"] == {"sandbox": "yes"}
    assert len(spec["tolerations"]) == 3
    assert 'RuntimeClass "none" not found' in refused(store, pod("b", runtimeClassName="none"))
    assert "without corresponding RuntimeClass" in refused(store, pod("c", overhead={"cpu": "1"}))


def test_label_keys_are_merged_into_selectors(store: Store) -> None:
    selector: dict[str, Any] = {"matchLabels": {"tier": "front"}}
    spread = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": selector,
        "matchLabelKeys": ["app", "absent"],
    }
    term = {"topologyKey": "zone", "labelSelector": selector, "mismatchLabelKeys": ["app"]}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    spec = make(store, pod(topologySpreadConstraints=[spread], affinity=affinity))["spec"]
    merged = spec["topologySpreadConstraints"][0]["labelSelector"]["matchExpressions"]
    assert merged == [{"key": "app", "operator": "In", "values": ["web"]}]
    anti = spec["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0]
    assert anti["labelSelector"]["matchExpressions"] == [{"key": "app", "operator": "NotIn", "values": ["web"]}]


def node(name: str, **status: Any) -> dict[str, Any]:
    labels = {"topology.kubernetes.io/zone": "z1", "other": "x"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "status": status}


def test_only_a_node_that_says_so_is_not_ready(store: Store) -> None:
    assert "taints" not in make(store, node("a"))["spec"]
    assert "taints" not in make(store, node("b", conditions=[{"type": "Ready", "status": "True"}]))["spec"]
    taints = make(store, node("c", conditions=[{"type": "Ready", "status": "False"}]))["spec"]["taints"]
    assert taints == [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]


def test_a_pod_on_a_node_carries_its_zone(store: Store) -> None:
    make(store, node("n"))
    assert topology_labels(store, "n") == {"topology.kubernetes.io/zone": "z1"}
    labels = make(store, pod(nodeName="n"))["metadata"]["labels"]
    assert labels == {"app": "web", "topology.kubernetes.io/zone": "z1"}
