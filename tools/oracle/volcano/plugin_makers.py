"""Random sessions for plugins that need objects of their own: devices, NUMA topologies, load, budgets, HyperNodes."""

from makers import Document, Maker

SMALL = (
    "enqueue, allocate",
    "enqueue, allocate, backfill",
    "enqueue, allocate, preempt",
    "enqueue, allocate, preempt, reclaim",
    "enqueue, preempt, allocate",
)
EXTENDER = "http://127.0.0.1:47110"
VGPU = "volcano.sh/vgpu-"
USAGE = "simulation.kube-scheduler-simulator.x-k8s.io/usage"
MIG_CONFIG = """\
nvidia:
  resourceCountName: volcano.sh/vgpu-number
  resourceMemoryName: volcano.sh/vgpu-memory
  resourceMemoryPercentageName: volcano.sh/vgpu-memory-percentage
  resourceCoreName: volcano.sh/vgpu-cores
  gpuMemoryFactor: FACTOR
  knownMigGeometries:
  - models: ["A30"]
    allowedGeometries:
    - {group: group1, geometries: [{name: 1g.6gb, memory: 6144, count: 4}]}
    - {group: group2, geometries: [{name: 2g.12gb, memory: 12288, count: 2}]}
    - {group: group3, geometries: [{name: 4g.24gb, memory: 24576, count: 1}]}
  - models: ["A100-SXM4-40GB", "A100-PCIE-40GB"]
    allowedGeometries:
    - {group: group1, geometries: [{name: 2g.10gb, memory: 10240, count: 3}, {name: 1g.5gb, memory: 5120, count: 1}]}
    - {group: group2, geometries: [{name: 1g.5gb, memory: 5120, count: 7}]}
    - {group: group3, geometries: [{name: 3g.20gb, memory: 20480, count: 2}]}
"""


