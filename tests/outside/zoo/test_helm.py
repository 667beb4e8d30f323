"""helm installs, upgrades, rolls back and removes charts of others on `serve`."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.outside.conftest import built as kubernetes
from tests.outside.processes import Kubectl, Serve
from tests.outside.zoo.modules import files_of

SYSTEM = "kube-system"


class Helm:
    """The real helm, pointed at a server."""

    def __init__(self, kubeconfig: Path, folder: Path) -> None:
        self._start = [str(kubernetes("helm") / "helm"), "--kubeconfig", str(kubeconfig), "--namespace", SYSTEM]
        self._folder = folder

    def __call__(self, *arguments: str) -> str:
        """Standard output of a command that must succeed."""
        environment = {"HOME": str(self._folder), "PATH": "/usr/bin:/bin"}
        command = [*self._start, *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def releases(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self("list", "--all", "--output", "json"))
        return found


@pytest.mark.outside
def test_a_chart_is_installed_upgraded_rolled_back_and_removed(tmp_path: Path) -> None:
    chart = str(files_of("descheduler") / "charts/descheduler")
    with Serve(tmp_path / "state") as serve:
        kubectl = Kubectl(kubernetes("kubectl") / "kubectl", serve.kubeconfig, tmp_path)
        helm = Helm(serve.kubeconfig, tmp_path)
        before = kubectl("get", "serviceaccounts,configmaps,cronjobs,clusterroles", "-A", "-o", "name")
        helm("install", "tidy", chart, "--set", "schedule=*/5 * * * *", "--wait")
        schedule = ("get", "cronjob", "tidy-descheduler", "-n", SYSTEM, "-o", "jsonpath={.spec.schedule}")
        assert kubectl(*schedule) == "*/5 * * * *"
        helm("upgrade", "tidy", chart, "--set", "schedule=*/9 * * * *", "--wait")
        assert kubectl(*schedule) == "*/9 * * * *"
        helm("rollback", "tidy", "1", "--wait")
        assert kubectl(*schedule) == "*/5 * * * *"
        (release,) = helm.releases()
        assert (release["status"], release["revision"]) == ("deployed", "3")
        helm("uninstall", "tidy", "--wait")
        assert helm.releases() == []
        assert kubectl("get", "serviceaccounts,configmaps,cronjobs,clusterroles", "-A", "-o", "name") == before
