"""A scheduler in fifty lines: each pod goes to the node with the most room for pods.

It knows nothing of Seatrial. The kubeconfig that KUBECONFIG names is JSON, so the standard library is enough.
"""

import base64
import json
import os
import ssl
import threading
import urllib.request
from pathlib import Path
from typing import Any

CONFIG = json.loads(Path(os.environ["KUBECONFIG"]).read_text())
CLUSTER, USER = CONFIG["clusters"][0]["cluster"], CONFIG["users"][0]["user"]
TLS = ssl.create_default_context(cadata=base64.b64decode(CLUSTER["certificate-authority-data"]).decode())
room: dict[str, int] = {}
placed: dict[str, str] = {}


def send(method: str, path: str, body: Any = None, media: str = "application/json") -> Any:
    headers = {"Authorization": f"Bearer {USER['token']}", "Content-Type": media}
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(CLUSTER["server"] + path, data, headers, method=method)
    return urllib.request.urlopen(request, context=TLS)


def watch(path: str, notice: Any) -> None:
    """Call `notice` for every object and every change; a watch that ends is opened again where it ended."""
    revision = ""
    while True:
        query = f"?watch=true&allowWatchBookmarks=true&resourceVersion={revision}"
        for line in send("GET", path + query):
            event = json.loads(line)
            revision = event["object"]["metadata"]["resourceVersion"]
            notice(event["type"], event["object"])


def node_changed(type: str, node: Any) -> None:
    if type in ("ADDED", "MODIFIED"):
        room[node["metadata"]["name"]] = int(node["status"]["allocatable"]["pods"])


def pod_changed(type: str, pod: Any) -> None:
    name = pod["metadata"].get("name", "")
    path = f"/api/v1/namespaces/default/pods/{name}"
    if type == "DELETED":
        placed.pop(name, None)
    if type != "ADDED" or pod["spec"].get("nodeName"):
        return
    free = {node: most - list(placed.values()).count(node) for node, most in room.items()}
    best = max(sorted(free), key=lambda node: free[node], default="")
    if best and free[best] > 0:
        placed[name] = best
        send("POST", f"{path}/binding", {"metadata": {"name": name}, "target": {"kind": "Node", "name": best}})
    else:
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no room"}
        patch = {"status": {"conditions": [condition]}}
        send("PATCH", f"{path}/status", patch, "application/strategic-merge-patch+json")


threading.Thread(target=watch, args=("/api/v1/nodes", node_changed), daemon=True).start()
watch("/api/v1/namespaces/default/pods", pod_changed)
