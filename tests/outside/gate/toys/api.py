"""A client of the Kubernetes API in the standard library, for toy programs."""

import base64
import json
import os
import ssl
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

CONFIG = json.loads(Path(os.environ["KUBECONFIG"]).read_text())
SERVER = CONFIG["clusters"][0]["cluster"]["server"]
CONTEXT = ssl.create_default_context(
    cadata=base64.b64decode(CONFIG["clusters"][0]["cluster"]["certificate-authority-data"]).decode()
)
TOKEN = CONFIG["users"][0]["user"]["token"]
PODS, NODES = "/api/v1/namespaces/default/pods", "/api/v1/nodes"


def send(method: str, path: str, body: Any = None, media: str = "application/json") -> Any:
    data = json.dumps(body).encode() if body is not None else None
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": media}
    request = urllib.request.Request(SERVER + path, data, headers, method=method)
    with urllib.request.urlopen(request, context=CONTEXT) as answer:
        return json.loads(answer.read() or b"null")


def merge(path: str, body: Any) -> Any:
    return send("PATCH", path, body, "application/merge-patch+json")


def watch(path: str) -> Iterator[dict[str, Any]]:
    """All objects as ADDED, then every change, for ever."""
    revision, plain = "", bool(os.environ.get("PLAIN"))
    while True:
        query = f"?watch=true{'' if plain else '&allowWatchBookmarks=true'}&resourceVersion={revision}"
        request = urllib.request.Request(SERVER + path + query, headers={"Authorization": f"Bearer {TOKEN}"})
        with urllib.request.urlopen(request, context=CONTEXT) as answer:
            for line in answer:
                event = json.loads(line)
                revision = event["object"]["metadata"]["resourceVersion"]
                if event["type"] != "BOOKMARK":
                    yield event


def follow(path: str, notice: Callable[[dict[str, Any]], None]) -> None:
    """Watch in a thread."""

    def run() -> None:
        for event in watch(path):
            notice(event)

    threading.Thread(target=run, daemon=True).start()


def bind(pod: str, node: str) -> None:
    body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod}, "target": {"kind": "Node", "name": node}}
    send("POST", f"{PODS}/{pod}/binding", body)


def refuse(pod: str) -> None:
    """Say that a pod fits nowhere."""
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no slot"}
    body = {"status": {"conditions": [condition]}}
    send("PATCH", f"{PODS}/{pod}/status", body, "application/strategic-merge-patch+json")


class Slots:
    """What a toy scheduler knows: how many pods each node has room for, kept by watching nodes."""

    def __init__(self) -> None:
        self.nodes: dict[str, int] = {}
        self.taken: dict[str, str] = {}
        follow(NODES, self._notice)

    def _notice(self, event: dict[str, Any]) -> None:
        time.sleep(float(os.environ.get("NODE_SECONDS", "0")))
        node = event["object"]
        self.nodes[node["metadata"]["name"]] = int(node["status"]["allocatable"]["pods"])

    def place(self, pod: str) -> str | None:
        for name, room in sorted(self.nodes.items()):
            if sum(node == name for node in self.taken.values()) < room:
                self.taken[pod] = name
                return name
        return None