class Vgpu(Maker):
    """GPUs divided by HAMi, or by MIG."""

    models = ("NVIDIA-Tesla V100", "NVIDIA-A10", "NVIDIA-L40S")
    mode = "hami-core"
    shares = (2, 3, 4, 10)
    memories = (8000, 12000, 16000)

    def actions(self) -> tuple[str, ...]:
        return SMALL

    def plugins(self) -> list[tuple[str, Document]]:
        arguments: Document = {"deviceshare.VGPUEnable": True}
        policy = self.dice.choice(("", "binpack", "binpack", "spread"))
        if policy:
            arguments["deviceshare.SchedulePolicy"] = policy
        if self.dice.random() < 0.7:
            arguments["deviceshare.ScheduleWeight"] = self.dice.choice((1, 10, 100))
        if self.dice.random() < 0.25:
            rules = ({"tier": "gold"}, {"job": "job1"}, {"job": "job2", "tier": "gold"}, {"job": "job3"})
            arguments["deviceshare.GPUExclusiveRules"] = self.dice.sample(rules, self.dice.randint(1, 3))
        return [("deviceshare", arguments)]

    def _node(self, name: str) -> Document:
        dice, node = self.dice, super()._node(name)
        if not hasattr(self, "cards"):
            self.cards: dict[str, list[Document]] = {}
        if dice.random() < 0.15:
            return node
        mode = self.mode if dice.random() < 0.85 else "hami-core"
        cards = [
            {"uuid": f"GPU-{name}-{place}", "number": dice.choice(self.shares), "memory": dice.choice(self.memories),
             "type": dice.choice(self.models), "cores": 0, "used": 0, "held": 0, "mode": mode, "parts": set(), "group": None}
            for place in range(dice.randint(1, 4))
        ]  # fmt: skip
        self.cards[name] = cards
        text = "".join(f"{c['uuid']},{c['number']},{c['memory']},{c['type']},true,{mode}:" for c in cards)
        node["metadata"]["annotations"] = {"volcano.sh/node-vgpu-register": text}
        amounts = node["status"]["allocatable"]
        amounts[VGPU + "number"] = str(sum(card["number"] for card in cards))
        amounts[VGPU + "memory"] = str(sum(card["memory"] for card in cards))
        amounts[VGPU + "cores"] = str(100 * len(cards))
        return node

    def _pod(self, *given: object) -> Document:
        dice, pod = self.dice, super()._pod(*given)
        if dice.random() < 0.2:
            return pod
        containers = pod["spec"]["containers"]
        if dice.random() < 0.3:
            pod["metadata"]["labels"]["tier"] = "gold"
        if dice.random() < 0.2:
            containers.append({"name": "d", "image": "x"})
        for container in containers:
            limits = self._limits()
            resources = container.setdefault("resources", {})
            resources["limits"] = limits
            resources["requests"] = {**resources.get("requests", {}), **limits}
        notes = pod["metadata"]["annotations"]
        for key, chance, choices in (
            ("nvidia.com/use-gputype", 0.1, ("V100", "A10,L40S", "a100", "A30")),
            ("nvidia.com/nouse-gputype", 0.05, ("L40S", "A10,A30")),
            ("volcano.sh/vgpu-use-gpuuuid", 0.05, ("GPU-n0-0,GPU-n1-0", "GPU-n1-1")),
            ("volcano.sh/vgpu-nouse-gpuuuid", 0.05, ("GPU-n0-0", "GPU-n1-0, GPU-n2-0")),
            ("volcano.sh/vgpu-mode", 0.08, ("hami-core", "mig")),
            ("volcano.sh/vgpu-podgroup-policy", 0.15, ("spread",)),
        ):
            if dice.random() < chance:
                notes[key] = dice.choice(choices)
        return pod

    def _limits(self) -> Document:
        dice = self.dice
        limits = {}
        if dice.random() < 0.9:
            limits[VGPU + "number"] = str(dice.choice((1, 1, 1, 2)))
        if dice.random() < 0.8 or not limits:
            limits[VGPU + "memory"] = str(dice.choice((1000, 2000, 3000, 4000, 6000, 8000)))
        if dice.random() < 0.5:
            limits[VGPU + "cores"] = str(dice.choice((10, 25, 30, 50, 60, 100)))
        return limits

    def may_run(self, pod: Document, node: str) -> bool:
        if all("limits" not in container.get("resources", {}) for container in pod["spec"]["containers"]):
            return True
        return bool(self._chosen(pod, node))

    def _chosen(self, pod: Document, node: str) -> list[list[tuple[Document, int, int]]]:
        """What the containers of a pod can hold on a node; nothing where they cannot."""
        found = []
        used = {card["uuid"]: (card["held"], card["used"], card["cores"]) for card in self.cards.get(node, ())}
        for container in pod["spec"]["containers"]:
            limits, own = container["resources"]["limits"], []
            for card in self.cards.get(node, ()):
                held, memory, cores = used[card["uuid"]]
                asked = int(limits.get(VGPU + "memory", card["memory"]))
                share = int(limits.get(VGPU + "cores", 0))
                if held < card["number"] and memory + asked <= card["memory"] and cores + share <= 100:
                    own.append((card, asked, share))
                    used[card["uuid"]] = (held + 1, memory + asked, cores + share)
                if len(own) == int(limits.get(VGPU + "number", 1)):
                    break
            if len(own) < int(limits.get(VGPU + "number", 1)):
                return []
            found.append(own)
        return found

    def placed(self, pod: Document, node: str) -> None:
        if all("limits" not in container.get("resources", {}) for container in pod["spec"]["containers"]):
            return
        text = []
        for own in self._chosen(pod, node):
            entry = ""
            for card, memory, cores in own:
                card["held"] += 1
                card["used"] += memory
                card["cores"] += cores
                entry += f"{self._device(card, memory)},NVIDIA,{memory},{cores}:"
            text.append(entry)
        if self.dice.random() < 0.95:
            pod["metadata"]["annotations"]["volcano.sh/vgpu-ids-new"] = ";".join(text)
            pod["metadata"]["annotations"]["volcano.sh/vgpu-node"] = node

    def _device(self, card: Document, memory: int) -> str:
        return card["uuid"]


