"""Random clusters made with our own controllers: every kind of workload, claims, budgets, and unfinished rollouts."""

from random import Random
from typing import Any, Protocol

from seatrial.controllers.registry import controller_names
from seatrial.model.times import MINUTE
from tests.controllers.objects import EXIT, RUN, daemonset, deployment, job, pod, template
from tests.controllers.replaying import Cluster

Document = dict[str, Any]
TOO_LARGE = {"requests": {"cpu": "900"}}
"""A pod that asks for this stays pending, and the rollout that makes it stays unfinished."""
CLAIM: Document = {
    "metadata": {"name": "data"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}


class Makes(Protocol):
    """A cluster in which objects are made: ours, or one with real controllers."""

    def create(self, *documents: Document) -> None: ...
    def patch(self, body: Document) -> None: ...
    def all(self, kind: str) -> list[Document]: ...
    def settle(self, quiet: int = 0) -> None: ...


class RandomCluster:
    """Builds one cluster from a seed."""

    def __init__(self, seed: int, cluster: Makes) -> None:
        self.dice = Random(seed)
        self.cluster = cluster

    def build(self) -> None:
        """Bring it to rest, some of its rollouts unfinished, since they cannot go on."""
        self._infrastructure()
        self._workloads()
        self.cluster.settle(MINUTE)
        self._change()
        self.cluster.settle(MINUTE)

    @classmethod
    def at_rest(cls, seed: int) -> Cluster:
        """A cluster of our own controllers at rest."""
        made = cls(seed, cluster := Cluster(controller_names()))
        made.build()
        return cluster

    @classmethod
    def half_done(cls, seed: int) -> Cluster:
        """A cluster whose controllers were stopped in the middle of their work."""
        made = cls(seed, cluster := Cluster(controller_names()))
        made.build()
        made._change()
        for _ in range(made.dice.randrange(40)):
            cluster.work_once()
        return cluster

    def _infrastructure(self) -> None:
        for number in range(self.dice.randint(2, 5)):
            self.cluster.create(self._node(number))
        self.cluster.create(
            _object("StorageClass", "storage.k8s.io/v1", "fast", provisioner="example.com/disk",
                    volumeBindingMode="WaitForFirstConsumer"),
            _object("PriorityClass", "scheduling.k8s.io/v1", "high", value=1000),
        )  # fmt: skip
        if self.dice.random() < 0.3:
            spec = {"limits": [{"type": "Container", "defaultRequest": {"cpu": "50m"}}]}
            self.cluster.create(_object("LimitRange", "v1", "limits", spec=spec))
        if self.dice.random() < 0.3:
            self.cluster.create(_object("ResourceQuota", "v1", "quota", spec={"hard": {"pods": "500"}}))

    def _node(self, number: int) -> Document:
        resources = {"cpu": self.dice.choice(["2", "4"]), "memory": "8Gi", "pods": "20"}
        labels = {"kubernetes.io/hostname": f"n{number}", "topology.kubernetes.io/zone": f"z{number % 2}"}
        spec: Document = {}
        if number and self.dice.random() < 0.2:
            spec["taints"] = [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]
        if number and self.dice.random() < 0.1:
            spec["unschedulable"] = True
        status: Document = {"allocatable": resources, "capacity": resources}
        if number > 1 and self.dice.random() < 0.2:
            status["conditions"] = [{"type": "Ready", "status": "False", "reason": "KubeletNotReady", "message": "m"}]
        return {
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": f"n{number}", "labels": labels},
            "spec": spec, "status": status,
        }  # fmt: skip

    def _workloads(self) -> None:
        makers = [
            self._deployment, self._stateful_set, self._daemon_set, self._replica_set, self._controller, self._job,
            self._ended_job, self._cron_job, self._bare_pods, self._budget, self._volume, self._autoscaler,
        ]  # fmt: skip
        for make in self.dice.sample(makers, self.dice.randint(3, len(makers))):
            make()

    def _deployment(self) -> None:
        for name in ("web", "api")[: self.dice.randint(1, 2)]:
            spread: Document = {}
            if self.dice.random() < 0.5:
                spread["strategy"] = {"type": "Recreate"}
            made = deployment(name, self.dice.randint(0, 4), **spread)
            made["spec"]["template"]["spec"]["priorityClassName"] = self.dice.choice(["high", "system-node-critical"])
            self.cluster.create(made)

    def _stateful_set(self) -> None:
        policy = self.dice.choice(["OrderedReady", "Parallel"])
        spec: Document = {
            "serviceName": "db", "replicas": self.dice.randint(0, 3), "podManagementPolicy": policy,
            "selector": {"matchLabels": {"app": "db"}}, "template": template("db"),
        }  # fmt: skip
        if self.dice.random() < 0.7:
            spec["volumeClaimTemplates"] = [{**CLAIM, "spec": {**CLAIM["spec"], "storageClassName": "fast"}}]
        strategy = self.dice.choice(["RollingUpdate", "OnDelete", "partition"])
        spec["updateStrategy"] = {"type": strategy}
        if strategy == "partition":
            partition = {"partition": self.dice.randint(0, 2)}
            spec["updateStrategy"] = {"type": "RollingUpdate", "rollingUpdate": partition}
        self.cluster.create(_object("StatefulSet", "apps/v1", "db", spec=spec))

    def _daemon_set(self) -> None:
        made = daemonset("agent")
        if self.dice.random() < 0.5:
            made["spec"]["template"]["spec"]["tolerations"] = [{"operator": "Exists"}]
        made["spec"]["updateStrategy"] = {"type": self.dice.choice(["RollingUpdate", "OnDelete"])}
        self.cluster.create(made)

    def _replica_set(self) -> None:
        spec = {"replicas": 2, "selector": {"matchLabels": {"app": "rs"}}, "template": template("rs")}
        self.cluster.create(_object("ReplicaSet", "apps/v1", "rs", spec=spec))

    def _controller(self) -> None:
        spec = {"replicas": 1, "selector": {"app": "rc"}, "template": template("rc")}
        self.cluster.create(_object("ReplicationController", "v1", "rc", spec=spec))

    def _job(self) -> None:
        mode = self.dice.choice(["Indexed", "NonIndexed"])
        self.cluster.create(job("work", parallelism=2, completions=3, completionMode=mode, activeDeadlineSeconds=3600))
        self.cluster.create(job("paused", suspend=True))

    def _ended_job(self) -> None:
        self.cluster.create(
            job("done", {RUN: "10s"}, completions=2, parallelism=2, ttlSecondsAfterFinished=7200),
            job("broken", {RUN: "5s", EXIT: "1"}, backoffLimit=0),
        )

    def _cron_job(self) -> None:
        inner = {"spec": {"template": template("cron", {RUN: "1h"}, restartPolicy="Never")}}
        spec = {"schedule": "0 0 1 1 *", "jobTemplate": inner, "suspend": self.dice.random() < 0.3}
        self.cluster.create(_object("CronJob", "batch/v1", "cron", spec=spec))

    def _bare_pods(self) -> None:
        self.cluster.create(pod("alone", "alone"), pod("ended", "ended", {RUN: "5s"}, restartPolicy="Never"))
        waiting = pod("waiting", "waiting")
        waiting["spec"]["containers"][0]["resources"] = TOO_LARGE
        gated = pod("gated", "gated", schedulingGates=[{"name": "example.com/gate"}])
        lost = pod("lost", "lost", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "absent"}}])
        self.cluster.create(waiting, gated, lost)

    def _budget(self) -> None:
        spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": self.dice.choice(["web", "db"])}}}
        self.cluster.create(_object("PodDisruptionBudget", "policy/v1", "budget", spec=spec))

    def _volume(self) -> None:
        spec = {
            "capacity": {"storage": "5Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "manual",
            "hostPath": {"path": "/data"}, "persistentVolumeReclaimPolicy": self.dice.choice(["Delete", "Retain"]),
        }  # fmt: skip
        claim = {**CLAIM["spec"], "storageClassName": "manual"}
        self.cluster.create(
            _object("PersistentVolume", "v1", "disk", spec=spec),
            _object("PersistentVolumeClaim", "v1", "disk", spec=claim),
            pod("keeper", "keeper", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "disk"}}]),
        )

    def _autoscaler(self) -> None:
        spec = {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
            "minReplicas": 1, "maxReplicas": 4,
        }  # fmt: skip
        self.cluster.create(_object("HorizontalPodAutoscaler", "autoscaling/v2", "web", spec=spec))

    def _change(self) -> None:
        """New templates for some workloads: a rollout that ends, or one that cannot."""
        for kind in ("Deployment", "StatefulSet", "DaemonSet"):
            for found in self.cluster.all(kind):
                if self.dice.random() < 0.5:
                    self._roll(found)
        if self.dice.random() < 0.3:
            for found in self.cluster.all("Deployment"):
                body = {"spec": {"paused": True}}
                self.cluster.patch({"kind": "Deployment", "name": found["metadata"]["name"], "body": body})

    def _roll(self, workload: Document) -> None:
        container = dict(workload["spec"]["template"]["spec"]["containers"][0])
        container["image"] = f"app:{self.dice.randint(2, 9)}"
        if self.dice.random() < 0.4:
            container["resources"] = TOO_LARGE
        body = {"spec": {"template": {"spec": {"containers": [container]}}}}
        self.cluster.patch({"kind": workload["kind"], "name": workload["metadata"]["name"], "body": body})


def _object(kind: str, api_version: str, name: str, **more: Any) -> Document:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **more}
