"""A kubelet that runs the containers of Pods as processes of this machine.

What namespaces do on a node is done by rewriting: a mounted path in arguments and environment becomes the directory of
its volume, a port that a container declares becomes a free port of 127.0.0.1, and 0.0.0.0 becomes 127.0.0.1. What a
container wrote last, its termination message, is rewritten the other way round.
"""

import os
import re
import socket
import subprocess
import sys
import threading
import urllib.request
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from seatrial.operator.kinds import IMAGE
from tests.operator.cluster import Cluster, Refused

NODE = "this-machine"
TICK = 0.1
MESSAGE_LIMIT = 2048
SEATRIAL = (str(Path(sys.executable).with_name("seatrial")),)
LOCAL = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Container:
    """One process."""

    spec: dict[str, Any]
    log: Path
    process: subprocess.Popen[bytes] | None
    waiting: dict[str, str] | None = None
    started_at: str = field(default_factory=now)
    finished_at: str = ""
    started: bool = False

    def status(self, host_paths: dict[str, str]) -> dict[str, Any]:
        common = {"name": self.spec["name"], "image": self.spec["image"], "imageID": "", "restartCount": 0}
        if self.process is None:
            return common | {"ready": False, "state": {"waiting": self.waiting}}
        code = self.process.poll()
        if code is None:
            running = {"running": {"startedAt": self.started_at}}
            return common | {"ready": self.started, "started": self.started, "state": running}
        self.finished_at = self.finished_at or now()
        state: dict[str, Any] = {"exitCode": code if code >= 0 else 128 - code}
        state["reason"] = "Completed" if code == 0 else "Error"
        if code != 0 and self.spec.get("terminationMessagePolicy") == "FallbackToLogsOnError":
            said = self.log.read_bytes()[-MESSAGE_LIMIT:].decode(errors="replace")
            for directory, mount in host_paths.items():
                said = said.replace(directory, mount)
            state["message"] = said
        times = {"startedAt": self.started_at, "finishedAt": self.finished_at}
        return common | {"ready": False, "started": False, "state": {"terminated": state | times}}