class Mig(Vgpu):
    """GPUs split by MIG."""

    models = ("NVIDIA-A30", "NVIDIA-NVIDIA A100-SXM4-40GB", "NVIDIA-A100-PCIE-40GB", "NVIDIA-L40S")
    mode = "mig"
    shares = (4, 7)
    memories = (24576, 40960)
    sizes = {"A30": (("group1", 4, 6144), ("group2", 2, 12288)), "A100": (("group1", 4, 5120), ("group2", 7, 5120), ("group3", 2, 20480))}  # fmt: skip

    def objects(self) -> Document:
        if self.dice.random() < 0.1:
            return {}
        text = MIG_CONFIG.replace("FACTOR", self.dice.choice(("0", "1", "2")))
        meta = {"name": "volcano-vgpu-device-config", "namespace": "kube-system"}
        return {"configMaps": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"device-config.yaml": text}}]}  # fmt: skip

    def _limits(self) -> Document:
        limits = super()._limits()
        if VGPU + "memory" in limits:
            limits[VGPU + "memory"] = str(self.dice.choice((2000, 5000, 6000, 9000, 12000, 20000)))
        if self.dice.random() < 0.1:
            limits[VGPU + "memory-percentage"] = str(self.dice.choice((10, 25, 50)))
        return limits

    def _node(self, name: str) -> Document:
        node = super()._node(name)
        if name in self.cards:
            node["status"]["allocatable"][VGPU + "memory-percentage"] = "400"
        return node

    def _device(self, card: Document, memory: int) -> str:
        kind = next((kind for kind in self.sizes if kind in card["type"]), None)
        if card["mode"] != "mig" or kind is None:
            return card["uuid"]
        card["group"] = card["group"] or self.dice.choice(self.sizes[kind])
        group, count, _ = card["group"]
        free = [place for place in range(count) if place not in card["parts"]]
        place = free[0] if free else 0
        card["parts"].add(place)
        return f"{card['uuid']}[{group}-{place}]"


class GpuCards(Maker):
    """GPU cards shared by memory, or held whole."""

    def actions(self) -> tuple[str, ...]:
        return SMALL

    def case(self) -> Document:
        self.by_memory = self.dice.random() < 0.6
        self.cards: dict[str, list[int]] = {}
        return super().case()

    def plugins(self) -> list[tuple[str, Document]]:
        key = "deviceshare.GPUSharingEnable" if self.by_memory else "deviceshare.GPUNumberEnable"
        return [("deviceshare", {key: True, "deviceshare.ScheduleWeight": 10})]

    def _node(self, name: str) -> Document:
        node = super()._node(name)
        count = self.dice.randint(0, 4)
        if count:
            # By number upstream takes any free cards, so that sessions end alike only if all are taken or none.
            self.cards[name] = [8] * count
            more = {"volcano.sh/gpu-memory": str(8 * count), "volcano.sh/gpu-number": str(count)}
            node["status"]["allocatable"] |= more
            if self.dice.random() < 0.2:
                node["metadata"]["annotations"] = {"volcano.sh/gpu-unhealthy-ids": "0"}
                self.cards[name][0] = 0
        return node

    def _pod(self, *given: object) -> Document:
        pod = super()._pod(*given)
        if self.dice.random() < 0.75:
            name = "volcano.sh/gpu-memory" if self.by_memory else "volcano.sh/gpu-number"
            amount = str(self.dice.choice((2, 3, 4, 5, 8)) if self.by_memory else self.dice.choice((1, 1, 2)))
            resources = pod["spec"]["containers"][0].setdefault("resources", {"requests": {}})
            resources["limits"] = {name: amount}
            resources["requests"][name] = amount
        return pod

    def _asks(self, pod: Document) -> int:
        limits = pod["spec"]["containers"][0].get("resources", {}).get("limits") or {}
        return int(next(iter(limits.values()), 0))

    def _found(self, pod: Document, node: str) -> list[int]:
        asked, cards = self._asks(pod), self.cards.get(node, [])
        if self.by_memory:
            return [place for place, left in enumerate(cards) if left >= asked][:1]
        free = [place for place, left in enumerate(cards) if left == 8]
        return free[:asked] if len(free) >= asked else []

    def may_run(self, pod: Document, node: str) -> bool:
        return not self._asks(pod) or bool(self._found(pod, node))

    def placed(self, pod: Document, node: str) -> None:
        asked = self._asks(pod)
        found = self._found(pod, node) if asked else []
        for place in found:
            self.cards[node][place] -= asked if self.by_memory else 8
        if found:
            pod["metadata"]["annotations"]["volcano.sh/gpu-index"] = ",".join(map(str, found))


