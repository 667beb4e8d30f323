"""The runtimes with a real control plane, with programs that only write down how they were called."""

import json
import os
from pathlib import Path

import pytest

from tests.vcsim.files import cluster, group, written
from tests.vcsim.processes import User

FAKE = """#!/bin/sh
echo "$(basename $0) $*" >> {calls}
case "$(basename $0) $*" in
  *"get clusters"*) echo demo ;;
  vc-*) exec sleep 600 ;;
  *create*nodes.json*) cp "$HOME/.vcsimctl/demo/nodes.json" {nodes} ;;
esac
previous=
for word in "$@"; do
  [ "$previous" = --kubeconfig ] && [ ! -e "$word" ] && echo "kind: Config" > "$word"
  previous="$word"
done
exit 0
"""
PROGRAMS = {
    "kwok": (
        "kwokctl",
        "kubectl",
        "kube-apiserver",
        "kube-controller-manager",
        "etcd",
        "vc-scheduler",
        "vc-controller-manager",
    ),
    "kind": ("kind", "docker", "kubectl"),
}


def create(user: User, runtime: str) -> tuple[list[str], Path, Path]:
    """The options for a cluster of one node, the file of calls and that of nodes."""
    calls, nodes = user.home / "calls", user.home / "seen-nodes.json"
    options: list[str] = []
    for name in PROGRAMS[runtime]:
        path = user.home / name
        path.write_text(FAKE.format(calls=calls, nodes=nodes))
        path.chmod(0o755)
        options += ["--binary", f"{name}={path}"]
    manifests = user.home / "manifests"
    manifests.mkdir()
    config = written(user.home / "cluster.yaml", cluster(group("node", 1), name="demo"))
    return ["--config", str(config), "--runtime", runtime, "--manifests", str(manifests), *options], calls, nodes


@pytest.mark.parametrize(("runtime", "tool", "nodes"), [("kwok", "kwokctl", 2), ("kind", "kind", 1)])
def test_a_cluster_is_made_watched_and_deleted(user: User, runtime: str, tool: str, nodes: int) -> None:
    options, calls, seen = create(user, runtime)
    made = user("create", "cluster", *options)
    assert (made.code, made.errors) == (0, "")
    try:
        assert [line.split()[:4] for line in user("get", "clusters").output.splitlines()[1:]] == [
            ["demo", runtime, "Running", "2"]
        ]
    finally:
        gone = user("delete", "cluster", "demo")
    assert gone.code == 0
    assert not (user.home / ".vcsimctl").exists()
    text = calls.read_text()
    assert f"{tool} create cluster --name demo" in text
    assert f"{tool} delete cluster --name demo" in text
    assert "replace --subresource=status" in text
    created = json.loads(seen.read_text())["items"]
    assert len(created) == nodes
    assert {node["metadata"]["annotations"]["kwok.x-k8s.io/node"] for node in created} == {"fake"}


def test_volcano_of_the_kwok_runtime_is_watched(user: User) -> None:
    options, calls, _ = create(user, "kwok")
    assert user("create", "cluster", *options).code == 0
    try:
        record = json.loads((user.home / ".vcsimctl" / "demo" / "runtime.json").read_text())
        pid = int(record["details"]["vc-scheduler"].split()[0])
        os.kill(pid, 9)
        listed = user("get", "clusters").output
        assert "Stopped" in listed
        assert f"vc-scheduler (pid {pid}) has ended" in user("status").output
    finally:
        user("delete", "cluster", "demo")
    assert "vc-controller-manager --kubeconfig" in calls.read_text()


def test_what_was_half_made_is_taken_down(user: User) -> None:
    options, calls, _ = create(user, "kind")
    (user.home / "kubectl").write_text("#!/bin/sh\necho broken >&2\nexit 1\n")
    answer = user("create", "cluster", *options)
    assert answer.code == 2
    assert "kubectl: failed:\nbroken" in answer.errors
    assert "kind delete cluster --name demo" in calls.read_text()
    assert not (user.home / ".vcsimctl").exists()
