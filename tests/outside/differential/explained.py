"""The differences that stay, by pattern of `step | line`, with the reason of each; docs/serve.md lists the reasons.

A pattern names a kind and a field, or a step whose whole answer differs.
"""

PLACE = r"(\.items\[\d+\]|\.rows\[\d+\]\.object|(\.details\.causes\[\d+\])?\.message\[\d+\])?"
"""Where an object is in an answer: in a list, in a table, or quoted in a refusal."""

NULLS = "lists that Go writes as null are left out"
TOKENS = "pods get no token volume, since nothing runs in them"
TAINTS = "a new node is ready at once, so that it is not tainted until it is"
FLOWS = "requests are not queued by priority, so that no status says so"
DEFINITIONS = "a definition is established in the write that creates it, and gone with the one that deletes it"
SERVICES = "there is no aggregation layer that would look at an APIService"
SCALERS = "a HorizontalPodAutoscaler of v1 is read and owned as one of v2"
ANNOTATION = "the annotation of a DaemonSet with its template's generation is not owned, and shown in metadata"
REVISIONS = "upstream refuses every patch of a ControllerRevision that was made from JSON, since it compares bytes"
EVENT_TIME = "the eventTime of an Event that is null is owned"
ADDRESSES = "addresses are not objects, so that their rules do not speak first"
TEXTS = "of several rules that an empty spec breaks, others are named"
BINDINGS = "upstream goes over bindings in no fixed order"
KEY = "the issuer of tokens has a key for ES256, and its own address"
SERVER = "addresses and hashes of the server itself"


def field(kind: str, *paths: str, step: str = ".*") -> str:
    """Fields of the objects of a kind."""
    return rf"^{kind}: {step} \| {PLACE}\.({'|'.join(paths)})"


def answer(kind: str, *steps: str) -> str:
    """The whole answers to some steps about a kind."""
    return rf"^{kind}: ({'|'.join(steps)}) \| "


DEFINITION = r"apiextensions\.k8s\.io/v1 CustomResourceDefinition"
SERVICE = r"apiregistration\.k8s\.io/v1 APIService"
FLOW = r"flowcontrol\.apiserver\.k8s\.io/v1 FlowSchema"
SCALER = r"autoscaling/v1 HorizontalPodAutoscaler"
REVISION = r"apps/v1 ControllerRevision"

EXPLAINED: dict[str, str] = {
    field(r"storage\.k8s\.io/v1 CSINode", r"spec\.drivers(\[\d+\]\.topologyKeys)?: ours lacks null"): NULLS,
    field(r"resource\.k8s\.io/v1 ResourceClaim\w*", r"spec\.(spec\.)?devices\.requests: ours lacks null"): NULLS,
    field(r"v1 LimitRange", r"spec\.limits: ours lacks null"): NULLS,
    field(r"autoscaling/v2 HorizontalPodAutoscaler", r"status\.(currentMetrics|conditions): ours lacks null"): NULLS,
    field(DEFINITION, r"status\.conditions: ours lacks null"): NULLS,
    field(r"v1 Pod", r"spec\.volumes", r"spec\.containers\[\d+\]\.volumeMounts"): TOKENS,
    field(r"v1 Node", r"spec\.taints"): TAINTS,
    field(FLOW, r"status\.conditions", r"metadata\.managedFields", r"rows\[\d+\]\.cells\[\d+\]"): FLOWS,
    field(DEFINITION, r"status\.(conditions|acceptedNames|storedVersions)", r"metadata\.managedFields"): DEFINITIONS,
    answer(DEFINITION, "dry run of a delete", "delete", "delete again", "get after the delete"): DEFINITIONS,
    field(SERVICE, r"status\.conditions", r"metadata\.managedFields", r"rows\[\d+\]\.cells\[\d+\]"): SERVICES,
    field(SCALER, r"metadata\.managedFields", r"status\.currentReplicas: ours lacks 0"): SCALERS,
    answer(SCALER, ".* patch of the wrong type", "patch with an unknown field"): SCALERS,
    field(r"apps/v1 DaemonSet", r".*deprecated\.daemonset\.template\.generation"): ANNOTATION,
    field(r"apps/v1 DaemonSet", r"metadata\.managedFields\[\d+\]\.fieldsV1\.f:metadata\.f:annotations\.\."): ANNOTATION,
    answer(REVISION, ".*patch.*"): REVISIONS,
    field(REVISION, r"metadata\.labels", r"metadata\.managedFields\[\d+\]\.fieldsV1\.f:metadata"): REVISIONS,
    field(r"v1 Event", r"metadata\.managedFields\[\d+\]\.fieldsV1\.f:eventTime"): EVENT_TIME,
    answer(r"v1 Service", "no name", "bad name"): ADDRESSES,
    answer(r"networking\.k8s\.io/v1 IPAddress", "generated name"): "the name of an address is not generated",
    answer(r"v1 Endpoints", "patch of another media type"): "the deprecation of Endpoints is told before other errors",
    answer(r"storage\.k8s\.io/v1 VolumeAttachment", "empty spec"): TEXTS,
    answer(rf"({FLOW}|{DEFINITION})", "empty spec"): TEXTS,
    r"^(house|(no )?conversion): define \| \.status": DEFINITIONS,
    r"^conversion: (get the definition|store in v1|break the webhook) \| \.metadata\.managedFields": DEFINITIONS,
    r"^conversion: delete the definition \| ": DEFINITIONS,
    r"^house: status of the wrong type \| ": "the paths in the texts of a custom resource's status begin at its root",
    r"^house: patch of the wrong type \| ": "the path of a scale is not looked at before the schema has been",
    r"^policy: a policy that does not compile \| \.(message|details)": "the texts of errors in CEL",
    r"^webhook: a condition that does not compile.* \| \.(message|details)": "the texts of errors in CEL",
    r"^policy: a binding without a policy \| \.(message|details)": TEXTS,
    r"^watch: a bad revision \| ": "a watch with a bad revision is refused as a list is",
    r"^SubjectAccessReview of a path \| \.status\.reason: ": BINDINGS,
    r"^rules review \| \.status\.nonResourceRules": BINDINGS,
    r"^discovery /api \| \.serverAddressByClientCIDRs": SERVER,
    r"^discovery .* \| \.(resources\[\d+\]\.storageVersionHash|apiVersion)": SERVER,
    r"^issuer: metadata \| \.(jwks_uri|id_token_signing_alg_values_supported)": KEY,
    r"^issuer: keys \| \.keys": KEY,
    r"^unacceptable \| \.(details|message)": "the list of media types that are served",
}
