"""Start a server, make a small cluster through it and show what it holds: the first thing to see of Seatrial."""

import json
import re
import ssl
import subprocess
import sys
import tempfile
import urllib.request
from base64 import b64decode
from pathlib import Path
from typing import Any

import yaml

NODES = 3
PODS = 6


class Client:
    """Just enough of a Kubernetes client: JSON over HTTPS with the token of a kubeconfig."""

    def __init__(self, kubeconfig: Path) -> None:
        config = yaml.safe_load(kubeconfig.read_text())
        cluster = config["clusters"][0]["cluster"]
        self.server = cluster["server"]
        self.token = config["users"][0]["user"]["token"]
        self.context = ssl.create_default_context(cadata=b64decode(cluster["certificate-authority-data"]).decode())

    def __call__(self, method: str, path: str, body: Any = None, accept: str = "application/json") -> Any:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json", "Accept": accept}
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.server + path, data, headers, method=method)
        with urllib.request.urlopen(request, context=self.context, timeout=10) as answer:
            return json.load(answer)

    def table(self, path: str) -> None:
        """Print a list as kubectl would."""
        table = self("GET", path, accept="application/json;as=Table;v=v1;g=meta.k8s.io")
        shown = [i for i, column in enumerate(table["columnDefinitions"]) if not column["priority"]]
        lines = [[table["columnDefinitions"][i]["name"].upper() for i in shown]]
        lines += [[str(row["cells"][i]) for i in shown] for row in table["rows"]]
        widths = [max(len(line[i]) for line in lines) for i in range(len(shown))]
        for line in lines:
            print("   ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
        print()


def node(name: str) -> dict[str, Any]:
    resources = {"cpu": "4", "memory": "16Gi", "pods": "110"}
    status = {"capacity": resources, "allocatable": resources, "conditions": [{"type": "Ready", "status": "True"}]}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status}


def pod(name: str) -> dict[str, Any]:
    container = {"name": "app", "image": "example.com/app", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [container]}}


def show(client: Client) -> None:
    print(f"server: {client.server}, {client('GET', '/version')['gitVersion']}\n")
    for number in range(NODES):
        client("POST", "/api/v1/nodes", node(f"node-{number}"))
    for number in range(PODS):
        client("POST", "/api/v1/namespaces/default/pods", pod(f"pod-{number}"))
    client.table("/api/v1/nodes")
    client.table("/api/v1/namespaces/default/pods")


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        command = [str(Path(sys.executable).with_name("seatrial")), "serve", "--port", "0", "--data-dir", directory]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            try:
                kubeconfig = Path(re.fullmatch(r"kubeconfig: (.*)\n", server.stdout.readline())[1])
                assert server.stdout.readline().startswith("ready: ")
                show(Client(kubeconfig))
            finally:
                server.terminate()
    print("the server has stopped")


if __name__ == "__main__":
    main()
