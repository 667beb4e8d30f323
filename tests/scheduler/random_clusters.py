"""Random clusters that change between attempts, scheduled by the plain evaluator and with shortcuts."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from seatrial.model.documents import Document
from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.cache.node_table import NodeTable
from seatrial.scheduler.cache.pod_counts import PodCounts
from seatrial.scheduler.cache.pod_info import PodInfo, PodReader, replace_pod
from seatrial.scheduler.config import load_configuration
from seatrial.scheduler.evaluator.shortcuts import NONE, Shortcuts
from seatrial.scheduler.framework.interface import Handle
from seatrial.scheduler.framework.runtime import Framework
from seatrial.scheduler.plugins.registry import Registry
from seatrial.scheduler.queue import PodNominator
from seatrial.scheduler.schedule_one.schedule_one import Algorithm, Attempt
from seatrial.scheduler.schedule_one.select_host import TieBreak

ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
APPS = ("web", "db", "cache", "batch")
SECOND_PROFILE = {
    "schedulerName": "packer",
    "percentageOfNodesToScore": 70,
    "plugins": {"multiPoint": {"disabled": [{"name": "ImageLocality"}], "enabled": [{"name": "TaintToleration"}]}},
    "pluginConfig": [
        {
            "name": "NodeResourcesFit",
            "args": {
                "scoringStrategy": {
                    "type": "MostAllocated",
                    "resources": [{"name": "cpu"}, {"name": "example.com/gpu"}],
                }
            },
        },
        {"name": "InterPodAffinity", "args": {"hardPodAffinityWeight": 7}},
    ],
}
CONFIGURATION = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [{"schedulerName": "default-scheduler"}, SECOND_PROFILE],
}


class Objects:
    """Namespaces, services and budgets of a random cluster."""

    def __init__(self) -> None:
        self.documents: dict[str, list[Document]] = {"Namespace": [], "Service": [], "PodDisruptionBudget": []}
        self.versions: dict[str, int] = {}

    def list(self, kind: str, namespace: str | None = None) -> list[Document]:
        return [d for d in self.documents.get(kind, ()) if namespace in (None, d["metadata"].get("namespace"))]

    def get(self, kind: str, name: str, namespace: str = "") -> Document | None:
        return next((d for d in self.list(kind) if d["metadata"]["name"] == name), None)

    @property
    def changes(self) -> int:
        return sum(self.versions.values())

    def version(self, kind: str) -> int:
        return self.versions.get(kind, 0)


@dataclass
class Player:
    """A scheduler that takes some shortcuts; the plain one also counts the pods afresh before each attempt."""

    shortcuts: Shortcuts
    objects: Objects
    cells: bool = True
    table: NodeTable = field(default_factory=NodeTable)
    pending: dict[str, PodInfo] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.nominator = PodNominator(lambda pod: self.pending.get(pod.uid))
        configuration = load_configuration(CONFIGURATION)
        handle = Handle(
            self.objects,
            self.table,
            self.nominator,
            gates=configuration.gates,
            now=lambda: 10**15,
            version=configuration.version,
            shortcuts=self.shortcuts,
        )
        self.frameworks = {p.name: Framework.build(p, Registry(), handle) for p in configuration.profiles}
        self.algorithm = Algorithm(self.table, self.nominator, tie_break=TieBreak("upstream"), shortcuts=self.shortcuts)

    def attempt(self, pod: PodInfo) -> Attempt:
        if self.shortcuts == NONE:
            recount(self.table)
        return self.algorithm.schedule(self.frameworks[pod.shape.scheduler_name], pod, lambda visited: self.cells)

    def follow(self, pod: PodInfo, attempt: Attempt) -> None:
        """Does what a scheduler does after an attempt: assume the pod, or evict and nominate."""
        if attempt.node:
            self.pending.pop(pod.uid, None)
            self.nominator.remove(pod)
            self.table.add_pod(replace_pod(pod, node=attempt.node, nominated_node="", start_time=len(pod.name)))
        elif attempt.post_filter is not None and attempt.post_filter.nominated_node:
            for victim in attempt.post_filter.victims:
                self.table.remove_pod(victim)
            self.pending[pod.uid] = replace_pod(pod, nominated_node=attempt.post_filter.nominated_node)
            self.nominator.nominate(self.pending[pod.uid])


def recount(table: NodeTable) -> None:
    """Makes everything that is kept incrementally anew from the pods on the nodes."""
    table.counts = PodCounts(len(table.unschedulable))
    table.labels.clear()
    table.port_rows.clear()
    for column in table._requested.values():
        column[:] = 0
    for row, node in enumerate(table.infos):
        for pod in node.pods if node is not None else ():
            table._charge(pod, row, 1)
            table.counts.add(pod, row)
            for protocol, _, port in pod.shape.host_ports:
                places = table.port_rows.setdefault((protocol, port), {})
                places[row] = places.get(row, 0) + 1


def told(attempt: Attempt) -> dict[str, Any]:
    """Everything an attempt says, by node name."""
    info = attempt.found.table.info if attempt.found else None
    verdicts: dict[str, Any] = {}
    statuses: tuple[Any, ...] = ()
    if attempt.found is not None and info is not None:
        codes, statuses = attempt.found.explain()
        rows = attempt.found.visited.tolist()
        verdicts = {info(r).name: statuses[c - 1] if c else None for r, c in zip(rows, codes.tolist(), strict=True)}
    result = attempt.post_filter
    return {
        "node": attempt.node,
        "message": attempt.message,
        "nominated": attempt.nominated,
        "pre_filter": (sorted(attempt.pre_filter.cycle.skipped), attempt.pre_filter.ran),
        "verdicts": list(verdicts.items()),
        "statuses": statuses,
        "counted": attempt.found.counted() if attempt.found is not None else None,
        "total": attempt.scored.total.tolist() if attempt.scored else None,
        "skipped": sorted(attempt.scored.skipped) if attempt.scored else None,
        "victims": [v.key for v in result.victims] if result else None,
        "nominates": result.nominated_node if result else None,
    }


class SeededRandom:
    """Makes random clusters: nodes, pods and what happens to them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.reader = PodReader()
        self.number = 0
        self.shapes = [self._shape() for _ in range(self.random.randint(3, 8))]

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def node(self, name: str) -> Document:
        pick = self.random
        labels = {HOSTNAME: name, "disk": pick.choice(("ssd", "hdd"))}
        if self.chance(0.9):
            labels[ZONE] = pick.choice("abc")
        taints = []
        if self.chance(0.15):
            taints.append({"key": "spot", "value": "x", "effect": pick.choice(("NoSchedule", "PreferNoSchedule"))})
        images = [{"names": [f"registry/{app}:1"], "sizeBytes": 300_000_000} for app in APPS if self.chance(0.3)]
        allocatable = {"cpu": str(pick.choice((2, 4))), "memory": "4Gi", "pods": str(pick.choice((6, 20)))}
        if self.chance(0.2):
            allocatable["example.com/gpu"] = "2"
        return {
            "metadata": {"name": name, "labels": labels},
            "spec": {"taints": taints, "unschedulable": self.chance(0.03)},
            "status": {"allocatable": allocatable, "images": images},
        }

    def pod(self, shape: Document | None = None) -> PodInfo:
        self.number += 1
        name = f"p{self.number:05}"
        chosen = shape or self.random.choice(self.shapes)
        metadata = {"name": name, "namespace": chosen["namespace"], "uid": name, "labels": chosen["labels"]}
        return self.reader.read({"metadata": metadata, "spec": chosen["spec"]})

    def budget(self, name: str) -> Document:
        return {
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"selector": {"matchLabels": {"app": self.random.choice(APPS)}}},
            "status": {"disruptionsAllowed": self.random.randint(0, 1)},
        }

    def _shape(self) -> Document:
        pick = self.random
        app = pick.choice(APPS)
        requests: dict[str, str] = {
            "cpu": pick.choice(("100m", "500m", "1500m")),
            "memory": pick.choice(("64Mi", "1Gi")),
        }
        if self.chance(0.1):
            requests["example.com/gpu"] = "1"
        container: Document = {"name": "c", "image": f"registry/{app}:1"}
        if self.chance(0.9):
            container["resources"] = {"requests": requests}
        if self.chance(0.15):
            container["ports"] = [{"containerPort": 80, "hostPort": pick.choice((80, 81)), "protocol": "TCP"}]
        spec: Document = {
            "containers": [container],
            "priority": pick.choice((0, 0, 10, 100)),
            "schedulerName": pick.choice(("default-scheduler", "default-scheduler", "packer")),
        }
        if self.chance(0.3):
            spec["tolerations"] = [{"key": "spot", "operator": "Exists"}]
        if self.chance(0.2):
            spec["nodeSelector"] = {"disk": "ssd"}
        if self.chance(0.3):
            spec["topologySpreadConstraints"] = [self._constraint(app) for _ in range(pick.randint(1, 2))]
        affinity = self._affinity()
        if affinity:
            spec["affinity"] = affinity
        return {"namespace": pick.choice(("default", "default", "other")), "labels": {"app": app}, "spec": spec}

    def _constraint(self, app: str) -> Document:
        return {
            "maxSkew": self.random.randint(1, 3),
            "topologyKey": self.random.choice((ZONE, HOSTNAME)),
            "whenUnsatisfiable": self.random.choice(("DoNotSchedule", "ScheduleAnyway")),
            "labelSelector": {"matchLabels": {"app": app}},
            "nodeTaintsPolicy": self.random.choice(("Honor", "Ignore")),
        }

    def _affinity(self) -> Document:
        affinity: Document = {}
        if self.chance(0.2):
            affinity["podAntiAffinity"] = self._terms(required=self.chance(0.6))
        if self.chance(0.2):
            affinity["podAffinity"] = self._terms(required=self.chance(0.3))
        if self.chance(0.15):
            term = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["hdd"]}]}
            affinity["nodeAffinity"] = {
                "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 5, "preference": term}]
            }
        return affinity

    def _terms(self, required: bool) -> Document:
        term = {
            "labelSelector": {"matchLabels": {"app": self.random.choice(APPS)}},
            "topologyKey": self.random.choice((ZONE, HOSTNAME)),
        }
        if required:
            return {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
        return {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 10, "podAffinityTerm": term}]}


