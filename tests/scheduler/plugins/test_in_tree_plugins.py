"""What each in-tree plugin says, on clusters small enough to check by hand."""

from typing import Any

import pytest

from seatrial.model.documents import Document
from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.framework.status import Code
from tests.scheduler.cluster_builders import PlainObjects, SmallCluster, a_node, a_pod

HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def zoned(name: str, zone: str, **fields: Any) -> Document:
    document = a_node(name, **fields)
    document["metadata"]["labels"][ZONE] = zone
    return document


def anti_affinity(app: str, key: str = HOSTNAME, **term: Any) -> Document:
    return {
        "podAntiAffinity": {REQUIRED: [{"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key} | term]}
    }


def affinity(app: str, key: str = HOSTNAME, **term: Any) -> Document:
    return {"podAffinity": {REQUIRED: [{"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key} | term]}}


def test_a_cordoned_node_rejects_unless_the_cordon_is_tolerated() -> None:
    node = a_node("n")
    node["spec"]["unschedulable"] = True
    cluster = SmallCluster(node)
    assert cluster.rejections(a_pod("p")) == {"n": ("node(s) were unschedulable",)}
    tolerations = [{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}]
    assert cluster.attempt(a_pod("q", tolerations=tolerations)).node == "n"


def test_a_pod_that_names_its_node_fits_no_other() -> None:
    cluster = SmallCluster(a_node("a"), a_node("b"))
    attempt = cluster.attempt(a_pod("p", nodeName="b"))
    assert attempt.node == "b"
    full = cluster.attempt(a_pod("q", cpu="9", nodeName="b"))
    why = "1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) [NodeName]"
    assert full.message.startswith(f"0/2 nodes are available: {why}")


def test_taints_must_be_tolerated_and_soft_ones_cost_score() -> None:
    hard, soft = a_node("hard"), a_node("soft")
    hard["spec"]["taints"] = [{"key": "k", "value": "v", "effect": "NoExecute"}]
    soft["spec"]["taints"] = [{"key": "k", "value": "v", "effect": "PreferNoSchedule"}]
    cluster = SmallCluster(hard, soft, a_node("free"))
    assert cluster.rejections(a_pod("p")) == {"hard": ("node(s) had untolerated taint(s)",)}
    assert sorted(cluster.scores(a_pod("q"), "TaintToleration")) == [0, 100]


def test_numbers_in_tolerations_compare_only_behind_their_gate() -> None:
    node = a_node("n")
    node["spec"]["taints"] = [{"key": "load", "value": "5", "effect": "NoSchedule"}]
    pod = a_pod("p", tolerations=[{"key": "load", "operator": "Lt", "value": "10"}])
    cluster = SmallCluster(node)
    assert cluster.attempt(pod).node == ""
    cluster = SmallCluster(node)
    cluster.framework.points["filter"][0].handle.gates = {"TaintTolerationComparisonOperators": True}
    assert cluster.attempt(pod).node == "n"


def test_node_affinity_by_name_narrows_the_search() -> None:
    cluster = SmallCluster(a_node("a"), a_node("b"), a_node("c"))
    field = {"key": "metadata.name", "operator": "In", "values": ["b"]}
    terms = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchFields": [field]}]}}}
    attempt = cluster.attempt(a_pod("p", affinity=terms))
    assert attempt.node == "b"
    assert attempt.pre_filter.nodes == frozenset(("b",))
    assert attempt.decision().visited == ("b",)


def test_terms_that_name_no_common_node_conflict() -> None:
    fields = [{"key": "metadata.name", "operator": "In", "values": [name]} for name in "ab"]
    terms = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchFields": fields}]}}}
    attempt = SmallCluster(a_node("a"), a_node("b")).attempt(a_pod("p", affinity=terms))
    assert attempt.message.startswith("0/2 nodes are available: pod affinity terms conflict.")


@pytest.mark.parametrize(
    ("taken", "wanted", "fits"),
    [(("", 80), ("", 80), False), (("127.0.0.1", 80), ("127.0.0.2", 80), True), (("127.0.0.1", 80), ("", 80), False),
     (("", 80), ("127.0.0.1", 80), False), (("", 80), ("", 81), True)],
)  # fmt: skip
def test_host_ports_conflict_by_address(taken: tuple[str, int], wanted: tuple[str, int], fits: bool) -> None:
    def with_port(name: str, address: str, port: int) -> Document:
        pod = a_pod(name)
        pod["spec"]["containers"][0]["ports"] = [{"containerPort": 1, "hostIP": address, "hostPort": port}]
        return pod

    cluster = SmallCluster(a_node("n"))
    cluster.bound(with_port("p", *taken), "n")
    assert bool(cluster.attempt(with_port("q", *wanted)).node) is fits


def test_a_request_beyond_the_whole_node_cannot_be_resolved() -> None:
    cluster = SmallCluster(a_node("small", cpu="1"), a_node("full", cpu="4"))
    cluster.bound(a_pod("p", cpu="3"), "full")
    statuses = dict(cluster.attempt(a_pod("q", cpu="2")).decision().rejected())
    assert statuses["small"].code == Code.UNRESOLVABLE
    assert statuses["full"].code == Code.UNSCHEDULABLE
    assert statuses["full"].reasons == ("Insufficient cpu",)


def test_ignored_resources_do_not_filter() -> None:
    pod = a_pod("p")
    pod["spec"]["containers"][0]["resources"]["requests"]["example.com/gpu"] = "1"
    assert SmallCluster(a_node("n")).rejections(pod) == {"n": ("Insufficient example.com/gpu",)}
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [
            {"pluginConfig": [{"name": "NodeResourcesFit", "args": {"ignoredResourceGroups": ["example.com"]}}]}
        ],
    }
    assert SmallCluster(a_node("n"), config=config).attempt(pod).node == "n"


def test_a_pod_that_changes_nothing_scores_75_for_balance() -> None:
    cluster = SmallCluster(a_node("a", cpu="4", memory="4Gi"), a_node("b", cpu="4", memory="4Gi"))
    pod = a_pod("p")
    pod["spec"]["containers"][0]["resources"]["requests"] = {"cpu": "1", "memory": "1Gi"}
    assert cluster.scores(pod, "NodeResourcesBalancedAllocation") == [75, 75]


def test_nodes_remember_how_widespread_an_image_was() -> None:
    """Upstream counts the nodes of an image when it copies a node, and copies only nodes that changed."""
    images = [{"names": ["pause:latest"], "sizeBytes": 900 * 1024 * 1024}]
    with_image = [a_node(name) for name in "ab"]
    for node in with_image:
        node["status"]["images"] = images
    cluster = SmallCluster(with_image[0], a_node("x"))
    assert sorted(cluster.scores(a_pod("p"), "ImageLocality")) == [0, 43]
    cluster.table.add_node(NodeInfo.read(with_image[1]))
    fresh, stale = 2 / 3, 1 / 3
    expected = sorted(int(100 * (int(900 * share) - 23) / 977) for share in (stale, fresh))
    scores = sorted(cluster.scores(a_pod("q"), "ImageLocality"))
    assert scores[0] == 0
    assert scores[1:] == pytest.approx(expected, abs=1)


def test_own_and_foreign_anti_affinity_are_told_apart() -> None:
    cluster = SmallCluster(a_node("a"), a_node("b"), a_node("c"))
    cluster.bound(a_pod("web", labels={"app": "web"}), "a")
    cluster.bound(a_pod("shy", affinity=anti_affinity("new")), "b")
    assert cluster.rejections(a_pod("p", labels={"app": "new"}, affinity=anti_affinity("web"))) == {
        "a": ("node(s) didn't match pod anti-affinity rules",),
        "b": ("node(s) didn't satisfy existing pods anti-affinity rules",),
    }


def test_the_first_pod_of_a_group_may_be_its_own_company() -> None:
    cluster = SmallCluster(a_node("a"), a_node("b"))
    pod = a_pod("p", labels={"app": "x"}, affinity=affinity("x"))
    first = cluster.attempt(pod).node
    assert first
    cluster.bound(pod, first)
    assert cluster.attempt(a_pod("q", labels={"app": "x"}, affinity=affinity("x"))).node == first
    assert cluster.attempt(a_pod("r", affinity=affinity("y"))).node == ""


def test_a_namespace_selector_that_picks_unlabelled_namespaces_picks_all() -> None:
    """Upstream asks the selector about each pod without its namespace's labels at hand."""
    objects = PlainObjects(Namespace=[{"metadata": {"name": "default", "labels": {"team": "a"}}}])
    cluster = SmallCluster(a_node("a"), a_node("b"), objects=objects)
    other = a_pod("web", labels={"app": "web"})
    other["metadata"]["namespace"] = "other"
    cluster.bound(other, "a")
    selector = {"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]}
    pod = a_pod("p", affinity=anti_affinity("web", namespaceSelector=selector))
    assert set(cluster.rejections(pod)) == {"a"}


def test_spreading_rejects_what_would_skew_and_nodes_without_the_label() -> None:
    cluster = SmallCluster(zoned("a", "1"), zoned("b", "2"), a_node("c"))
    cluster.bound(a_pod("p", labels={"app": "x"}), "a")
    constraint = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "x"}},
    }
    pod = a_pod("q", labels={"app": "x"}, topologySpreadConstraints=[constraint])
    assert cluster.rejections(pod) == {
        "a": ("node(s) didn't match pod topology spread constraints",),
        "c": ("node(s) didn't match pod topology spread constraints (missing required label)",),
    }


def test_too_few_domains_make_the_emptiest_one_count_as_empty() -> None:
    cluster = SmallCluster(zoned("a", "1"))
    cluster.bound(a_pod("p", labels={"app": "x"}), "a")
    constraint = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "x"}},
    }
    assert cluster.attempt(a_pod("q", labels={"app": "x"}, topologySpreadConstraints=[constraint])).node == "a"
    constraint["minDomains"] = 2
    assert cluster.attempt(a_pod("r", labels={"app": "x"}, topologySpreadConstraints=[constraint])).node == ""


def test_pods_of_a_service_are_spread_by_default() -> None:
    service = {"metadata": {"name": "s", "namespace": "default"}, "spec": {"selector": {"app": "x"}}}
    cluster = SmallCluster(zoned("a", "1"), zoned("b", "2"), objects=PlainObjects(Service=[service]))
    cluster.bound(a_pod("p", cpu=None, labels={"app": "x"}), "a")
    assert cluster.scores(a_pod("q", labels={"app": "x"}), "PodTopologySpread") == [66, 100]
    scored = cluster.attempt(a_pod("r", labels={"app": "y"})).scored
    assert scored is not None
    assert "PodTopologySpread" in scored.skipped


def test_preferred_company_scores_and_skips_where_nobody_prefers() -> None:
    cluster = SmallCluster(a_node("a"), a_node("b"))
    scored = cluster.attempt(a_pod("p")).scored
    assert scored is not None
    assert "InterPodAffinity" in scored.skipped
    term = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": HOSTNAME}
    cluster.bound(a_pod("web", cpu=None, labels={"app": "web"}), "b")
    wish = {"podAffinity": {PREFERRED: [{"weight": 5, "podAffinityTerm": term}]}}
    assert cluster.scores(a_pod("q", affinity=wish), "InterPodAffinity") == [0, 100]


def test_a_gated_pod_does_not_enter_the_queue() -> None:
    cluster = SmallCluster(a_node("n"))
    pod = cluster.reader.read(a_pod("p", schedulingGates=[{"name": "a"}, {"name": "b"}]))
    status = cluster.framework.run_pre_enqueue(pod)
    assert status.reasons == ("waiting for scheduling gates: [a b]",)
    assert status.plugin == "SchedulingGates"


def test_devices_count_where_the_node_itself_offers_none() -> None:
    """A device class that stands for an extended resource gives its devices as capacity."""
    classes = [{"metadata": {"name": "gpu"}, "spec": {"extendedResourceName": "example.com/gpu"}}]
    slices = [
        {
            "metadata": {"name": f"slice-{node}"},
            "spec": {
                "driver": "gpu.example.com",
                "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
                "nodeName": node,
                "devices": [{"name": f"gpu-{number}"} for number in range(devices)],
            },
        }
        for node, devices in (("a", 1), ("b", 4))
    ]
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [
            {
                "pluginConfig": [
                    {
                        "name": "NodeResourcesFit",
                        "args": {
                            "scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "example.com/gpu"}]}
                        },
                    }
                ]
            }
        ],
    }
    cluster = SmallCluster(
        a_node("a"), a_node("b"), config=config, objects=PlainObjects(DeviceClass=classes, ResourceSlice=slices)
    )
    pod = a_pod("p")
    pod["spec"]["containers"][0]["resources"]["requests"]["example.com/gpu"] = "1"
    assert cluster.scores(pod, "NodeResourcesFit") == [100, 25]


def test_a_preference_that_cannot_be_read_is_an_error() -> None:
    preference = {"matchExpressions": [{"key": "disk", "operator": "Near", "values": ["ssd"]}]}
    pod = a_pod("p", affinity={"nodeAffinity": {PREFERRED: [{"weight": 1, "preference": preference}]}})
    attempt = SmallCluster(a_node("a"), a_node("b")).attempt(pod)
    assert attempt.is_error
    assert attempt.message.startswith(
        'running PreScore plugin "NodeAffinity": matchExpressions[0].operator: Unsupported'
    )
