"""The first how-to: ten questions about a cluster, each with the answer that its command gives."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import jq

from seatrial.cli.options.snapshot import DUMP
from seatrial.model.times import MINUTE
from seatrial.model.yaml_reader import dump
from tests.controllers.objects import Document, daemonset, deployment, job, template
from tests.controllers.replaying import Cluster
from tests.docs.test_commands import ROOT
from tests.whatif.dump import cluster_dump

PAGE = "docs/your-cluster.md"


def kubectl_line() -> str:
    """The line of the page that makes the dump."""
    (line,) = re.findall(r"^\$ (kubectl get .*)$", (ROOT / PAGE).read_text(), re.MULTILINE)
    return str(line)


def living_cluster() -> Cluster:
    """Twelve nodes with two DaemonSets, a StatefulSet with claims, Deployments and a Job, all at rest."""
    cluster = Cluster()
    for number in range(12):
        resources = {"cpu": "4", "memory": "16Gi", "pods": "110"}
        labels = {"kubernetes.io/hostname": f"n{number}", "topology.kubernetes.io/zone": f"z{number % 3}"}
        metadata = {"name": f"n{number}", "labels": labels}
        status = {"allocatable": resources, "capacity": resources}
        cluster.create({"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": status})
    fast = {"provisioner": "example.com/disk", "volumeBindingMode": "WaitForFirstConsumer"}
    cluster.create({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "fast"}, **fast})
    claim: Document = {"accessModes": ["ReadWriteOnce"], "storageClassName": "fast"}
    claim["resources"] = {"requests": {"storage": "1Gi"}}
    spec = {
        "serviceName": "db", "replicas": 3, "selector": {"matchLabels": {"app": "db"}}, "template": template("db"),
        "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": claim}],
    }  # fmt: skip
    cluster.create({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"}, "spec": spec})
    cluster.create(daemonset("logs"), daemonset("metrics"), job("work", completions=2, parallelism=2))
    cluster.create(deployment("web", 8), deployment("api", 6))
    cluster.settle(MINUTE)
    return cluster


def kubectl_dump(cluster: Cluster, line: str) -> str:
    """What the kubectl line writes: the objects of the kinds that it names, in its order."""
    plurals = shlex.split(line)[2].split(",")
    kinds = {kind.plural: kind for kind in reversed(list(cluster.store.kinds)) if kind.plural in plurals}
    assert set(kinds) == set(plurals)
    items = [stored.document() for plural in plurals for stored in cluster.store.list(kinds[plural])]
    return dump({"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}})


def test_the_page_is_the_first_how_to() -> None:
    doors = (ROOT / "docs" / "index.md").read_text().partition("## Where to begin")[2]
    listed = re.findall(r"\((\S+\.md)\)", doors)
    assert listed[0] == "your-cluster.md"


def test_the_page_and_the_help_have_the_same_line() -> None:
    assert kubectl_line() == DUMP


def test_every_answer_of_the_page_is_what_its_command_says(tmp_path: Path) -> None:
    """Each block of text after a command is its output, lines with … cut off there."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (tmp_path / "cluster.yaml").write_bytes(cluster_dump())
    page = (ROOT / PAGE).read_text()
    (prices,) = re.findall(r"Prices are a file, here `(.*?)`", page)
    (tmp_path / "prices.yaml").write_text(prices)
    blocks = re.findall(r"```console\n\$ (seatrial .*?)\n```\n\n```text\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 10
    for line, text in blocks:
        command, _, code = line.partition("  # exit ")
        said = play(shlex.split(command), tmp_path, int(code or 0))
        for shown in text.splitlines():
            assert shown.partition("…")[0].strip() in said, f"{command}\n{said}"


def test_the_page_says_how_its_cluster_is_made() -> None:
    (line,) = re.findall(
        r"`\.venv/bin/python (-m .*?) \| tee cluster\.yaml > cluster\.json`", (ROOT / PAGE).read_text()
    )
    made = subprocess.run([sys.executable, *shlex.split(line)], cwd=ROOT, capture_output=True, check=True, timeout=60)
    assert made.stdout == cluster_dump()


def test_every_figure_by_hand_is_what_jq_says() -> None:
    found = re.findall(r"```console\n\$ jq (?:-c )?'(.*?)' cluster\.json\n(.*?)\n```", (ROOT / PAGE).read_text())
    assert len(found) == 10
    for program, said in found:
        assert jq.compile(program).input_text(cluster_dump().decode()).first() == json.loads(said), program


def test_a_cluster_that_was_dumped_stays_at_rest(tmp_path: Path) -> None:
    (tmp_path / "cluster.yaml").write_text(kubectl_dump(living_cluster(), kubectl_line()))
    for line in ("seatrial snapshot cluster.yaml -o snapshot.yaml", "seatrial run --snapshot snapshot.yaml --out rest"):
        said = play(shlex.split(line), tmp_path)
    assert "0 created, 0 scheduled, 0 preempted, 0 gone" in said


def play(command: list[str], folder: Path, code: int = 0) -> str:
    program = [sys.executable, "-c", "from seatrial.cli.main import main; main()"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "4000"}
    done = subprocess.run(
        [*program, *command[1:]], cwd=folder, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == code, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout
