"""Record what the real kube-controller-manager makes of manifests, for `tests/controllers/test_golden.py`.

Every manifest is played against a `seatrial serve` of its own in which only the pods' lifecycle and the scheduler are
ours; what is in the cluster at the end goes into `tests/golden/controllers/`. Usage:

    python scripts/record_controllers.py [MANIFEST ...]         all of them without a name, three at a time
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

from build_kubernetes import ensure  # noqa: E402

from seatrial.model.builtin import builtin_kinds  # noqa: E402
from seatrial.model.kinds import Kind  # noqa: E402
from seatrial.model.times import SECOND  # noqa: E402
from tests.controllers.manifests import Manifest, Step, all_manifests  # noqa: E402
from tests.controllers.normalising import normalised  # noqa: E402
from tests.outside.processes import OF_THE_PROGRAMS, Serve, wait_until  # noqa: E402

CONTROLLERS = (
    "cronjob", "daemonset", "deployment", "disruption", "ephemeral-volume", "garbage-collector",
    "horizontal-pod-autoscaler", "job", "namespace", "node-lifecycle", "persistentvolume-binder",
    "persistentvolume-protection", "persistentvolumeclaim-protection", "replicaset", "replicationcontroller",
    "resourceclaim", "resourcequota", "serviceaccount", "statefulset", "taint-eviction", "ttl-after-finished",
)  # fmt: skip
FLAGS = ("--leader-elect=false", "--secure-port=0", "--kube-api-qps=1000", "--kube-api-burst=2000")
PERIODS = (
    "--node-monitor-grace-period=2h", "--resource-quota-sync-period=1s", "--pvclaimbinder-sync-period=2s",
    "--horizontal-pod-autoscaler-sync-period=2s", "--horizontal-pod-autoscaler-cpu-initialization-period=0s",
    "--horizontal-pod-autoscaler-initial-readiness-delay=0s",
)  # fmt: skip
AT_ONCE = 3
READY_AFTER = 120
LONGEST_STEP = 180
QUIET_KINDS = {"Event", "Lease"}


class Api:
    """The few requests that a recording needs."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._kinds: dict[str, Kind] = {}
        for kind in builtin_kinds():
            if "list" in kind.verbs:
                self._kinds.setdefault(kind.kind, kind)

    def request(self, method: str, path: str, body: Any = None, content: str = "application/json") -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._url + path, data, {"Content-Type": content}, method=method)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def path(self, kind_name: str, namespace: str, name: str = "", subresource: str = "") -> str:
        kind = self._kinds[kind_name]
        parts = ["api" if not kind.group else f"apis/{kind.group}", kind.version]
        parts += ["namespaces", namespace] if kind.namespaced and namespace else []
        return "/" + "/".join(part for part in (*parts, kind.plural, name, subresource) if part)

    def items(self, kind_name: str, namespace: str = "", selector: str = "") -> list[dict[str, Any]]:
        query = f"?labelSelector={urllib.request.quote(selector)}" if selector else ""
        answer = self.request("GET", self.path(kind_name, namespace) + query)
        head = {"apiVersion": answer["apiVersion"], "kind": kind_name}
        return [head | item for item in answer["items"]]

    def revision(self) -> str:
        """The revision of the whole store: every list carries it."""
        return str(self.request("GET", self.path("Namespace", "") + "?limit=1")["metadata"]["resourceVersion"])

    def everything(self) -> list[dict[str, Any]]:
        return [item for name in self._kinds if name not in QUIET_KINDS for item in self.items(name)]


def act(api: Api, step: Step) -> None:
    """Do what a step says."""
    body = step.body
    if step.verb == "create":
        for item in body:
            api.request("POST", api.path(item["kind"], item["metadata"].get("namespace", "default")), item)
    elif step.verb == "patch":
        namespace = body.get("namespace", "default")
        names = [body["name"]] if "name" in body else [
            item["metadata"]["name"] for item in api.items(body["kind"], namespace, body["selector"])
        ]  # fmt: skip
        for name in names:
            path = api.path(body["kind"], namespace, name, body.get("subresource", ""))
            api.request("PATCH", path, body["body"], f"application/{body.get('type', 'merge')}-patch+json")
    elif step.verb == "delete":
        options = {"kind": "DeleteOptions", "apiVersion": "v1"}
        if "propagation" in body:
            options["propagationPolicy"] = body["propagation"]
        api.request("DELETE", api.path(body["kind"], body.get("namespace", "default"), body["name"]), options)


def settle(api: Api, quiet: int) -> None:
    """Wait until nothing has been written for so long."""
    end = time.monotonic() + LONGEST_STEP + quiet / SECOND
    last, since = "", time.monotonic()
    while time.monotonic() - since < quiet / SECOND:
        revision = api.revision()
        if revision != last:
            last, since = revision, time.monotonic()
        if time.monotonic() > end:
            raise SystemExit("the cluster does not come to rest")
        time.sleep(0.5)


@contextmanager
def controller_manager(programs: Path, kubeconfig: Path, log: Path) -> Iterator[None]:
    """The real one, with the controllers that we have too."""
    chosen = "--controllers=" + ",".join(f"{name}-controller" for name in CONTROLLERS)
    command = [str(programs / "kube-controller-manager"), "--kubeconfig", str(kubeconfig), *FLAGS, *PERIODS, chosen]
    with log.open("wb") as output:
        process = subprocess.Popen([*command, "-v=2"], stdout=output, stderr=output)
    try:
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)


def record(manifest: Manifest, programs: Path) -> list[dict[str, Any]]:
    """Simulation one manifest and give what is there at the end."""
    with tempfile.TemporaryDirectory() as scratch:
        log = Path(os.environ.get("RECORD_LOG", scratch)) / f"{manifest.name}.log"
        flags = ("--insecure", "--controllers", "pod", "--record", "none", *OF_THE_PROGRAMS)
        with Serve(Path(scratch), *flags) as server, controller_manager(programs, server.kubeconfig, log):
            api = Api(server.url)
            wait_until(lambda: _is_at_work(api), READY_AFTER, "kube-controller-manager is at work")
            for step in manifest.steps:
                act(api, step)
                settle(api, step.quiet)
            return normalised(api.everything())


def _is_at_work(api: Api) -> bool:
    """A probe that the ServiceAccount and ReplicaSet controllers must have answered."""
    probe = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-node-lease"}}
    replicas = {
        "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "probe", "namespace": "kube-node-lease"},
        "spec": {
            "replicas": 0, "selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
        },
    }  # fmt: skip
    try:
        api.request("POST", api.path("ReplicaSet", probe["metadata"]["name"]), replicas)
    except urllib.error.HTTPError as error:
        if error.code != 409:
            raise
    found = api.items("ReplicaSet", "kube-node-lease")
    return bool(found) and bool(found[0].get("status", {}).get("observedGeneration"))


def write(manifest: Manifest, objects: list[dict[str, Any]]) -> None:
    manifest.golden.write_text(json.dumps(objects, indent=1, sort_keys=True) + "\n")


def main(names: list[str]) -> None:
    programs = ensure(("kube-controller-manager",))

    def play(manifest: Manifest) -> None:
        objects = record(manifest, programs)
        write(manifest, objects)
        print(f"{manifest.name}: {len(objects)} objects", flush=True)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(play, [found for found in all_manifests() if not names or found.name in names]))


if __name__ == "__main__":
    main(sys.argv[1:])