class Loaded(Maker):
    """Nodes under load: `usage`, and `rescheduling` with the action shuffle."""

    cycles = (1,)

    def actions(self) -> tuple[str, ...]:
        if self.family == "usage":
            return SMALL
        return (
            "enqueue, allocate, shuffle",
            "shuffle",
            "enqueue, shuffle, allocate",
            "enqueue, allocate, shuffle, preempt",
        )

    def plugins(self) -> list[tuple[str, Document]]:
        dice = self.dice
        if self.family == "rescheduling":
            low, high = dice.choice((10, 20, 30, 45)), dice.choice((40, 50, 60, 70))
            params = {
                "thresholds": {"cpu": low, "memory": dice.choice((20, 35, 50))},
                "targetThresholds": {"cpu": high, "memory": dice.choice((50, 60, 75))},
            }
            strategy = {"name": "lowNodeUtilization", "params": params}
            return [("rescheduling", {"interval": "1ns", "metricsPeriod": "5m", "strategies": [strategy]})]
        arguments: Document = {"usage.weight": dice.choice((1, 5, 20))}
        for name in ("cpu.weight", "memory.weight"):
            if dice.random() < 0.4:
                arguments[name] = dice.choice((0, 1, 3, 8))
        if dice.random() < 0.7:
            arguments["thresholds"] = {"cpu": dice.choice((30, 50, 80, 101)), "mem": dice.choice((25, 50, 80))}
        if dice.random() < 0.7:
            arguments["estimator"] = {
                "request_ratio": dice.choice((0, 0.3, 0.5, 1, 2)), "burst_ratio": dice.choice((0, 0.25, 0.5)),
                "risk_threshold": dice.choice((0.1, 0.3, 0.6)), "risk_factor": dice.choice((0.5, 1, 1.5, 3)),
                "be_cpu": dice.choice(("250m", 400, "1", -3)), "be_mem": dice.choice(("200Mi", 300, "bad")),
            }  # fmt: skip
        return [("usage", arguments)]

    def _pod(self, *given: object) -> Document:
        dice, pod = self.dice, super()._pod(*given)
        pod["metadata"]["annotations"][USAGE] = (
            f"cpu={dice.choice((0, 1, 2, 3))},memory={dice.choice((0, 1, 2, 4, 6))}Gi"
        )
        resources = pod["spec"]["containers"][0].get("resources")
        if resources and dice.random() < 0.4:
            limits = {"cpu": str(int(resources["requests"]["cpu"]) + dice.choice((0, 1, 2))), "memory": "8Gi"}
            resources["limits"] = limits if dice.random() < 0.7 else dict(resources["requests"])
        if dice.random() < 0.2:
            first = {"name": "i", "image": "x", "resources": {"limits": {"cpu": "5", "memory": "9Gi"}}}
            pod["spec"]["initContainers"] = [first | dice.choice(({}, {"restartPolicy": "Always"}))]
        if dice.random() < 0.1:
            pod["spec"]["overhead"] = {"cpu": "250m", "memory": "100Mi"}
        return pod

    def placed(self, pod: Document, node: str) -> None:
        if self.dice.random() < 0.7:
            pod["status"]["startTime"] = "2026-01-01T00:00:00Z"
        if not hasattr(self, "used"):
            self.used: dict[str, list[float]] = {}
        cpu, memory = pod["metadata"]["annotations"][USAGE].split(",")
        load = self.used.setdefault(node, [0, 0])
        load[0] += int(cpu.removeprefix("cpu="))
        load[1] += int(memory.removeprefix("memory=").removesuffix("Gi"))

    def objects(self) -> Document:
        found = {}
        for node in self.nodes:
            name, amounts = node["metadata"]["name"], node["status"]["capacity"]
            cpu, memory = getattr(self, "used", {}).get(name, (0, 0))
            cpu, memory = 100 * cpu / int(amounts["cpu"]), 100 * memory / int(amounts["memory"].removesuffix("Gi"))
            found[name] = {
                part: {"5m": value, "10m": value} for part, value in (("cpu", float(cpu)), ("memory", float(memory)))
            }
        return {"nodeUsage": found}


