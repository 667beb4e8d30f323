"""Record the objects that a fresh kube-apiserver creates, as data for `seatrial serve`.

Starts the real etcd and kube-apiserver of scripts/build_kubernetes.py on loopback, reads what they hold and writes
src/seatrial/control_plane/bootstrap/objects.json.z. Usage:

    python scripts/record_bootstrap.py
"""

import json
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.outside.real_apiserver import RealApiserver  # noqa: E402

TARGET = ROOT / "src" / "seatrial" / "control_plane" / "bootstrap" / "objects.json.z"
RBAC, FLOW = "/apis/rbac.authorization.k8s.io/v1", "/apis/flowcontrol.apiserver.k8s.io/v1"
PATHS = (
    f"{RBAC}/clusterroles",
    f"{RBAC}/clusterrolebindings",
    f"{RBAC}/roles",
    f"{RBAC}/rolebindings",
    f"{FLOW}/prioritylevelconfigurations",
    f"{FLOW}/flowschemas",
    "/apis/apiregistration.k8s.io/v1/apiservices",
)
SET_BY_SERVER = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields")


def objects(server: RealApiserver) -> list[Any]:
    """Every object at the recorded paths, without what the server sets."""
    found = []
    for path in PATHS:
        listed = server.request("GET", path).json()
        for item in listed["items"]:
            item["metadata"] = {k: v for k, v in item["metadata"].items() if k not in SET_BY_SERVER}
            found.append({"apiVersion": listed["apiVersion"], "kind": listed["kind"].removesuffix("List"), **item})
    return found


def main() -> None:
    with tempfile.TemporaryDirectory() as directory, RealApiserver(Path(directory)) as server:
        recorded = objects(server)
    text = json.dumps(recorded, separators=(",", ":"), sort_keys=True)
    TARGET.write_bytes(zlib.compress(text.encode(), 9))
    print(f"{len(recorded)} objects, {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
