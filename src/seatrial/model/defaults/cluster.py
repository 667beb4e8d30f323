"""Defaults of the groups that describe the cluster: storage, networking, rbac, devices, admission, API extensions."""

from seatrial.model.defaults.rules import constants, rule, when_absent, when_empty
from seatrial.model.documents import Document

RBAC_GROUP = "rbac.authorization.k8s.io"
_EXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1"
_AGGREGATION = "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1"

constants("storage.v1.StorageClass", reclaimPolicy="Delete", volumeBindingMode="Immediate")
constants(
    "storage.v1.CSIDriverSpec",
    attachRequired=True,
    podInfoOnMount=False,
    storageCapacity=False,
    fsGroupPolicy="ReadWriteOnceWithFSType",
    volumeLifecycleModes=["Persistent"],
    requiresRepublish=False,
    seLinuxMount=False,
)
constants("networking.v1.NetworkPolicyPort", protocol="TCP")
constants("networking.v1.IngressClassParametersReference", scope="Cluster")
constants("discovery.v1.EndpointPort", name="", protocol="TCP")
constants("authentication.v1.TokenRequestSpec", expirationSeconds=3600)
constants("rbac.v1.RoleRef", apiGroup=RBAC_GROUP)
constants("flowcontrol.v1.FlowSchemaSpec", matchingPrecedence=1000)
constants("flowcontrol.v1.ExemptPriorityLevelConfiguration", nominalConcurrencyShares=0, lendablePercent=0)
constants("flowcontrol.v1.LimitedPriorityLevelConfiguration", nominalConcurrencyShares=30, lendablePercent=0)
constants("flowcontrol.v1.QueuingConfiguration", handSize=8, queues=64, queueLengthLimit=50)
constants(
    "admissionregistration.v1.ValidatingWebhook",
    failurePolicy="Fail",
    matchPolicy="Equivalent",
    namespaceSelector={},
    objectSelector={},
    timeoutSeconds=10,
)
constants(
    "admissionregistration.v1.MutatingWebhook",
    failurePolicy="Fail",
    matchPolicy="Equivalent",
    namespaceSelector={},
    objectSelector={},
    timeoutSeconds=10,
    reinvocationPolicy="Never",
)
constants("admissionregistration.v1.Rule", scope="*")
constants("admissionregistration.v1.MatchResources", matchPolicy="Equivalent", namespaceSelector={}, objectSelector={})
constants("admissionregistration.v1.ValidatingAdmissionPolicySpec", failurePolicy="Fail")
constants("admissionregistration.v1.MutatingAdmissionPolicySpec", failurePolicy="Fail")
constants("admissionregistration.v1.ServiceReference", port=443)
constants(f"{_EXTENSIONS}.ServiceReference", port=443)
constants(f"{_AGGREGATION}.ServiceReference", port=443)


@rule("networking.v1.NetworkPolicySpec")
def network_policy(document: Document) -> None:
    when_empty(document, policyTypes=["Ingress", "Egress"] if document.get("egress") else ["Ingress"])


@rule("rbac.v1.Subject")
def subject(document: Document) -> None:
    if document.get("kind") in ("User", "Group"):
        when_empty(document, apiGroup=RBAC_GROUP)


@rule("resource.v1.ExactDeviceRequest", "resource.v1.DeviceSubRequest")
def device_request(document: Document) -> None:
    when_empty(document, allocationMode="ExactCount")
    if document["allocationMode"] == "ExactCount":
        when_empty(document, count=1)


@rule("resource.v1.Device")
def device(document: Document) -> None:
    for mapping in (document.get("nodeAllocatableResourceMappings") or {}).values():
        when_absent(mapping, allocationMultiplier="1")


@rule(f"{_EXTENSIONS}.CustomResourceDefinition")
def custom_resource_definition(document: Document) -> None:
    spec = document.setdefault("spec", {})
    names = spec.setdefault("names", {})
    if kind := names.get("kind"):
        when_empty(names, singular=kind.lower(), listKind=f"{kind}List")
    when_absent(spec, conversion={"strategy": "None"})
    stored = [version["name"] for version in spec.get("versions") or () if version.get("storage")]
    if stored:
        when_empty(document.setdefault("status", {}), storedVersions=stored[:1])
