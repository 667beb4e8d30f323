"""The law of rest on clusters of the real kube-controller-manager, dumped with kubectl by the line of our help."""

import shlex
from pathlib import Path
from typing import Any

import pytest

from seatrial.cli.options.snapshot import DUMP
from seatrial.model.times import SECOND
from seatrial.store.snapshots import read_snapshot
from tests.outside.conftest import built
from tests.outside.processes import OF_THE_PROGRAMS, Kubectl, Serve, wait_until
from tests.scripts import load_script
from tests.store.snapshots.clusters import Document, RandomCluster
from tests.store.snapshots.rest import moves_in_run

QUIET = 13 * SECOND
"""Longer than the pods of Jobs run."""


class RealCluster:
    """A server whose workloads are looked after by the real controllers."""

    def __init__(self, recording: Any, api: Any) -> None:
        self._recording, self._api = recording, api

    def create(self, *documents: Document) -> None:
        for document in documents:
            if document["kind"] == "Node":
                # There is no kubelet that would say so.
                ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "m"}
                document["status"].setdefault("conditions", [ready])
            path = self._api.path(document["kind"], document["metadata"].get("namespace", "default"))
            self._api.request("POST", path, document)

    def patch(self, body: Document) -> None:
        path = self._api.path(body["kind"], body.get("namespace", "default"), body["name"])
        self._api.request("PATCH", path, body["body"], "application/merge-patch+json")

    def all(self, kind: str) -> list[Document]:
        found: list[Document] = self._api.items(kind)
        return found

    def settle(self, quiet: int = 0) -> None:
        self._recording.settle(self._api, min(quiet, QUIET))


@pytest.mark.parametrize("seed", [3, 5])
def test_a_cluster_of_the_real_controllers_stays_at_rest(seed: int, tmp_path: Path) -> None:
    programs, recording = built("kube-controller-manager", "kubectl"), load_script("record_controllers")
    with (
        Serve(tmp_path, "--insecure", "--controllers", "pod", "--record", "none", *OF_THE_PROGRAMS) as server,
        recording.controller_manager(programs, server.kubeconfig, tmp_path / "controllers.log"),
    ):
        api = recording.Api(server.url)
        wait_until(lambda: recording._is_at_work(api), recording.READY_AFTER, "kube-controller-manager is at work")
        api.request("DELETE", api.path("ReplicaSet", "kube-node-lease", "probe"))
        RandomCluster(seed, RealCluster(recording, api)).build()
        kubectl = Kubectl(programs / "kubectl", server.kubeconfig, tmp_path)
        path = tmp_path / "cluster.yaml"
        path.write_text(kubectl(*shlex.split(DUMP)[1:-2]))
    assert moves_in_run(read_snapshot([path]), OF_THE_PROGRAMS[1]) == []
