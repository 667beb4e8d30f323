"""Random sessions that are hard for a Volcano scheduler: the cluster, its queues and its jobs."""

import json
import random
from typing import Any

Document = dict[str, Any]
ACTIONS = (
    "enqueue, allocate, backfill",
    "enqueue, allocate, preempt, reclaim, backfill",
    "enqueue, reclaim, allocate, preempt",
    "enqueue, gangreclaim, allocate",
    "enqueue, allocate, gangreclaim, backfill",
    "enqueue, gangpreempt, allocate",
    "enqueue, gangreclaim, allocate, preempt",
    "enqueue, gangpreempt, gangreclaim, allocate, backfill",
    "enqueue, reclaim, gangpreempt, backfill, allocate, preempt",
    "allocate, gangreclaim, allocate, reclaim",
    "enqueue, preempt, allocate, reclaim, backfill",
)
TOPOLOGY_ACTIONS = ("enqueue, allocate, preempt", "enqueue, preempt, allocate", "enqueue, allocate, preempt, reclaim")
TOPOLOGY = """\
configurations:
- name: preempt
  arguments: {enableTopologyAwarePreemption: true, minCandidateNodesPercentage: 100, minCandidateNodesAbsolute: 100}
"""


class Maker:
    """Makes one case."""

    cycles = (1, 1, 2, 3)

    def __init__(self, seed: int, family: str = "hard") -> None:
        self.dice = random.Random(seed)
        self.family = family
        self.seed = seed
        self.age = 0

    def case(self) -> Document:
        dice = self.dice
        fairness = dice.choice(("proportion", "capacity", "tree", "tree", "none"))
        self.nodes = [self._node(f"n{place}") for place in range(self.count())]
        self.left = {node["metadata"]["name"]: int(node["status"]["allocatable"]["cpu"]) for node in self.nodes}
        queues = self._queues(fairness)
        self.leaves = [queue["metadata"]["name"] for queue in queues if not queue["metadata"]["name"].startswith("r")]
        groups, pods = [], []
        for number in range(dice.randint(3, 7)):
            group, own = self._job(f"job{number}")
            groups.append(group)
            pods += own
        return self.objects() | {
            "name": f"{self.family}-{self.seed}",
            "family": self.family,
            "seed": self.seed,
            "conf": self._conf(fairness),
            "cycles": dice.choice(self.cycles),
            "nodes": self.nodes,
            "pods": pods,
            "podgroups": groups,
            "queues": queues,
            "priorityClasses": [
                {
                    "apiVersion": "scheduling.k8s.io/v1",
                    "kind": "PriorityClass",
                    "metadata": {"name": n, "uid": n},
                    "value": v,
                }
                for n, v in (("low", 10), ("mid", 50), ("high", 100))
            ],
        }

    def count(self) -> int:
        """How many nodes there are."""
        return self.dice.randint(2, 5)

    def objects(self) -> Document:
        """Further objects of the case."""
        return {}

    def plugins(self) -> list[tuple[str, Document]]:
        """Further plugins of the second tier, with their arguments."""
        return []

    def actions(self) -> tuple[str, ...]:
        return TOPOLOGY_ACTIONS if self.family == "topology" else ACTIONS

    def may_run(self, pod: Document, node: str) -> bool:
        """Whether a pod may run on a node from the beginning."""
        return True

    def placed(self, pod: Document, node: str) -> None:
        """A pod runs on a node from the beginning."""

    def _conf(self, fairness: str) -> str:
        dice = self.dice
        tree = ", enableHierarchy: true" if fairness == "tree" else ""
        name = "capacity" if fairness == "tree" else fairness
        second = ["overcommit"] if dice.random() < 0.3 else []
        second += ["drf"] if dice.random() < 0.3 else []
        second += ["predicates", *([] if fairness == "none" else [name]), "nodeorder", "binpack"]
        flags = {name: tree} if tree else {}
        if dice.random() < 0.4:
            flags["gang"] = ", enablePreemptable: false"
        lines = [f'actions: "{dice.choice(self.actions())}"', "tiers:", "- plugins:"]
        first = ["priority", "gang", "conformance"]
        lines += [f"  - {{name: {plugin}{flags.get(plugin, '')}}}" for plugin in first]
        lines += ["- plugins:", *(f"  - {{name: {plugin}{flags.get(plugin, '')}}}" for plugin in second)]
        lines += [f"  - {{name: {plugin}, arguments: {json.dumps(given)}}}" for plugin, given in self.plugins()]
        return "\n".join(lines) + "\n" + (TOPOLOGY if self.family == "topology" else "")

    def _node(self, name: str) -> Document:
        cpu = self.dice.choice((4, 5, 6, 7, 8, 9, 10))
        amounts = {"cpu": str(cpu), "memory": f"{self.dice.choice((16, 20, 24, 32, 40))}Gi", "pods": "110"}
        meta = {"name": name, "uid": name, "labels": {"kubernetes.io/hostname": name, "zone": self.dice.choice("ab")}}
        status = {"allocatable": amounts, "capacity": amounts}
        return {"apiVersion": "v1", "kind": "Node", "metadata": meta, "spec": {}, "status": status}

    def _queues(self, fairness: str) -> list[Document]:
        dice = self.dice
        total = sum(self.left.values())
        found = []

        def queue(name: str, parent: str = "") -> None:
            spec: Document = {"weight": dice.randint(1, 4)}
            if parent:
                spec["parent"] = parent
            if fairness in ("capacity", "tree") and name not in ("root", "r1", "r2"):
                spec["deserved"] = {"cpu": str(dice.randint(1, max(2, total // 2)))}
                if dice.random() < 0.6:
                    spec["deserved"]["memory"] = f"{dice.randint(4, 40)}Gi"
            if dice.random() < 0.2 and name not in ("root", "r1", "r2"):
                spec["capability"] = {"cpu": str(dice.randint(3, total))}
            if dice.random() < 0.15:
                spec["reclaimable"] = False
            if dice.random() < 0.15:
                spec["priority"] = dice.randint(1, 3)
            self.age += 1
            meta = {"name": name, "uid": name, "creationTimestamp": self._time()}
            found.append({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": meta,
                          "spec": spec, "status": {"state": "Open"}})  # fmt: skip

        if fairness == "tree":
            queue("root")
            queue("r1", "root")
            queue("r2", "root")
            for place, name in enumerate(("qa", "qb", "qc", "qd")[: dice.randint(2, 4)]):
                queue(name, ("r1", "r2", "r1", "root")[place])
        else:
            for name in ("qa", "qb", "qc")[: dice.randint(1, 3)]:
                queue(name)
        return found

    def _time(self) -> str:
        return f"2026-01-01T00:{self.age // 60:02}:{self.age % 60:02}Z"

    def _job(self, name: str) -> tuple[Document, list[Document]]:
        dice = self.dice
        self.age += 1
        runs = dice.random() < 0.55
        size = dice.randint(1, 5)
        least = dice.randint(1, size)
        cpu, memory = dice.choice((1, 1, 2, 2, 3, 4)), dice.choice((1, 2, 3, 4))
        spec: Document = {"minMember": least, "queue": dice.choice(self.leaves)}
        if dice.random() < 0.7:
            spec["priorityClassName"] = dice.choice(("low", "mid", "high"))
        if dice.random() < 0.5:
            spec["minResources"] = {"cpu": str(cpu * least), "memory": f"{memory * least}Gi"}
        phase = "Running" if runs else dice.choice(("Inqueue", "Inqueue", "Pending"))
        annotations: Document = {}
        meta = {"name": name, "namespace": "ns", "uid": f"ns-{name}", "creationTimestamp": self._time(),
                "annotations": annotations}  # fmt: skip
        roles = dice.choice((1, 1, 2))
        pods = []
        port = 0 if dice.random() > 0.2 else 8000 + dice.randint(0, 1)
        preemptable = dice.random() < 0.85
        for place in range(size):
            pod = self._pod(name, place, "ab"[place % roles], cpu, memory, port, preemptable)
            homes = [node for node, left in self.left.items() if left >= cpu and self.may_run(pod, node)]
            if runs and homes and (place < least or dice.random() < 0.7):
                home = dice.choice(homes)
                self.left[home] -= cpu
                pod["spec"]["nodeName"] = home
                pod["status"] = {"phase": "Running"}
                self.placed(pod, home)
                if dice.random() < 0.05:
                    pod["metadata"]["deletionTimestamp"] = "2026-01-02T00:00:00Z"
            elif dice.random() < 0.12:
                pod["status"]["nominatedNodeName"] = dice.choice(self.nodes)["metadata"]["name"]
            pods.append(pod)
        if phase == "Pending":
            pods = pods if dice.random() < 0.5 else []
        group = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": meta, "spec": spec,
                 "status": {"phase": phase}}  # fmt: skip
        return group, pods

    def _pod(self, job: str, place: int, role: str, cpu: int, memory: int, port: int, preemptable: bool) -> Document:
        dice = self.dice
        self.age += 1
        name = f"{job}-{role}-{place}"
        annotations = {"scheduling.k8s.io/group-name": job, "volcano.sh/task-spec": role}
        if not preemptable:
            annotations["volcano.sh/preemptable"] = "false"
        container: Document = {"name": "c", "image": "x"}
        if dice.random() < 0.93:
            container["resources"] = {"requests": {"cpu": str(cpu), "memory": f"{memory}Gi"}}
        if port:
            container["ports"] = [{"hostPort": port, "containerPort": port, "protocol": "TCP"}]
        spec: Document = {"containers": [container], "schedulerName": "volcano"}
        if dice.random() < 0.15:
            spec["nodeSelector"] = {"zone": dice.choice("ab")}
        if dice.random() < 0.1:
            spec["priority"] = dice.choice((5, 50, 500))
        meta = {"name": name, "namespace": "ns", "uid": f"ns-{name}", "annotations": annotations,
                "creationTimestamp": self._time(), "labels": {"job": job}}  # fmt: skip
        return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": {"phase": "Pending"}}
