"""The manifests of the operator: definitions, permissions and Deployment.

`deploy/` holds the same objects for kustomize and Helm, written by `scripts/write_deploy.py`.
"""

from seatrial.model.documents import Document
from seatrial.operator.kinds import definitions
from seatrial.operator.pods import USER
from seatrial.scenario.spec.kind import GROUP

NAME = "seatrial-operator"
LABELS = {"app.kubernetes.io/name": NAME}
HEALTH_PORT = 8080

RULES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (GROUP, "schedulersimulations", ("get", "list", "watch")),
    (GROUP, "schedulersimulations/status", ("patch",)),
    (GROUP, "simulators", ("create", "delete", "get", "list", "watch")),
    (GROUP, "simulators/status", ("patch",)),
    ("", "pods", ("create", "delete", "get", "list", "watch")),
    ("", "services", ("create", "get", "patch")),
    ("", "events", ("create",)),
)
"""What the operator may do: API group, resource, verbs."""


def manifests(image: str, namespace: str) -> list[Document]:
    """Everything that the operator needs in a cluster, in the order of creation."""
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}},
        *definitions(),
        *permissions(namespace),
        deployment(image, namespace),
    ]


def permissions(namespace: str) -> list[Document]:
    """The service account with its role."""
    rules = [{"apiGroups": [group], "resources": [resource], "verbs": list(verbs)} for group, resource, verbs in RULES]
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": NAME, "namespace": namespace}},
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": NAME},
            "rules": rules,
        },
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": NAME},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": NAME},
            "subjects": [{"kind": "ServiceAccount", "name": NAME, "namespace": namespace}],
        },
    ]


def deployment(image: str, namespace: str) -> Document:
    """The operator itself; one replica, since two would only do the same work twice."""
    container: Document = {
        "name": "operator",
        "image": image,
        "args": ["operator", f"--image={image}", f"--liveness=http://0.0.0.0:{HEALTH_PORT}/healthz"],
        "livenessProbe": {"httpGet": {"path": "/healthz", "port": HEALTH_PORT}, "initialDelaySeconds": 10},
        "resources": {"requests": {"cpu": "50m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": NAME, "namespace": namespace, "labels": dict(LABELS)},
        "spec": {
            "replicas": 1,
            "strategy": {"type": "Recreate"},
            "selector": {"matchLabels": dict(LABELS)},
            "template": {
                "metadata": {"labels": dict(LABELS)},
                "spec": {
                    "serviceAccountName": NAME,
                    "securityContext": {
                        "runAsNonRoot": True,
                        "runAsUser": USER,
                        "seccompProfile": {"type": "RuntimeDefault"},
                    },
                    "containers": [container],
                    "volumes": [{"name": "tmp", "emptyDir": {}}],
                },
            },
        },
    }
