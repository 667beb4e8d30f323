"""One small valid object of every built-in kind that can be stored."""

from typing import Any

POD_SPEC = {"containers": [{"name": "c", "image": "image"}]}
TEMPLATE = {"metadata": {"labels": {"app": "a"}}, "spec": POD_SPEC}
ONCE = {**TEMPLATE, "spec": {**POD_SPEC, "restartPolicy": "Never"}}
SELECTOR = {"matchLabels": {"app": "a"}}
RESOURCES = {"cpu": "2", "memory": "4Gi", "pods": "10"}
RULE = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
ROLE_REFERENCE = {"apiGroup": "rbac.authorization.k8s.io", "name": "r"}
SUBJECT = {"kind": "User", "name": "ann", "apiGroup": "rbac.authorization.k8s.io"}
CLIENT = {"url": "https://example.com/hook"}
WEBHOOK = {"name": "h.example.com", "clientConfig": CLIENT, "sideEffects": "None", "admissionReviewVersions": ["v1"]}
MATCHED = {
    "resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]
}
CSR = (
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIU01Ib0NBUUF3R0RFV01CUUdBMVVFQXd3TmMyVmhkSEpwWVd3dGRHVnpkREJa"
    "TUJNR0J5cUdTTTQ5QWdFRwpDQ3FHU000OUF3RUhBMElBQkhIYUt2aU9QUWpuZXMrYjNTdlVMZFA4SVQ2Vkt6NXR3d1RZaDlRZVFlWENkTFZFCndJ"
    "Qk9MY1FpcnZFNDNGWWZaQTNtNXFTUitRd3lBUSs0bys5cElLS2dBREFLQmdncWhrak9QUVFEQWdOSUFEQkYKQWlFQTNiTm9nNFU0b0RBTnhRRlRs"
    "SkVnOWJKbUFidnk1Yy9MN2J3MGlET0trWHdDSUJtbWNUenc2VE5xd3dDUwpXNEg5TGEyc1B3b0FteXRNcTMyMkhEUzdUaE5NCi0tLS0tRU5EIENF"
    "UlRJRklDQVRFIFJFUVVFU1QtLS0tLQo="
)

