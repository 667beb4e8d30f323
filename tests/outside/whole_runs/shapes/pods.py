"""What happens to pods: bound ones that leave, shrink or change labels, and pending ones that change themselves."""

from tests.outside.whole_runs.builders import HOST, REQUIRED, ZONE, in_zone, node, pod
from tests.outside.whole_runs.shape import Document, Operation, Shape, create, delete, patch

HUNDRED = {"requests": {"cpu": "500m"}}


def near(app: str, key: str = HOST, *, anti: bool = False) -> Document:
    """An affinity to pods of an app."""
    term = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key}
    return {"podAntiAffinity" if anti else "podAffinity": {REQUIRED: [term]}}


def spread(app: str, key: str = ZONE, skew: int = 1) -> list[Document]:
    selector = {"labelSelector": {"matchLabels": {"app": app}}}
    return [{"maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", **selector}]


def resized(name: str, cpu: str) -> tuple[Operation, ...]:
    body = {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]}}
    return (Operation("strategic", "v1", "Pod", name, body, "resize"),)


PORT = {"ports": [{"containerPort": 80, "hostPort": 8080}]}

SHAPES = (
    Shape(
        "pods that leave make room",
        (
            create(node("n1", cpu="2"), node("n2", cpu="2")),
            create(*(pod(f"old{number}", cpu="1") for number in range(4))),
            create(pod("big", cpu="2"), pod("small", cpu="1"), pod("huge", cpu="9")),
            delete("Pod", "old0"),
            delete("Pod", "old1"),
            delete("Pod", "old2", "old3"),
        ),
        expects=lambda pods: bool(pods["big"]["node"]) and bool(pods["small"]["node"]),
    ),
    Shape(
        "host ports become free",
        (
            create(node("n1"), node("n2")),
            create(*(pod(f"web{number}", container=PORT) for number in range(4))),
            create(pod("other", cpu="100m")),
            delete("Pod", "other"),
            delete("Pod", "web0"),
            delete("Pod", "web1"),
        ),
        expects=lambda pods: bool(pods["web2"]["node"]) and bool(pods["web3"]["node"]),
    ),
    Shape(
        "affinity waits for pods and for their labels",
        (
            create(in_zone("n1", "a"), in_zone("n2", "b")),
            create(pod("friend", affinity=near("web")), pod("lonely", affinity=near("db", ZONE))),
            create(pod("noise", labels={"app": "noise"})),
            create(pod("web", labels={"app": "web"})),
            patch("Pod", "noise", {"metadata": {"labels": {"app": "db"}}}),
        ),
        expects=lambda pods: pods["friend"]["node"] == pods["web"]["node"] and bool(pods["lonely"]["node"]),
    ),
    Shape(
        "anti-affinity keeps pods apart until one leaves or is renamed",
        (
            create(node("n1"), node("n2")),
            create(*(pod(f"p{n}", labels={"app": "x"}, affinity=near("x", anti=True)) for n in range(4))),
            create(pod("shy", affinity=near("y", anti=True)), pod("y", labels={"app": "y"})),
            delete("Pod", "p0"),
            patch("Pod", "p1", {"metadata": {"labels": {"app": "z"}}}),
        ),
        expects=lambda pods: bool(pods["p2"]["node"]),
    ),
    Shape(
        "topology spread over zones that come and go",
        (
            create(in_zone("n1", "a"), in_zone("n2", "b", cpu="200m")),
            create(*(pod(f"p{n}", labels={"app": "x"}, topologySpreadConstraints=spread("x")) for n in range(6))),
            delete("Pod", "p0"),
            create(in_zone("n3", "c")),
            patch("Node", "n3", {"metadata": {"labels": {ZONE: "b"}}}),
            delete("Node", "n2"),
        ),
        expects=lambda pods: sum(bool(pod["node"]) for pod in pods.values()) >= 3,
    ),
    Shape(
        "spread pods that wake together are tried again when a binding comes back",
        (
            create(in_zone("n1", "a"), in_zone("n2", "b", cpu="100m")),
            create(*(pod(f"p{n}", labels={"app": "x"}, topologySpreadConstraints=spread("x")) for n in range(6))),
            delete("Pod", "p0"),
        ),
        expects=lambda pods: sum(bool(pod["node"]) for pod in pods.values()) == 3,
    ),
    Shape(
        "scheduling gates are taken away",
        (
            create(node("n1", cpu="1")),
            create(
                pod("gated", schedulingGates=[{"name": "a"}, {"name": "b"}]),
                pod("gated-large", cpu="2", schedulingGates=[{"name": "a"}]),
            ),
            patch("Pod", "gated", {"metadata": {"labels": {"app": "later"}}}),
            patch("Pod", "gated", {"spec": {"schedulingGates": [{"name": "b"}]}}),
            create(node("n2", cpu="1")),
            patch("Pod", "gated", {"spec": {"schedulingGates": None}}),
            patch("Pod", "gated-large", {"spec": {"schedulingGates": None}}),
            create(node("n3", cpu="2")),
        ),
        is_quick=True,
        expects=lambda pods: bool(pods["gated"]["node"]) and pods["gated-large"]["node"] == "n3",
    ),
    Shape(
        "pending pods change their labels, tolerations and annotations",
        (
            create(node("n1"), node("n2")),
            *(
                patch("Node", name, {"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}})
                for name in ("n1", "n2")
            ),
            create(pod("a"), pod("b", labels={"app": "b"})),
            patch("Pod", "a", {"metadata": {"annotations": {"note": "1"}}}),
            patch("Pod", "b", {"metadata": {"labels": {"app": "c"}}}),
            patch("Pod", "a", {"spec": {"tolerations": [{"key": "k", "operator": "Exists"}]}}),
        ),
        expects=lambda pods: bool(pods["a"]["node"]) and not pods["b"]["node"],
    ),
    Shape(
        "pods are made again under their names",
        (
            create(node("n1", cpu="1")),
            create(pod("a", cpu="1"), pod("b", cpu="1")),
            delete("Pod", "a"),
            create(pod("a", cpu="1")),
            delete("Pod", "b"),
            create(pod("b", cpu="1")),
        ),
        expects=lambda pods: pods["a"]["node"] == "n1",
    ),
    Shape(
        "pods scale down in place",
        (
            create(node("n1", cpu="2")),
            create(pod("wide", cpu="1500m"), pod("waiting", cpu="1")),
            resized("wide", "1200m"),
            resized("wide", "500m"),
        ),
        starts_pods=False,
        expects=lambda pods: bool(pods["wide"]["node"]),
    ),
    Shape(
        "finished pods count no more",
        (
            create(node("n1", cpu="1")),
            create(pod("job", cpu="1"), pod("next", cpu="1")),
            patch("Pod", "job", {"status": {"phase": "Succeeded"}}, subresource="status"),
            create(pod("last", cpu="500m")),
        ),
        expects=lambda pods: pods["next"]["node"] == "n1",
    ),
)
