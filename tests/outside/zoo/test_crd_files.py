"""The CRD files of much used programs install unchanged, and the answers equal those of a real kube-apiserver."""

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from tests.outside.conftest import built
from tests.outside.processes import OF_THE_PROGRAMS, Kubectl, Serve
from tests.outside.real_apiserver import TOKEN, RealApiserver
from tests.outside.zoo.modules import module

FILES = {
    "sigs.k8s.io/karpenter@v1.8.0": ("kwok/charts/crds", "kwok/apis/crds"),
    "sigs.k8s.io/kueue@v0.15.0": ("config/components/crd/bases",),
    "sigs.k8s.io/jobset@v0.10.1": ("config/components/crd/bases",),
    "sigs.k8s.io/lws@v0.7.0": ("config/crd/bases",),
    "sigs.k8s.io/scheduler-plugins@v0.34.7": ("config/crd/bases",),
    "sigs.k8s.io/kwok@v0.7.0": ("kustomize/crd/bases",),
    "volcano.sh/volcano@v1.10.0": ("config/crd/volcano/bases", "config/crd/jobflow/bases"),
    "github.com/cert-manager/cert-manager@v1.19.0": ("deploy/crds",),
    "github.com/prometheus-operator/prometheus-operator@v0.85.0": ("example/prometheus-operator-crd",),
    "github.com/argoproj/argo-workflows/v3@v3.7.0": ("manifests/base/crds/minimal", "manifests/base/crds/full"),
    "sigs.k8s.io/gateway-api@v1.4.0": ("config/crd/standard",),
    "istio.io/api@v1.24.2": ("kubernetes",),
}
KUSTOMIZE = "kustomization"
PATIENCE = 600.0
"""Seconds for all files of a project: a real kube-apiserver takes a minute for the largest on a busy machine."""
FEW = (
    "sigs.k8s.io/karpenter@v1.8.0",
    "sigs.k8s.io/kueue@v0.15.0",
    "sigs.k8s.io/jobset@v0.10.1",
    "istio.io/api@v1.24.2",
)
"""What a change is landed with; all of them take ten minutes for a verb."""
CASES = (
    pytest.param(("create",), FILES, id="create", marks=pytest.mark.long),
    pytest.param(("apply",), FILES, id="apply", marks=pytest.mark.long),
    pytest.param(("apply", "--server-side"), FILES, id="server-side", marks=pytest.mark.long),
    pytest.param(("apply", "--server-side"), FEW, id="server-side of a few"),
)


@pytest.mark.outside
@pytest.mark.parametrize(("verb", "projects"), CASES)
def test_files_install_unchanged_as_on_a_real_kube_apiserver(
    tmp_path: Path, verb: tuple[str, ...], projects: Collection[str]
) -> None:
    program = built("kubectl", "etcd", "kube-apiserver") / "kubectl"
    (tmp_path / "real").mkdir()
    with RealApiserver(tmp_path / "real") as server:
        (tmp_path / "kubeconfig").write_text(json.dumps(_kubeconfig(server.port)))
        real = installed(Kubectl(program, tmp_path / "kubeconfig", tmp_path, PATIENCE), verb, projects)
    with Serve(tmp_path / "ours", "--no-scheduler", "--controllers", "", *OF_THE_PROGRAMS) as serve:
        ours = installed(Kubectl(program, serve.kubeconfig, tmp_path, PATIENCE), verb, projects)
    assert len(real) >= 7 * len(projects)  # two answers and five definitions, on average
    assert {name: (ours.get(name), answer) for name, answer in real.items() if ours.get(name) != answer} == {}


def installed(kubectl: Kubectl, verb: tuple[str, ...], projects: Collection[str]) -> dict[str, Any]:
    """What kubectl answers when the files are installed twice, and the definitions that the server then has."""
    found: dict[str, Any] = {}
    for name in projects:
        for folder in FILES[name]:
            files = [str(file) for file in sorted((module(name) / folder).glob("*.yaml")) if file.stem != KUSTOMIZE]
            named = [argument for file in files for argument in ("-f", file)]
            for time in ("first", "second"):
                done = kubectl.run(*verb, *named)
                found[f"{name} {folder}, {time}"] = [done.returncode, done.stdout, done.stderr]
    for definition in kubectl.json("get", "crd", "--show-managed-fields")["items"]:
        found[definition["metadata"]["name"]] = plain(definition)
    return found


def plain(definition: dict[str, Any]) -> dict[str, Any]:
    """A definition without what differs from run to run, or comes from the real server's writes of the status."""
    metadata, conditions = definition["metadata"], definition["status"]["conditions"]
    for name in ("uid", "resourceVersion", "creationTimestamp"):
        metadata.pop(name)
    entries = [entry for entry in metadata.get("managedFields", ()) if "subresource" not in entry]
    for changing in (*entries, *conditions):
        changing.pop("time", None)
        changing.pop("lastTransitionTime", None)
    metadata["managedFields"] = entries
    conditions.sort(key=lambda condition: condition["type"])
    return definition


def _kubeconfig(port: int) -> dict[str, Any]:
    cluster = {"server": f"https://127.0.0.1:{port}", "insecure-skip-tls-verify": True}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "real", "cluster": cluster}],
        "users": [{"name": "admin", "user": {"token": TOKEN}}],
        "contexts": [{"name": "real", "context": {"cluster": "real", "user": "admin"}}],
        "current-context": "real",
    }