_OBJECTS: dict[str, dict[str, Any]] = {
    "v1/ConfigMap": {"data": {"x": "1"}},
    "v1/Endpoints": {"subsets": [{"addresses": [{"ip": "10.0.0.1"}], "ports": [{"port": 80}]}]},
    "v1/Event": {
        "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"},
        "reason": "Because",
        "message": "text",
        "type": "Normal",
        "source": {"component": "test"},
        "firstTimestamp": "2030-01-01T00:00:00Z",
        "lastTimestamp": "2030-01-01T00:00:00Z",
        "count": 1,
    },
    "v1/LimitRange": {"spec": {"limits": [{"type": "Container", "default": {"cpu": "1"}}]}},
    "v1/Namespace": {},
    "v1/Node": {"status": {"capacity": RESOURCES, "allocatable": RESOURCES}},
    "v1/PersistentVolumeClaim": {
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    },
    "v1/PersistentVolume": {
        "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/data"}}
    },
    "v1/Pod": {"spec": POD_SPEC},
    "v1/PodTemplate": {"template": TEMPLATE},
    "v1/ReplicationController": {"spec": {"replicas": 1, "selector": {"app": "a"}, "template": TEMPLATE}},
    "v1/ResourceQuota": {"spec": {"hard": {"pods": "10"}}},
    "v1/Secret": {"type": "Opaque", "data": {"x": "eA=="}},
    "v1/ServiceAccount": {},
    "v1/Service": {"spec": {"ports": [{"port": 80}], "selector": {"app": "a"}}},
    "apiregistration.k8s.io/v1/APIService": {
        "metadata": {"name": "v1.g.example.com"},
        "spec": {
            "group": "g.example.com",
            "version": "v1",
            "groupPriorityMinimum": 100,
            "versionPriority": 10,
            "service": {"name": "s", "namespace": "default", "port": 443},
            "insecureSkipTLSVerify": True,
        },
    },
    "apps/v1/ControllerRevision": {"data": {"x": 1}, "revision": 1},
    "apps/v1/DaemonSet": {"spec": {"selector": SELECTOR, "template": TEMPLATE}},
    "apps/v1/Deployment": {"spec": {"replicas": 1, "selector": SELECTOR, "template": TEMPLATE}},
    "apps/v1/ReplicaSet": {"spec": {"replicas": 1, "selector": SELECTOR, "template": TEMPLATE}},
    "apps/v1/StatefulSet": {"spec": {"replicas": 1, "selector": SELECTOR, "template": TEMPLATE, "serviceName": "s"}},
    "events.k8s.io/v1/Event": {
        "eventTime": "2030-01-01T00:00:00.000000Z",
        "regarding": {"kind": "Pod", "name": "p", "namespace": "default"},
        "reason": "Because",
        "action": "Acting",
        "note": "text",
        "type": "Normal",
        "reportingController": "example.com/test",
        "reportingInstance": "test-1",
    },
    "autoscaling/v2/HorizontalPodAutoscaler": {
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
            "minReplicas": 1,
            "maxReplicas": 3,
            "metrics": [
                {
                    "type": "Resource",
                    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}},
                }
            ],
        }
    },
    "autoscaling/v1/HorizontalPodAutoscaler": {
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
            "minReplicas": 1,
            "maxReplicas": 3,
            "targetCPUUtilizationPercentage": 80,
        }
    },
    "batch/v1/CronJob": {"spec": {"schedule": "*/5 * * * *", "jobTemplate": {"spec": {"template": ONCE}}}},
    "batch/v1/Job": {"spec": {"template": ONCE}},
    "certificates.k8s.io/v1/CertificateSigningRequest": {
        "spec": {"request": CSR, "signerName": "example.com/signer", "usages": ["digital signature", "client auth"]}
    },
    "networking.k8s.io/v1/IngressClass": {"spec": {"controller": "example.com/controller"}},
    "networking.k8s.io/v1/Ingress": {"spec": {"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}}},
    "networking.k8s.io/v1/IPAddress": {
        "spec": {"parentRef": {"resource": "services", "namespace": "default", "name": "s"}}
    },
    "networking.k8s.io/v1/NetworkPolicy": {"spec": {"podSelector": SELECTOR, "policyTypes": ["Ingress"]}},
    "networking.k8s.io/v1/ServiceCIDR": {"spec": {"cidrs": ["10.96.0.0/16"]}},
    "policy/v1/PodDisruptionBudget": {"spec": {"minAvailable": 1, "selector": SELECTOR}},
    "rbac.authorization.k8s.io/v1/ClusterRoleBinding": {
        "subjects": [SUBJECT],
        "roleRef": {**ROLE_REFERENCE, "kind": "ClusterRole"},
    },
    "rbac.authorization.k8s.io/v1/ClusterRole": {"rules": [RULE]},
    "rbac.authorization.k8s.io/v1/RoleBinding": {"subjects": [SUBJECT], "roleRef": {**ROLE_REFERENCE, "kind": "Role"}},
    "rbac.authorization.k8s.io/v1/Role": {"rules": [RULE]},
    "storage.k8s.io/v1/CSIDriver": {"spec": {"attachRequired": True}},
    "storage.k8s.io/v1/CSINode": {"spec": {"drivers": [{"name": "d.example.com", "nodeID": "n"}]}},
    "storage.k8s.io/v1/CSIStorageCapacity": {"storageClassName": "s", "capacity": "1Gi"},
    "storage.k8s.io/v1/StorageClass": {"provisioner": "example.com/p"},
    "storage.k8s.io/v1/VolumeAttachment": {
        "spec": {"attacher": "d.example.com", "nodeName": "n", "source": {"persistentVolumeName": "v"}}
    },
    "storage.k8s.io/v1/VolumeAttributesClass": {"driverName": "d.example.com", "parameters": {"x": "1"}},
    "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy": {
        "spec": {
            "matchConstraints": MATCHED,
            "reinvocationPolicy": "Never",
            "mutations": [
                {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{spec: Object.spec{}}"}}
            ],
        }
    },
    "admissionregistration.k8s.io/v1/MutatingAdmissionPolicyBinding": {"spec": {"policyName": "p"}},
    "admissionregistration.k8s.io/v1/MutatingWebhookConfiguration": {"webhooks": [WEBHOOK]},
    "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy": {
        "spec": {"matchConstraints": MATCHED, "validations": [{"expression": "true"}]}
    },
    "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding": {
        "spec": {"policyName": "p", "validationActions": ["Deny"]}
    },
    "admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration": {"webhooks": [WEBHOOK]},
    "apiextensions.k8s.io/v1/CustomResourceDefinition": {
        "metadata": {"name": "boats.example.com"},
        "spec": {
            "group": "example.com",
            "names": {"plural": "boats", "singular": "boat", "kind": "Boat", "listKind": "BoatList"},
            "scope": "Namespaced",
            "versions": [
                {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
            ],
        },
    },
    "scheduling.k8s.io/v1/PriorityClass": {"value": 100},
    "coordination.k8s.io/v1/Lease": {"spec": {"holderIdentity": "me", "leaseDurationSeconds": 15}},
    "node.k8s.io/v1/RuntimeClass": {"handler": "runc"},
    "discovery.k8s.io/v1/EndpointSlice": {
        "addressType": "IPv4",
        "endpoints": [{"addresses": ["10.0.0.1"]}],
        "ports": [{"name": "http", "port": 80, "protocol": "TCP"}],
    },
    "resource.k8s.io/v1/DeviceClass": {"spec": {"selectors": [{"cel": {"expression": "true"}}]}},
    "resource.k8s.io/v1/ResourceClaim": {
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c.example.com"}}]}}
    },
    "resource.k8s.io/v1/ResourceClaimTemplate": {
        "spec": {"spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c.example.com"}}]}}}
    },
    "resource.k8s.io/v1/ResourceSlice": {
        "spec": {
            "driver": "d.example.com",
            "nodeName": "n",
            "pool": {"name": "n", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "dev-0"}],
        }
    },
    "flowcontrol.apiserver.k8s.io/v1/FlowSchema": {
        "spec": {
            "priorityLevelConfiguration": {"name": "exempt"},
            "matchingPrecedence": 100,
            "rules": [
                {
                    "subjects": [{"kind": "Group", "group": {"name": "system:masters"}}],
                    "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
                }
            ],
        }
    },
    "flowcontrol.apiserver.k8s.io/v1/PriorityLevelConfiguration": {
        "spec": {"type": "Limited", "limited": {"nominalConcurrencyShares": 5, "limitResponse": {"type": "Reject"}}}
    },
}
NAMES = {"IPAddress": "192.168.0.1"}


def samples() -> list[dict[str, Any]]:
    """The objects, whole."""
    found = []
    for key, body in _OBJECTS.items():
        api_version, _, kind = key.rpartition("/")
        metadata = {"name": NAMES.get(kind, "sample"), **body.get("metadata", {})}
        found.append({"apiVersion": api_version, "kind": kind, **body, "metadata": metadata})
    return found


def sample(api_version: str, kind: str) -> dict[str, Any]:
    return next(s for s in samples() if (s["apiVersion"], s["kind"]) == (api_version, kind))
