"""A cluster of real programs: etcd, kube-apiserver, and kube-controller-manager with its garbage collector."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from scripts.build_kubernetes import ensure
from tests.operator.cluster import Cluster
from tests.outside.real_apiserver import TOKEN, RealApiserver

CONTROLLERS = "garbage-collector-controller,namespace-controller,serviceaccount-controller"


def write_kubeconfig(path: Path, port: int) -> Path:
    cluster = {"server": f"https://127.0.0.1:{port}", "insecure-skip-tls-verify": True}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "real", "cluster": cluster}],
        "users": [{"name": "admin", "user": {"token": TOKEN}}],
        "contexts": [{"name": "real", "context": {"cluster": "real", "user": "admin"}}],
        "current-context": "real",
    }
    path.write_text(yaml.safe_dump(document))
    return path


@contextmanager
def controller_manager(kubeconfig: Path, output: Path, controllers: str = CONTROLLERS, *flags: str) -> Iterator[None]:
    """The garbage collector and what a namespace needs, or other controllers."""
    program = ensure(("kube-controller-manager",)) / "kube-controller-manager"
    command = [str(program), "--kubeconfig", str(kubeconfig), "--leader-elect=false", "--secure-port=0"]
    with output.open("wb") as file:
        process = subprocess.Popen([*command, f"--controllers={controllers}", *flags], stdout=file, stderr=file)
    try:
        yield
    finally:
        process.terminate()
        process.wait(30)


@contextmanager
def real_cluster(directory: Path) -> Iterator[tuple[RealApiserver, Cluster]]:
    """The cluster with the definitions of the operator."""
    try:
        ensure(("etcd", "kube-apiserver", "kube-controller-manager"))
    except (SystemExit, subprocess.CalledProcessError) as error:
        pytest.skip(f"the real Kubernetes programs cannot be built: {error}")
    with RealApiserver(directory) as apiserver:
        cluster = Cluster(write_kubeconfig(directory / "kubeconfig", apiserver.port))
        with controller_manager(cluster.kubeconfig, directory / "controllers.log"):
            cluster.install_definitions()
            account = "/api/v1/namespaces/default/serviceaccounts/default"
            cluster.wait_for(lambda: cluster.get(account), "the namespace has its service account")
            yield apiserver, cluster