def parts_of(attempt: Attempt) -> list[tuple[Any, ...]]:
    """Every plugin's raw and normalized scores."""
    scored = attempt.scored
    return [(p.plugin, p.weight, p.raw.tolist(), p.normalized.tolist()) for p in scored.parts] if scored else []


class RandomRun:
    """One random cluster in front of several players: the plain one first, then one for each set of shortcuts."""

    def __init__(self, seed: int, others: Sequence[Shortcuts], nodes: int = 150) -> None:
        self.dice = SeededRandom(seed)
        self.objects = Objects()
        self.objects.documents["Namespace"] = [
            {"metadata": {"name": name, "labels": {"name": name}}} for name in ("default", "other")
        ]
        if self.dice.chance(0.5):
            service = {"metadata": {"name": "s", "namespace": "default"}, "spec": {"selector": {"app": "web"}}}
            self.objects.documents["Service"] = [service]
        if self.dice.chance(0.5):
            self.objects.documents["PodDisruptionBudget"] = [self.dice.budget("b0"), self.dice.budget("b1")]
        self.players = [Player(shortcuts, self.objects, seed % 2 == 0) for shortcuts in (NONE, *others)]
        self.names: list[str] = []
        for number in range(nodes + self.dice.random.randint(0, 30)):
            self.add_node(f"node-{number:03}")
        fullness = self.dice.random.choice((0.5, 4, 14))
        for _ in range(int(len(self.names) * fullness)):
            self.bind(self.dice.pod(), self.dice.random.choice(self.names))

    def add_node(self, name: str) -> None:
        document = self.dice.node(name)
        self.names.append(name)
        for player in self.players:
            player.table.add_node(NodeInfo.read(document))

    def bind(self, pod: PodInfo, node: str) -> None:
        started = self.dice.random.randint(0, 10**6)
        for player in self.players:
            player.table.add_pod(replace_pod(pod, node=node, start_time=started))

    def change(self) -> None:
        """Something happens to the cluster."""
        pick, names = self.dice.random, self.names
        for _ in range(pick.randint(0, 3)):
            match pick.randint(0, 4):
                case 0:
                    self.add_node(f"late-{self.dice.number}-{len(names)}")
                case 1:
                    name = names.pop(pick.randrange(len(names)))
                    for player in self.players:
                        player.table.remove_node(name)
                case 2:
                    document = self.dice.node(pick.choice(names))
                    for player in self.players:
                        player.table.update_node(NodeInfo.read(document))
                case 3:
                    self._delete_some_pod()
                case 4:
                    self._nominate()

    def _delete_some_pod(self) -> None:
        name = self.dice.random.choice(self.names)
        node = self.players[0].table.find(name)
        if node is not None and node.pods:
            victim = self.dice.random.choice(node.pods)
            for player in self.players:
                if self.dice.number % 3:
                    player.table.remove_pod(victim)
                else:
                    player.table.update_pod(victim, replace_pod(victim, deleting=True))

    def _nominate(self) -> None:
        pod = replace_pod(self.dice.pod(), nominated_node=self.dice.random.choice(self.names))
        for player in self.players:
            player.pending[pod.uid] = pod
            player.nominator.nominate(pod)

    def attempt(self) -> Iterator[tuple[Shortcuts, dict[str, Any], dict[str, Any]]]:
        """All players schedule the next pod: the outcome with each set of shortcuts, and the plain one."""
        waiting = list(self.players[0].pending.values())
        pod = self.dice.random.choice(waiting) if waiting and self.dice.chance(0.3) else self.dice.pod()
        plain: dict[str, Any] = {}
        for player in self.players:
            attempt = player.attempt(pod)
            said = told(attempt) | {"start": player.algorithm.start}
            if player.cells:
                said["parts"] = parts_of(attempt)
            player.follow(pod, attempt)
            plain = plain or said
            yield player.shortcuts, said, plain