class RunningPod:
    """The processes of one Pod."""

    def __init__(self, pod: dict[str, Any], directory: Path, kubelet: "Kubelet") -> None:
        self.uid = pod["metadata"]["uid"]
        self.start_time = now()
        self.shown: dict[str, Any] | None = None
        self._told = False
        self._directory = directory
        self._kubelet = kubelet
        spec = pod["spec"]
        ports = {port["containerPort"] for container in spec["containers"] for port in container.get("ports") or ()}
        self.ports = {port: free_port() for port in sorted(ports)}
        self._volumes = {volume["name"]: self._volume(pod, volume) for volume in spec.get("volumes") or ()}
        self.containers = [self._start(container) for container in spec["containers"]]

    def _volume(self, pod: dict[str, Any], volume: dict[str, Any]) -> Path:
        """The directory of a volume."""
        namespace, cluster = pod["metadata"]["namespace"], self._kubelet.cluster
        if "persistentVolumeClaim" in volume:
            name = volume["persistentVolumeClaim"]["claimName"]
            claim = cluster.get(f"/api/v1/namespaces/{namespace}/persistentvolumeclaims/{name}")
            volume = cluster.get(f"/api/v1/persistentvolumes/{claim['spec']['volumeName']}")["spec"]
        if "hostPath" in volume:
            return Path(volume["hostPath"]["path"])
        directory: Path = self._directory / volume["name"]
        directory.mkdir(parents=True)
        if "configMap" in volume:
            found = cluster.get(f"/api/v1/namespaces/{namespace}/configmaps/{volume['configMap']['name']}")
            for key, value in found["data"].items():
                (directory / key).write_text(value)
        return directory

    def _start(self, spec: dict[str, Any]) -> Container:
        log = self._directory / f"{spec['name']}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        command = self._kubelet.images.get(spec["image"])
        if command is None:
            waiting = {"reason": "ErrImagePull", "message": f"image {spec['image']} not found"}
            return Container(spec, log, None, waiting)
        mounts = {mount["mountPath"]: str(self._volumes[mount["name"]]) for mount in spec.get("volumeMounts") or ()}
        environment = {each["name"]: self._inside(each["value"], mounts) for each in spec.get("env") or ()}
        arguments = [self._argument(argument, environment, mounts) for argument in spec.get("args") or ()]
        home = mounts.get("/tmp", str(self._directory))
        surroundings = {"PATH": os.environ["PATH"], "HOME": home, "TMPDIR": home} | self._kubelet.environment
        with log.open("wb") as output:
            process = subprocess.Popen(
                [*command, *arguments], env=surroundings | environment, stdout=output, stderr=output, cwd="/"
            )
        return Container(spec, log, process)

    def _argument(self, argument: str, environment: dict[str, str], mounts: dict[str, str]) -> str:
        parts = re.split(r"\$\(([A-Z_]+)\)", argument)
        # Values of variables are inside already.
        return "".join(
            environment[part] if place % 2 else self._inside(part, mounts) for place, part in enumerate(parts)
        )

    def _inside(self, text: str, mounts: dict[str, str]) -> str:
        if text.isdecimal() and int(text) in self.ports:
            return str(self.ports[int(text)])
        text = text.replace("0.0.0.0", "127.0.0.1")
        if not mounts:
            return text
        names = "|".join(map(re.escape, sorted(mounts, key=len, reverse=True)))
        return re.sub(rf"(^|=)({names})(?=/|$)", lambda found: found[1] + mounts[found[2]], text)

    def probe(self) -> None:
        """Startup probes of containers that have not passed theirs."""
        for container in self.containers:
            if container.started or container.process is None or container.process.poll() is not None:
                continue
            probe = (container.spec.get("startupProbe") or {}).get("httpGet")
            container.started = probe is None or self._answers(probe)

    def _answers(self, probe: dict[str, Any]) -> bool:
        try:
            with LOCAL.open(f"http://127.0.0.1:{self.ports[probe['port']]}{probe['path']}", timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def status(self) -> dict[str, Any]:
        mounts = [mount for each in self.containers for mount in each.spec.get("volumeMounts") or ()]
        paths = {str(self._volumes[mount["name"]]): mount["mountPath"] for mount in mounts}
        statuses = [container.status(paths) for container in self.containers]
        states = [status["state"] for status in statuses]
        ended = [state["terminated"]["exitCode"] for state in states if "terminated" in state]
        if len(ended) == len(states):
            phase = "Failed" if any(ended) else "Succeeded"
        else:
            phase = "Pending" if any("waiting" in state for state in states) else "Running"
        ready = "True" if all(status["ready"] for status in statuses) else "False"
        conditions = [{"type": kind, "status": ready} for kind in ("ContainersReady", "Ready")]
        return {
            "phase": phase,
            "startTime": self.start_time,
            "conditions": conditions,
            "containerStatuses": statuses,
        }

    def has_ended(self) -> bool:
        """Whether all processes are gone; they are told to go at the first call."""
        running = self._running()
        if not self._told:
            self._told = True
            for process in running:
                process.terminate()
        return not running

    def _running(self) -> list[subprocess.Popen[bytes]]:
        processes = [container.process for container in self.containers if container.process is not None]
        return [process for process in processes if process.poll() is None]

    def stop(self) -> None:
        running = self._running()
        for process in running:
            process.terminate()
        for process in running:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class Kubelet:
    """Binds Pods to this machine, runs them and reports their status."""

    def __init__(self, cluster: Cluster, directory: Path, images: dict[str, tuple[str, ...]] | None = None) -> None:
        self.cluster = cluster
        self.images = {IMAGE: SEATRIAL} | (images or {})
        self.environment: dict[str, str] = {}
        self.pods: dict[str, RunningPod] = {}
        self.started: list[str] = []
        """Names of all Pods that were ever started here."""
        self.paused = threading.Event()
        self._directory = directory
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.errors = cluster.problems

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join(30)
        for pod in self.pods.values():
            pod.stop()
        assert not self.errors, self.errors

    def _run(self) -> None:
        while not self._ended.wait(TICK):
            try:
                self._tick()
            except Refused as error:
                # The Pod was changed or deleted in between: the next tick sees it.
                if error.code not in (404, 409):
                    self.errors.append(error)
            except Exception as error:  # noqa: BLE001
                # Whatever it is, the test that waits has to hear of it.
                self.errors.append(error)
                return

    def _tick(self) -> None:
        listed = self.cluster.request("GET", "/api/v1/pods")["items"]
        present = {pod["metadata"]["uid"] for pod in listed}
        for uid in [uid for uid, pod in self.pods.items() if uid not in present and pod.has_ended()]:
            del self.pods[uid]
        for pod in listed:
            self._bring(pod)

    def _bring(self, pod: dict[str, Any]) -> None:
        metadata = pod["metadata"]
        path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"
        running = self.pods.get(metadata["uid"])
        if "deletionTimestamp" in metadata:
            if running is not None:
                if not running.has_ended():
                    return
                del self.pods[metadata["uid"]]
            options = {"gracePeriodSeconds": 0, "preconditions": {"uid": metadata["uid"]}}
            self.cluster.request("DELETE", path, options)
            return
        if self.paused.is_set():
            return
        if not pod["spec"].get("nodeName"):
            target = {"apiVersion": "v1", "kind": "Node", "name": NODE}
            binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": metadata["name"]}, "target": target}
            self.cluster.request("POST", f"{path}/binding", binding)
        if running is None:
            running = RunningPod(pod, self._directory / metadata["uid"], self)
            self.pods[metadata["uid"]] = running
            self.started.append(metadata["name"])
        running.probe()
        status = running.status()
        if status != running.shown:
            self.cluster.patch(f"{path}/status", {"metadata": {"uid": metadata["uid"]}, "status": status})
            running.shown = status
