"""What each in-tree plugin reads of a pod: pods of equal signature get equal verdicts and scores.

Upstream: SignPod of each plugin, k8s.io/kube-scheduler/framework/signers.go (v1.36.3).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from seatrial.model.documents import Document, encode_sorted
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.framework.interface import Plugin
from seatrial.scheduler.framework.status import Status, unschedulable
from seatrial.scheduler.plugins.image_locality import with_tag
from seatrial.scheduler.plugins.node_declared_features.plugin import required_features
from seatrial.scheduler.plugins.node_resources.hints import is_by_devices
from seatrial.scheduler.plugins.pod_topology_spread.plugin import PodTopologySpread

Signed = Mapping[str, Any] | Status


def _volumes(_: Plugin, pod: PodInfo) -> Signed:
    """Volumes without their names; config maps and secrets have no influence on the choice of a node."""
    sources = [{key: value for key, value in volume.items() if key != "name"} for volume in pod.shape.volumes]
    read = [source for source in sources if source.get("configMap") is None and source.get("secret") is None]
    return {"v1.Pod.Spec.Volumes.NonSyntheticSources()": sorted(map(_text, read))}


def _resources(plugin: Plugin, pod: PodInfo) -> Signed:
    asked = pod.shape.requests
    if any(amount and is_by_devices(plugin.handle, name) for name, amount in asked.scalars.items()):
        return unschedulable("signature disabled when dra extended resources are used in the cluster")
    amounts = [asked.cpu, asked.memory, asked.ephemeral, dict(asked.scalars)]
    return {"v1.Pod.Spec.ContainerRequestsAndOverheads()": amounts}


def _devices(_: Plugin, pod: PodInfo) -> Signed:
    return unschedulable("pods with dra resource claims are not signable") if pod.spec.get("resourceClaims") else {}


def _features(_: Plugin, pod: PodInfo) -> Signed:
    return {"v1.Pod.Spec.RequiredFeatures()": sorted(required_features(pod.spec))}


def _tolerations(_: Plugin, pod: PodInfo) -> Signed:
    listed = pod.spec.get("tolerations") or ()
    ordered = sorted(listed, key=lambda entry: (entry.get("key") or "", entry.get("value") or ""))
    return {"v1.Pod.Spec.Tolerations": ordered}


def _pod_affinity(plugin: Plugin, pod: PodInfo) -> Signed:
    affinity = pod.spec.get("affinity") or {}
    if affinity.get("podAffinity") is not None or affinity.get("podAntiAffinity") is not None:
        return unschedulable("pods with InterPodAffinity are not signable")
    return {} if plugin.args.get("ignorePreferredTermsOfExistingPods") else {"v1.Pod.Labels": dict(pod.labels)}


def _topology_spread(plugin: Plugin, pod: PodInfo) -> Signed:
    assert isinstance(plugin, PodTopologySpread)
    if pod.spec.get("topologySpreadConstraints"):
        return unschedulable("pods with topology constraints are not signable")
    if plugin.has_default_constraints:
        return unschedulable("pods with default topology constraints are not signable")
    return {}


def _host_ports(_: Plugin, pod: PodInfo) -> Signed:
    ports = {port.get("hostPort") for container in _containers(pod) for port in container.get("ports") or ()}
    return {"v1.Pod.Spec.HostPorts()": sorted(port for port in ports if port)}


def _node_affinity(_: Plugin, pod: PodInfo) -> Signed:
    affinity = (pod.spec.get("affinity") or {}).get("nodeAffinity")
    signed: Any = None
    if affinity is not None:
        required = (affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}).get("nodeSelectorTerms") or ()
        preferred = affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        weighed = [[term.get("weight"), *_term(term.get("preference") or {})] for term in preferred]
        signed = [sorted(_text(_term(term)) for term in required), sorted(map(_text, weighed))]
    selector = pod.spec.get("nodeSelector")
    return {"v1.Pod.Spec.Affinity.NodeAffinity": signed, "v1.Pod.Spec.Affinity.NodeSelector": selector}


def _node_name(_: Plugin, pod: PodInfo) -> Signed:
    return {"v1.Pod.Spec.NodeName": pod.node}


def _images(_: Plugin, pod: PodInfo) -> Signed:
    names = {with_tag(container.get("image") or "") for container in _containers(pod)}
    return {"v1.Pod.Spec.CanonicalImageNames()": sorted(names)}


SIGNERS: Mapping[str, Callable[[Plugin, PodInfo], Signed]] = {
    "DynamicResources": _devices,
    "ImageLocality": _images,
    "InterPodAffinity": _pod_affinity,
    "NodeAffinity": _node_affinity,
    "NodeDeclaredFeatures": _features,
    "NodeName": _node_name,
    "NodePorts": _host_ports,
    "NodeResourcesBalancedAllocation": _resources,
    "NodeResourcesFit": _resources,
    "NodeUnschedulable": _tolerations,
    "NodeVolumeLimits": _volumes,
    "PodTopologySpread": _topology_spread,
    "TaintToleration": _tolerations,
    "VolumeBinding": _volumes,
    "VolumeRestrictions": _volumes,
    "VolumeZone": _volumes,
}
"""By in-tree plugin; a plugin that signs nothing of a pod answers with an empty mapping."""


def _containers(pod: PodInfo) -> Sequence[Document]:
    return (*(pod.spec.get("containers") or ()), *(pod.spec.get("initContainers") or ()))


def _term(term: Document) -> list[list[str]]:
    """The requirements of a node selector term, without regard to their order and that of their values."""
    return [
        sorted(_text({**entry, "values": sorted(entry.get("values") or ())}) for entry in term.get(part) or ())
        for part in ("matchExpressions", "matchFields")
    ]


def _text(value: Any) -> str:
    return encode_sorted(value).decode()
