"""Defaults of pods and pod templates: pkg/apis/core/v1/defaults.go upstream.

What belongs to the Pod itself (requests from limits, service links, host ports) is not filled into templates.
"""

from collections.abc import Iterator

from seatrial.model.defaults.images import image_tag
from seatrial.model.defaults.rules import constants, rule, when_absent, when_empty
from seatrial.model.documents import Document
from seatrial.model.pod_resources import container_resources, needed_at_once

FILE_MODE = 0o644
HUGE_PAGES = "hugepages-"

constants(
    "core.v1.PodSpec",
    dnsPolicy="ClusterFirst",
    restartPolicy="Always",
    securityContext={},
    terminationGracePeriodSeconds=30,
    schedulerName="default-scheduler",
)
constants("core.v1.Probe", timeoutSeconds=1, periodSeconds=10, successThreshold=1, failureThreshold=3)
constants("core.v1.HTTPGetAction", path="/", scheme="HTTP")
constants("core.v1.ObjectFieldSelector", apiVersion="v1")
constants("core.v1.HostPathVolumeSource", type="")
constants("core.v1.SecretVolumeSource", defaultMode=FILE_MODE)
constants("core.v1.ConfigMapVolumeSource", defaultMode=FILE_MODE)
constants("core.v1.DownwardAPIVolumeSource", defaultMode=FILE_MODE)
constants("core.v1.ProjectedVolumeSource", defaultMode=FILE_MODE)
constants("core.v1.ServiceAccountTokenProjection", expirationSeconds=3600)


@rule("core.v1.Container", "core.v1.EphemeralContainer")
def container(document: Document) -> None:
    when_empty(document, imagePullPolicy=_pull_policy(document.get("image")))
    when_empty(document, terminationMessagePath="/dev/termination-log", terminationMessagePolicy="File")


@rule("core.v1.Volume")
def volume(document: Document) -> None:
    """A volume without a source is an emptyDir."""
    if not any(value is not None for name, value in document.items() if name != "name"):
        document["emptyDir"] = {}
    if (image := document.get("image")) is not None:
        when_empty(image, pullPolicy=_pull_policy(image.get("reference")))


def _pull_policy(image: str | None) -> str:
    return "Always" if image_tag(image or "") == "latest" else "IfNotPresent"


@rule("core.v1.PodSpec")
def pod_spec(document: Document) -> None:
    """The account has an old spelling that mirrors the new one, in pods and templates (a conversion upstream)."""
    account = document.get("serviceAccountName") or document.get("serviceAccount")
    if account:
        document["serviceAccountName"] = document["serviceAccount"] = account


@rule("core.v1.Pod")
def pod(document: Document) -> None:
    spec = document.setdefault("spec", {})
    for each in _containers(spec):
        resources = each.get("resources") or {}
        if limits := resources.get("limits"):
            resources["requests"] = limits | (resources.get("requests") or {})
    if (resources := spec.get("resources")) is not None:
        _huge_page_limits(spec, resources)
        _pod_requests(spec, resources)
    when_absent(spec, enableServiceLinks=True)
    if spec.get("hostNetwork"):
        for each in _containers(spec):
            for port in each.get("ports") or ():
                when_empty(port, hostPort=port.get("containerPort", 0))


def _containers(spec: Document) -> Iterator[Document]:
    yield from spec.get("containers") or ()
    yield from spec.get("initContainers") or ()


def _huge_page_limits(spec: Document, resources: Document) -> None:
    """Pod-level limits of huge pages default to those of the containers."""
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    if limits or requests:
        for name, quantity in needed_at_once(spec, lambda container: container_resources(container, "limits")).items():
            if name.startswith(HUGE_PAGES) and name not in requests and name not in limits:
                limits[name] = str(quantity)
        if limits:
            resources["limits"] = limits


def _pod_requests(spec: Document, resources: Document) -> None:
    """Pod-level requests are those of the containers together, else the pod's own limits."""
    if resources.get("limits"):
        default_pod_requests(spec, resources)


def default_pod_requests(spec: Document, resources: Document) -> None:
    """The same whatever the pod's limits: what the gate PodLevelResourcesFixDefaulting does."""
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    if not limits and not requests:
        return
    for name, quantity in needed_at_once(spec, lambda container: container_resources(container, "requests")).items():
        if name in ("cpu", "memory") and name not in requests:
            requests[name] = str(quantity)
    for name, value in limits.items():
        if name not in requests and (name in ("cpu", "memory") or name.startswith(HUGE_PAGES)):
            requests[name] = value
    if requests:
        resources["requests"] = requests
