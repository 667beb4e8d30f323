"""Writes deploy/: the operator's manifests for kustomize and for Helm, from `seatrial.operator.deployment_manifests`.

`--check` says whether they are fresh. The two differ in the image and the namespace, which Helm takes from its values
and its release.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import seatrial
from seatrial.model.documents import Document
from seatrial.model.yaml_reader import dump
from seatrial.operator import IMAGE, definitions, deployment, permissions

DEPLOY = Path(__file__).parents[1] / "deploy"
NAMESPACE = "seatrial-system"
HELM_IMAGE, HELM_NAMESPACE = "HELM-IMAGE", "helm-namespace"
VALUES = {HELM_IMAGE: "{{ .Values.image }}", HELM_NAMESPACE: "{{ .Release.Namespace }}"}


def files() -> Iterator[tuple[Path, str]]:
    """Every file with its content."""
    yield from kustomize()
    yield from helm()


def kustomize() -> Iterator[tuple[Path, str]]:
    """A base that an overlay can change the image and the namespace of."""
    base = DEPLOY / "kustomize"
    namespace: Document = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    parts = {
        "namespace.yaml": [namespace],
        "definitions.yaml": definitions(),
        "permissions.yaml": permissions(NAMESPACE),
        "deployment.yaml": [deployment(IMAGE, NAMESPACE)],
    }
    head = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": list(parts)}
    yield base / "kustomization.yaml", dump(head)
    for name, documents in parts.items():
        yield base / name, joined(documents)


def helm() -> Iterator[tuple[Path, str]]:
    """A chart whose templates differ from the manifests in two values."""
    chart = DEPLOY / "helm" / "seatrial-operator"
    version = seatrial.__version__
    head = {
        "apiVersion": "v2",
        "name": "seatrial-operator",
        "description": "Runs SchedulerSimulations and Simulators in a cluster",
        "type": "application",
        "version": version,
        "appVersion": version,
    }
    yield chart / "Chart.yaml", dump(head)
    yield chart / "values.yaml", VALUES_TEXT.format(image=IMAGE)
    yield chart / "crds" / "definitions.yaml", joined(definitions())
    yield chart / "templates" / "permissions.yaml", templated(permissions(HELM_NAMESPACE))
    made = deployment(HELM_IMAGE, HELM_NAMESPACE)
    container = made["spec"]["template"]["spec"]["containers"][0]
    container["args"].append("HELM-ARGUMENTS")
    text = templated([made]).replace("        - HELM-ARGUMENTS\n", ARGUMENTS)
    yield chart / "templates" / "deployment.yaml", text


VALUES_TEXT = """\
# Image of the operator, and of the simulators and scenario runners that name none of their own.
image: {image}
# More arguments of `seatrial operator`, e.g. --namespace=team-a or --etcd-image=etcd:3.6.8.
arguments: []
"""
ARGUMENTS = """\
        {{- range .Values.arguments }}
        - {{ . | quote }}
        {{- end }}
"""


def joined(documents: list[Document]) -> str:
    return "---\n".join(dump(document) for document in documents)


def templated(documents: list[Document]) -> str:
    text = joined(documents)
    for word, value in VALUES.items():
        text = text.replace(word, value)
    # A value that begins with a brace is a map to YAML.
    return text.replace(": {{ .Values.image }}", ': "{{ .Values.image }}"').replace(
        ": {{ .Release.Namespace }}", ': "{{ .Release.Namespace }}"'
    )


def stale() -> list[str]:
    """Files that are not what they should be."""
    return [str(path) for path, text in files() if not path.exists() or path.read_text(encoding="utf-8") != text]


def main() -> None:
    if "--check" in sys.argv:
        if found := stale():
            sys.exit(f"stale: {', '.join(found)}: run scripts/write_deploy.py")
        return
    for path, text in files():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
