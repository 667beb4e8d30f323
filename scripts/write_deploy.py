"""Writes deploy/: the operator's manifests for kustomize and for Helm, from `seatrial.operator.deployment_manifests`.

`--check [FOLDER]` says whether those of deploy/ or FOLDER are fresh. Both are made of the same documents; the chart
takes from its values and its release what an overlay would change.
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
HELM_IMAGE, HELM_NAMESPACE, HELM_ACCOUNT = "HELM-IMAGE", "helm-namespace", "helm-account"
VALUES = {
    HELM_IMAGE: "{{ .Values.image }}",
    HELM_NAMESPACE: "{{ .Release.Namespace }}",
    HELM_ACCOUNT: "{{ .Values.serviceAccount.name }}",
}


def files(folder: Path) -> Iterator[tuple[Path, str]]:
    """Every file with its content."""
    yield from kustomize(folder / "kustomize")
    yield from helm(folder / "helm" / "seatrial-operator")


def kustomize(base: Path) -> Iterator[tuple[Path, str]]:
    """A base that an overlay can change the image and the namespace of."""
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


def helm(chart: Path) -> Iterator[tuple[Path, str]]:
    """A chart: the manifests with what its values choose."""
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
    yield chart / "crds" / "definitions.yaml", joined(definitions())
    account, *rights = permissions(HELM_NAMESPACE)
    account["metadata"]["name"] = rights[-1]["subjects"][0]["name"] = HELM_ACCOUNT
    made_account = "{{- if .Values.serviceAccount.create }}\n" + templated([account]) + "{{- end }}\n"
    yield chart / "templates" / "permissions.yaml", made_account + "---\n" + templated(rights)
    made = deployment(HELM_IMAGE, HELM_NAMESPACE)
    container = made["spec"]["template"]["spec"]["containers"][0]
    container["args"].append("HELM-ARGUMENTS")
    made["spec"]["template"]["spec"]["serviceAccountName"] = HELM_ACCOUNT
    resources = dump({"resources": container.pop("resources")})
    container["resources"] = "HELM-RESOURCES"
    text = templated([made]).replace("        - HELM-ARGUMENTS\n", ARGUMENTS)
    text = text.replace(": HELM-RESOURCES\n", ":\n{{ toYaml .Values.resources | indent 10 }}\n")
    text = text.replace(
        "    spec:\n      serviceAccountName", f"{POD_LABELS}    spec:\n{PLACING}      serviceAccountName"
    )
    text = text.replace("        livenessProbe:\n", f"{METRICS_PORT}        livenessProbe:\n")
    yield chart / "templates" / "deployment.yaml", text
    yield chart / "templates" / "networkpolicy.yaml", NETWORK_POLICY
    yield chart / "values.yaml", VALUES_TEXT.format(image=IMAGE, resources=resources.rstrip())


VALUES_TEXT = """\
# Image of the operator, and of the simulators and scenario runners that name none of their own.
image: {image}
# Secrets with the credentials of the image's registry: [{{name: registry}}].
imagePullSecrets: []
# More arguments of `seatrial operator`, e.g. --namespace=team-a or --etcd-image=etcd:3.6.8.
arguments: []
serviceAccount:
  # false: an account of this name exists.
  create: true
  name: seatrial-operator
{resources}
podLabels: {{}}
podAnnotations: {{}}
nodeSelector: {{}}
tolerations: []
affinity: {{}}
metrics:
  # Prometheus' metrics at /metrics of this port.
  enabled: false
  port: 8081
networkPolicy:
  # Lets nothing into the operator but probes on port 8080, and requests to the port of the metrics if they are enabled;
  # what it sends is not limited.
  enabled: false
"""
POD_LABELS = """\
{{- with .Values.podLabels }}
{{ toYaml . | indent 8 }}
{{- end }}
{{- with .Values.podAnnotations }}
      annotations:
{{ toYaml . | indent 8 }}
{{- end }}
"""
PLACING = "".join(
    f"{{{{- with .Values.{name} }}}}\n      {name}:\n{{{{ toYaml . | indent 8 }}}}\n{{{{- end }}}}\n"
    for name in ("imagePullSecrets", "nodeSelector", "tolerations", "affinity")
)
NETWORK_POLICY = """\
{{- if .Values.networkPolicy.enabled }}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: seatrial-operator
  namespace: "{{ .Release.Namespace }}"
spec:
  podSelector:
    matchLabels:
      app.kubernetes.io/name: seatrial-operator
  policyTypes: [Ingress]
  ingress:
  - ports: [{port: 8080, protocol: TCP}]
{{- if .Values.metrics.enabled }}
  - ports: [{port: {{ .Values.metrics.port }}, protocol: TCP}]
{{- end }}
{{- end }}
"""
METRICS_PORT = """\
        {{- if .Values.metrics.enabled }}
        ports:
        - name: metrics
          containerPort: {{ .Values.metrics.port }}
        {{- end }}
"""
ARGUMENTS = """\
        {{- if .Values.metrics.enabled }}
        - --metrics-port={{ .Values.metrics.port }}
        {{- end }}
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
    for value in VALUES.values():
        text = text.replace(f": {value}", f': "{value}"')
    return text


def stale(folder: Path = DEPLOY) -> list[str]:
    """Files that are not what they should be."""
    return [str(path) for path, text in files(folder) if not path.exists() or path.read_text(encoding="utf-8") != text]


def main() -> None:
    if sys.argv[1:2] == ["--check"]:
        if found := stale(*map(Path, sys.argv[2:])):
            sys.exit(f"stale: {', '.join(found)}: run scripts/write_deploy.py")
        return
    for path, text in files(DEPLOY):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