class Budgets(Maker):
    """PodDisruptionBudgets."""

    def plugins(self) -> list[tuple[str, Document]]:
        return [("pdb", {})]

    def _conf(self, fairness: str) -> str:
        conf = super()._conf(fairness)
        if self.dice.random() < 0.6:
            conf = conf.replace("  - {name: pdb, arguments: {}}\n", "").replace(
                "  - {name: conformance}", "  - {name: conformance}\n  - {name: pdb}"
            )
        return conf

    def actions(self) -> tuple[str, ...]:
        return (
            *SMALL[2:],
            "enqueue, reclaim, allocate",
            "enqueue, allocate, gangpreempt",
            "enqueue, allocate, reclaim, shuffle",
        )

    def _pod(self, *given: object) -> Document:
        pod = super()._pod(*given)
        if self.dice.random() < 0.1:
            pod["metadata"]["labels"] = {}
        else:
            pod["metadata"]["labels"]["app"] = self.dice.choice("xyz")
        self.names = [*getattr(self, "names", ()), pod["metadata"]["name"]]
        return pod

    def objects(self) -> Document:
        dice, found = self.dice, []
        selectors = (
            {"matchLabels": {"app": "x"}},
            {"matchLabels": {"app": "y"}},
            {"matchExpressions": [{"key": "app", "operator": "In", "values": ["y", "z"]}]},
            {"matchExpressions": [{"key": "job", "operator": "Exists"}]},
            {},
            None,
        )
        for number in range(dice.randint(1, 4)):
            status: Document = {"disruptionsAllowed": dice.choice((0, 0, 1, 1, 2, 3)), "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1}  # fmt: skip
            if dice.random() < 0.2:
                status["disruptedPods"] = {
                    name: "2026-01-01T00:00:00Z" for name in dice.sample(self.names, min(2, len(self.names)))
                }
            meta = {"name": f"b{number}", "namespace": "ns" if dice.random() < 0.9 else "other"}
            spec = {"minAvailable": 1, "selector": dice.choice(selectors)}
            found.append(
                {
                    "apiVersion": "policy/v1",
                    "kind": "PodDisruptionBudget",
                    "metadata": meta,
                    "spec": spec,
                    "status": status,
                }
            )
        return {"podDisruptionBudgets": found}


class Numa(Maker):
    """NUMA topologies of nodes."""

    cycles = (1,)

    def actions(self) -> tuple[str, ...]:
        return SMALL

    def case(self) -> Document:
        self.topologies: list[Document] = []
        return super().case()

    def plugins(self) -> list[tuple[str, Document]]:
        return [("numa-aware", {"weight": self.dice.choice((1, 5, 10))})]

    def objects(self) -> Document:
        return {"numatopologies": self.topologies}

    def _node(self, name: str) -> Document:
        dice, node = self.dice, super()._node(name)
        cpus = dice.choice((8, 12, 16))
        for part in ("allocatable", "capacity"):
            node["status"][part]["cpu"] = str(cpus)
        if dice.random() < 0.1:
            return node
        sockets = dice.choice((1, 2))
        numas = sockets * dice.choice((1, 2))
        threads = dice.choice((1, 2))
        detail = {}
        for cpu in range(cpus):
            numa = cpu * numas // cpus
            detail[str(cpu)] = {"numa": numa, "socket": numa * sockets // numas, "core": cpu // threads}
        free = [cpu for cpu in range(cpus) if dice.random() < 0.8]
        policies = {
            "CPUManagerPolicy": "static" if dice.random() < 0.9 else "none",
            "TopologyManagerPolicy": dice.choice(
                ("none", "best-effort", "best-effort", "restricted", "single-numa-node")
            ),
        }
        spec: Document = {"policies": policies, "cpuDetail": detail,
                          "numares": {"cpu": {"allocatable": ",".join(map(str, free)), "capacity": cpus}}}  # fmt: skip
        if dice.random() < 0.3:
            spec["resReserved"] = {"cpu": dice.choice(("1", "1500m", "2"))}
        self.topologies.append(
            {
                "apiVersion": "nodeinfo.volcano.sh/v1alpha1",
                "kind": "Numatopology",
                "metadata": {"name": name},
                "spec": spec,
            }
        )
        return node

    def _pod(self, *given: object) -> Document:
        dice, pod = self.dice, super()._pod(*given)
        for container in pod["spec"]["containers"]:
            if "resources" in container and dice.random() < 0.85:
                container["resources"]["limits"] = dict(container["resources"]["requests"])
        if dice.random() < 0.2:
            amounts = {"cpu": dice.choice(("1", "2", "500m")), "memory": "1Gi"}
            pod["spec"]["containers"].append(
                {"name": "d", "image": "x", "resources": {"requests": amounts, "limits": dict(amounts)}}
            )
        if dice.random() < 0.8:
            policy = dice.choice(("none", "best-effort", "best-effort", "restricted", "single-numa-node"))
            pod["metadata"]["annotations"]["volcano.sh/numa-topology-policy"] = policy
        return pod


class Extended(Maker):
    """An extender that is asked over HTTP; hard_sessions.py serves it by the rules of the case."""

    verbs = ("predicate", "prioritize", "preemptable", "reclaimable", "queueOverused", "jobEnqueueable", "jobEnqueued",
             "jobReady", "allocateFunc", "deallocateFunc", "onSessionOpen", "onSessionClose")  # fmt: skip

    def actions(self) -> tuple[str, ...]:
        return (*SMALL, "enqueue, reclaim, allocate")

    def case(self) -> Document:
        dice = self.dice
        self.rules: Document = {}
        for verb in self.verbs:
            if dice.random() < 0.35:
                self.rules[verb] = {"denied": dice.choice((0, 15, 30, 50)), "failing": dice.choice((0, 0, 0, 10, 40))}
        self.rules.get("predicate", {})["code"] = dice.choice((0, 1, 2, 2, 3))
        self.rules.get("prioritize", {})["most"] = dice.choice((10, 100, 1000))
        for verb in ("preemptable", "reclaimable"):
            self.rules.get(verb, {})["vote"] = dice.choice((1, 1, 1, 0, -1))
        self.rules.get("jobEnqueueable", {})["abstained"] = dice.choice((0, 50))
        return super().case()

    def objects(self) -> Document:
        return {"extender": self.rules}

    def plugins(self) -> list[tuple[str, Document]]:
        arguments: Document = {f"extender.{verb}Verb": verb for verb in self.rules}
        arguments["extender.urlPrefix"] = EXTENDER
        arguments["extender.httpTimeout"] = "20s"
        if self.dice.random() < 0.5:
            arguments["extender.ignorable"] = True
        if self.dice.random() < 0.3:
            arguments["extender.managedResources"] = self.dice.choice((["memory"], ["example.com/x", "cpu"]))
        return [("extender", arguments)]


class Topologies(Maker):
    """HyperNodes, and jobs that keep to them."""

    def actions(self) -> tuple[str, ...]:
        return ("enqueue, allocate", "allocate, backfill", "enqueue, allocate, gangpreempt", "enqueue, gangpreempt, allocate",
                "enqueue, allocate, gangreclaim")  # fmt: skip

    def plugins(self) -> list[tuple[str, Document]]:
        arguments: Document = {}
        if self.dice.random() < 0.7:
            arguments["weight"] = self.dice.choice((1, 10, 30))
        if self.dice.random() < 0.2:
            arguments["hypernode.binpack.cpu"] = self.dice.choice((2, 5))
        if self.dice.random() < 0.2:
            arguments["hypernode.binpack.normal-pod.enable"] = False
        elif self.dice.random() < 0.3:
            arguments["hypernode.binpack.normal-pod.fading"] = self.dice.choice((0.5, 1.0))
        return [("network-topology-aware", arguments)]

    def objects(self) -> Document:
        """Switches of two or three nodes, blocks of two switches, and one above them."""
        dice, found = self.dice, []
        names = [node["metadata"]["name"] for node in self.nodes]
        leaves = [names[place : place + self.size] for place in range(0, len(names), self.size)]

        def hyper_node(name: str, tier: int, members: list[str], kind: str) -> None:
            listed: list[Document] = [{"type": kind, "selector": {"exactMatch": {"name": each}}} for each in members]
            if kind == "Node" and dice.random() < 0.2:
                listed = [{"type": kind, "selector": {"regexMatch": {"pattern": f"^({'|'.join(members)})$"}}}]
            elif kind == "Node" and dice.random() < 0.2:
                listed = [{"type": kind, "selector": {"labelMatch": {"matchLabels": {"switch": name}}}}]
                for node in self.nodes:
                    if node["metadata"]["name"] in members:
                        node["metadata"]["labels"]["switch"] = name
            spec: Document = {"tier": tier, "members": listed}
            if self.named:
                spec["tierName"] = f"tier-{tier}"
            found.append(
                {
                    "apiVersion": "topology.volcano.sh/v1alpha1",
                    "kind": "HyperNode",
                    "metadata": {"name": name},
                    "spec": spec,
                }
            )

        for place, members in enumerate(leaves):
            hyper_node(f"s{place}", 1, members, "Node")
        blocks = [list(range(place, min(place + 2, len(leaves)))) for place in range(0, len(leaves), 2)]
        if self.tiers > 1:
            for place, members in enumerate(blocks):
                hyper_node(f"b{place}", 2, [f"s{each}" for each in members], "HyperNode")
        if self.tiers > 2:
            hyper_node("top", 3, [f"b{place}" for place in range(len(blocks))], "HyperNode")
        return {"hyperNodes": found}

    def case(self) -> Document:
        self.size, self.tiers, self.named = (
            self.dice.choice((1, 2, 2, 3)),
            self.dice.randint(1, 3),
            self.dice.random() < 0.3,
        )
        return super().case()

    def count(self) -> int:
        return self.dice.randint(4, 8)

    def _topology(self) -> Document:
        if self.dice.random() < 0.3:
            return {"mode": "soft"}
        tier = self.dice.randint(1, self.tiers)
        return {"mode": "hard", **({"highestTierName": f"tier-{tier}"} if self.named else {"highestTierAllowed": tier})}

    def _job(self, name: str) -> tuple[Document, list[Document]]:
        dice, (group, pods) = self.dice, super()._job(name)
        if dice.random() < 0.6:
            group["spec"]["networkTopology"] = self._topology()
        if dice.random() < 0.3:
            policy: Document = {"name": "p", "subGroupSize": dice.choice((1, 2)), "matchLabelKeys": ["grp"]}
            if dice.random() < 0.6:
                policy["networkTopology"] = self._topology()
            if dice.random() < 0.4:
                policy["minSubGroups"] = 1
            group["spec"]["subGroupPolicy"] = [policy]
            for place, pod in enumerate(pods):
                pod["metadata"]["labels"]["grp"] = str(place // policy["subGroupSize"])
        return group, pods


ZONE = "topology.kubernetes.io/zone"


class Volumes(Maker):
    """Volumes that wait for a pod, bound ones in zones, and claims without one."""

    cycles = (1,)

    def actions(self) -> tuple[str, ...]:
        return SMALL

    def case(self) -> Document:
        self.claims: list[Document] = []
        self.volumes: list[Document] = []
        return super().case()

    def _node(self, name: str) -> Document:
        node = super()._node(name)
        node["metadata"]["labels"][ZONE] = node["metadata"]["labels"]["zone"]
        return node

    def _volume(self, storage_class: str, claim: str = "") -> str:
        dice, name = self.dice, f"pv{len(self.volumes)}"
        spec: Document = {"capacity": {"storage": f"{dice.choice((5, 10, 20))}Gi"}, "accessModes": ["ReadWriteOnce"],
                          "storageClassName": storage_class, "local": {"path": "/x"}}  # fmt: skip
        if dice.random() < 0.8:
            terms = [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": [dice.choice("ab")]}]}]
            spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
        meta: Document = {"name": name, "uid": name}
        if dice.random() < 0.3:
            meta["labels"] = {ZONE: dice.choice("ab")}
        if claim:
            spec["claimRef"] = {"namespace": "ns", "name": claim, "uid": claim}
            meta["annotations"] = {"pv.kubernetes.io/bound-by-controller": "yes"}
        self.volumes.append({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": meta, "spec": spec,
                             "status": {"phase": "Bound" if claim else "Available"}})  # fmt: skip
        return name

    def _pod(self, *given: object) -> Document:
        dice, pod = self.dice, super()._pod(*given)
        if dice.random() < 0.6:
            name = f"claim-{pod['metadata']['name']}"
            storage_class = dice.choice(("wait", "wait", "now", "made"))
            spec: Document = {"accessModes": ["ReadWriteOnce"], "storageClassName": storage_class,
                              "resources": {"requests": {"storage": f"{dice.choice((4, 8, 15))}Gi"}}}  # fmt: skip
            status, notes = {"phase": "Pending"}, {}
            if dice.random() < 0.4:
                spec["volumeName"] = self._volume(storage_class, name)
                status, notes = {"phase": "Bound"}, {"pv.kubernetes.io/bind-completed": "yes"}
            elif storage_class == "wait" and dice.random() < 0.7:
                self._volume("wait")
            meta = {"name": name, "namespace": "ns", "uid": name, "annotations": notes}
            if dice.random() < 0.95:
                self.claims.append(
                    {
                        "apiVersion": "v1",
                        "kind": "PersistentVolumeClaim",
                        "metadata": meta,
                        "spec": spec,
                        "status": status,
                    }
                )
            pod["spec"]["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": name}}]
        return pod

    def may_run(self, pod: Document, node: str) -> bool:
        return "volumes" not in pod["spec"]

    def objects(self) -> Document:
        classes = [
            {
                "apiVersion": "storage.k8s.io/v1",
                "kind": "StorageClass",
                "metadata": {"name": name},
                "provisioner": by,
                "volumeBindingMode": mode,
            }
            for name, by, mode in (
                ("wait", "rancher.io/local-path", "WaitForFirstConsumer"),
                ("now", "rancher.io/local-path", "Immediate"),
                ("made", "hostpath.csi.k8s.io", "WaitForFirstConsumer"),
            )
        ]
        classes[0]["provisioner"] = "kubernetes.io/no-provisioner"
        return {"persistentVolumes": self.volumes, "persistentVolumeClaims": self.claims, "storageClasses": classes}


MAKERS: dict[str, type[Maker]] = {
    "hard": Maker,
    "topology": Maker,
    "vgpu": Vgpu,
    "mig": Mig,
    "gpucards": GpuCards,
    "usage": Loaded,
    "rescheduling": Loaded,
    "pdb": Budgets,
    "numa": Numa,
    "extender": Extended,
    "nettopo": Topologies,
    "volumes": Volumes,
}
