"""Valid manifests broken in one place at a time: every field emptied, removed, doubled or given a wrong value.

A case is a manifest, the changes made to it, and the door it goes through: "create", "" (an update of the manifest
itself) or a subresource.
"""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

Change = list[Any]
Case = tuple[str, list[Change], str]
MANIFESTS = {
    path.stem: yaml.safe_load(path.read_text()) for path in sorted((Path(__file__).parent / "manifests").glob("*.yaml"))
}
DOORS = {
    "Pod": ("status", "resize", "ephemeralcontainers"),
    "Namespace": ("status", "finalize"),
    "PriorityClass": (),
    "LimitRange": (),
    "PodTemplate": (),
    "ConfigMap": (),
    "Secret": (),
    "Lease": (),
    "StorageClass": (),
    "CSINode": (),
    "ResourceClaim": (),
    "ResourceClaimTemplate": (),
    "DeviceClass": (),
    "ResourceSlice": (),
}
ONLY_CREATED = ("resourceclaim-config",)
"""Raw parameters come back from the recorder's encoder in another form, which counts as a change."""
LONG = "x" * 300


def cases() -> Iterator[Case]:
    """All cases, in a fixed order."""
    for name, manifest in MANIFESTS.items():
        doors = DOORS.get(manifest["kind"], ("status",))
        yield name, [], "create"
        if name in ONLY_CREATED:
            doors = ()
        else:
            yield name, [], ""
        for part in manifest:
            if part in ("apiVersion", "kind") or (part == "metadata" and name != "pod"):
                continue
            for change in breakages({part: manifest[part]}):
                if part == "status":
                    yield from [(name, [change], "status")] if "status" in doors else []
                else:
                    yield name, [change], "create"
            if name in ONLY_CREATED or (part in ("status", "metadata") and manifest["kind"] != "Node"):
                continue
            for change in changes_of({part: manifest[part]}):
                yield name, [change], ""
                if part == "spec" and "resize" in doors and "resources" in change[0]:
                    yield name, [change], "resize"
    yield from EXTRAS


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[list[Any], Any]]:
    """Every place of a manifest and what is there."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(inner, (dict, list)):
            yield from places(inner, (*path, key))
        if [*path, key] not in (["metadata"], ["metadata", "name"], ["metadata", "namespace"]):
            yield [*path, key], inner


def breakages(part: Any) -> Iterator[Change]:
    """Every way to break one place."""
    for where, value in places(part):
        yield from ([where, wrong] for wrong in wrong_values(str(where[-1]), value))
        yield [where]
        if isinstance(value, dict) and where[-1] in ("labels", "nodeSelector", "matchLabels"):
            yield [[*where, "Bad/Key/x"], "v"]
            yield [[*where, "good"], "bad value!"]


def changes_of(part: Any) -> Iterator[Change]:
    """One other value for every place, and one more item for every map."""
    for where, value in places(part):
        if isinstance(value, (bool, int)):
            yield [where, not value if isinstance(value, bool) else value + 1]
        elif isinstance(value, str):
            yield [where, f"{value}1" if value[-1:].isdigit() else "other"]
        elif isinstance(value, list):
            yield [where]
        elif where[-2:-1] != ["claims"] and all(isinstance(inner, str) for inner in value.values()):
            yield [[*where, "more"], "1"]


def wrong_values(key: str, value: Any) -> list[Any]:
    """What to put in the place of a value."""
    match value:
        case bool():
            return [not value]
        case int():
            return [-1, 0, 70000]
        case str() if value.endswith("%"):
            return ["", "x%", "101%"]
        case str() if value[:1].isdigit() and not set(value) & set(":.-"):
            return ["-1", "0", "1500m", "64Gi"]
        case str():
            return ["", "Bad/Value!", *([LONG] if key == "name" else [])]
        case list():
            return [[*value, value[0]]] if value else []
        case dict():
            return [{}]
    return []


def changed(manifest: Any, changes: list[Change]) -> Any:
    """A copy of a manifest with changes made to it."""
    result = copy.deepcopy(manifest)
    for path, *value in changes:
        holder = result
        for key in path[:-1]:
            holder = holder[key] if isinstance(holder, list) else holder.setdefault(key, {})
        if value:
            holder[path[-1]] = copy.deepcopy(value[0])
        else:
            del holder[path[-1]]
    return result


def question(case: Case) -> dict[str, Any]:
    """A case as the recorder is asked."""
    name, changes, door = case
    if door == "create":
        return {"Object": changed(MANIFESTS[name], changes)}
    if door == "status":
        return {"Old": MANIFESTS[name], "Object": changed(MANIFESTS[name], changes), "Subresource": door}
    return {"Old": MANIFESTS[name], "Changes": changes, "Subresource": door}


def _spec(name: str, door: str = "create", **values: Any) -> Case:
    return name, [[["spec", key], value] for key, value in values.items()], door


_MAIN = {"name": "main", "image": "nginx"}
_ADD = "spec", "containers", 0


def _container(name: str, door: str = "create", **values: Any) -> Case:
    return name, [[[*_ADD, key], value] for key, value in values.items()], door


EXTRAS: list[Case] = [
    _spec("pod", containers=[]),
    _spec("pod", containers=[_MAIN, _MAIN]),
    _spec("pod", containers=[_MAIN], door=""),
    _spec("pod", ephemeralContainers=[{"name": "e", "image": "x"}]),
    _spec("pod", ephemeralContainers=[{"name": "e", "image": "x"}], door="ephemeralcontainers"),
    _spec("pod", ephemeralContainers=[{"name": "main", "image": " x"}], door="ephemeralcontainers"),
    _spec(
        "pod",
        "ephemeralcontainers",
        ephemeralContainers=[{**_MAIN, "name": "e", "targetContainerName": "no", "ports": [{"containerPort": 1}]}],
    ),
    _spec("pod", nodeName="n1", schedulingGates=[{"name": "a"}]),
    _spec("pod", nodeName="N_1"),
    _spec("pod", nodeName="n1", door=""),
    _spec("pod", activeDeadlineSeconds=0),
    _spec("pod", activeDeadlineSeconds=2**31),
    _spec("pod", activeDeadlineSeconds=301, door=""),
    _spec("pod", activeDeadlineSeconds=299, door=""),
    _spec("pod", tolerations=[], door=""),
    _spec("pod", schedulingGates=[{"name": "new"}], door=""),
    _spec("pod", dnsPolicy="None", dnsConfig={}),
    _spec("pod", dnsPolicy="None"),
    _spec("pod", dnsConfig={"nameservers": ["1.1.1.1", "2.2.2.2", "3.3.3.3", "01.1.1.1"]}),
    _spec("pod", dnsConfig={"searches": ["a" * 20 + str(i) for i in range(33)]}),
    _spec("pod", dnsConfig={"searches": ["_x.y", ".", "Bad"]}),
    _spec("pod", hostNetwork=True),
    _spec("pod", hostUsers=False, hostPID=True, hostIPC=True, hostNetwork=True),
    _spec("pod", hostPID=True, shareProcessNamespace=True),
    _spec("pod", hostnameOverride="x" * 65, setHostnameAsFQDN=True),
    _spec("pod", preemptionPolicy="Sometimes", restartPolicy="Sometimes", dnsPolicy="Sometimes"),
    _spec("pod", overhead={"cpu": "-1", "unknown": "1"}),
    _spec("pod", os={"name": "plan9"}),
    _spec("pod", hostAliases=[{"ip": "::ffff:1.2.3.4"}, {"ip": "1.2.3"}, {"ip": "01.2.3.4"}]),
    _spec("pod", resourceClaims=[{"name": "gpu"}]),
    _spec("pod", resourceClaims=[{"name": "gpu", "resourceClaimName": "a", "resourceClaimTemplateName": "b"}]),
    _spec("pod", resourceClaims=[]),
    _spec("pod", tolerations=[{"key": "a", "operator": "Exists", "value": "v"}]),
    _spec("pod", tolerations=[{"key": "a", "operator": "Near"}, {"effect": "NoSuch", "operator": "Exists"}]),
    _spec("pod", tolerations=[{"key": "a", "operator": "Exists", "tolerationSeconds": 1}]),
    _spec("pod", resources={"requests": {"cpu": "1m"}, "limits": {"cpu": "1m"}}),
    _spec(
        "pod", resources={"requests": {"cpu": "3", "pods": "1"}, "limits": {"cpu": "3"}, "claims": [{"name": "gpu"}]}
    ),
    _spec("pod", terminationGracePeriodSeconds=-5),
    _container("pod", resources={"requests": {"hugepages-2Mi": "3Mi"}}),
    _container("pod", resources={"limits": {"hugepages-2Mi": "4Mi"}}),
    _container("pod", resources={"requests": {"example.com/gpu": "1"}}),
    _container("pod", resources={"requests": {"example.com/gpu": "1500m"}, "limits": {"example.com/gpu": "1500m"}}),
    _container("pod", resources={"requests": {"example.com/gpu": "1"}, "limits": {"example.com/gpu": "2"}}),
    _container("pod", resources={"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}),
    _container("pod", resources={"requests": {"cpu": "-2", "wood": "1", "requests.example.com/x": "1"}}),
    _container("pod", resources={"claims": [{"name": "gpu"}, {"name": "gpu"}, {"name": "no"}, {"name": ""}]}),
    _container("pod", resources={"claims": [{"name": "gpu", "request": "a"}, {"name": "gpu"}]}),
    _container("pod", env=[{"name": "A=B"}, {"name": ""}, {"name": "X", "valueFrom": {}}]),
    _container("pod", env=[{"name": "A", "value": "x", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}]),
    _container("pod", env=[{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['Bad/x/y']"}}}]),
    _container("pod", env=[{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName['a']"}}}]),
    _container("pod", env=[{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "status.phase"}}}]),
    _container(
        "pod",
        env=[
            {"name": "A", "valueFrom": {"configMapKeyRef": {"name": "a", "key": ".."}, "secretKeyRef": {"key": "..a"}}}
        ],
    ),
    _container("pod", envFrom=[{}, {"configMapRef": {"name": "a-"}, "secretRef": {"name": "B"}}]),
    _container("pod", image=" nginx"),
    _container("pod", image="other", door=""),
    _container("pod", image="", door=""),
    _container("pod", image="other ", door=""),
    _container("pod", ports=[{"containerPort": 1, "hostPort": 2}, {"containerPort": 3, "hostPort": 2}]),
    _container("pod", ports=[{"containerPort": 1, "name": "--"}, {"containerPort": 1, "name": "1"}]),
    _container("pod", livenessProbe={}),
    _container("pod", livenessProbe={"exec": {"command": ["a"]}, "grpc": {"port": 1}, "successThreshold": 2}),
    _container("pod", readinessProbe={"tcpSocket": {"port": "Bad"}, "terminationGracePeriodSeconds": 5}),
    _container("pod", lifecycle={"preStop": {"sleep": {"seconds": 500}}}),
    _container("pod", volumeMounts=[{"name": "no", "mountPath": "/a"}, {"name": "claim", "mountPath": "/a"}]),
    _container("pod", volumeMounts=[{"name": "claim", "mountPath": "/a", "subPath": "/x", "subPathExpr": "../y"}]),
    _container("pod", volumeMounts=[{"name": "claim", "mountPath": "/a", "mountPropagation": "Bidirectional"}]),
    _container("pod", volumeMounts=[{"name": "claim", "mountPath": "/a", "recursiveReadOnly": "Enabled"}]),
    _container(
        "pod", volumeDevices=[{"name": "claim", "devicePath": "/data"}, {"name": "scratch", "devicePath": "../x"}]
    ),
    _container("pod", volumeDevices=[{"name": "block", "devicePath": "/a"}, {"name": "block", "devicePath": "/a"}]),
    _container("pod", securityContext={"allowPrivilegeEscalation": False, "privileged": True}),
    _container("pod", securityContext={"allowPrivilegeEscalation": False, "capabilities": {"add": ["CAP_SYS_ADMIN"]}}),
    _container("pod", securityContext={"procMount": "Unmasked", "windowsOptions": {"runAsUserName": ""}}),
    _container("pod", securityContext={"seccompProfile": {"type": "Localhost"}}),
    _container("pod", securityContext={"seccompProfile": {"type": "Unconfined", "localhostProfile": "x"}}),
    _container("pod", securityContext={"appArmorProfile": {"type": "Localhost", "localhostProfile": " x"}}),
    _container("pod", securityContext={"appArmorProfile": {"type": "Unconfined", "localhostProfile": "x"}}),
    _spec("pod-security", securityContext={"seLinuxChangePolicy": "MountOption"}),
    _container("pod", restartPolicyRules=[{"action": "Restart"}, {"action": "Go", "exitCodes": {"operator": "Is"}}]),
    ("pod", [[[*_ADD, "restartPolicy"]]], "create"),
    ("pod", [[["metadata", "annotations", "kubernetes.io/config.mirror"], "x"]], "create"),
    ("pod", [[["metadata", "annotations", "kubernetes.io/config.mirror"], "x"]], ""),
    ("pod", [[["metadata", "annotations", "controller.kubernetes.io/pod-deletion-cost"], "+5"]], "create"),
    ("pod", [[["metadata", "annotations", "seccomp.security.alpha.kubernetes.io/pod"], "x"]], "create"),
    ("pod", [[["metadata", "finalizers"], ["orphan", "foregroundDeletion"]]], "create"),
    ("pod", [[["metadata", "finalizers"], ["plain"]]], "create"),
    ("pod", [[["metadata", "ownerReferences", 0, "controller"]]], "create"),
    ("pod", [[["metadata", "generateName"], "Bad_"]], "create"),
    ("pod", [[["metadata", "namespace"], "Bad_"]], "create"),
    ("pod-volumes", [[["spec", "volumes", 0, "emptyDir"], {}]], "create"),
    ("pod-volumes", [[["spec", "volumes", 0, "name"], "host"]], "create"),
    ("pod-volumes", [[["spec", "serviceAccountName"]]], "create"),
    ("pod-volumes", [[["spec", "volumes", 0, "persistentVolumeClaim", "claimName"], "volumes-ephemeral"]], "create"),
    *((name, [[["spec", "affinity"]]], door) for name in ("pod-placement",) for door in ("create", "")),
    _spec("pod-placement", nodeSelector={"disk": "ssd", "more": "x"}, door=""),
    _spec("pod-placement", schedulingGates=[{"name": "other"}], door=""),
    _spec("pod-placement", schedulingGates=[{"name": "other"}, {"name": "new"}], door=""),
    _spec("job", suspend=False, parallelism=5, completions=5, door=""),
    _spec("job", completions=5, door=""),
    _spec("job-plain", completionMode="Indexed"),
    _spec("job-plain", completions=2, parallelism=3, door=""),
    _spec("job-plain", backoffLimitPerIndex=1),
    _spec("job-plain", podFailurePolicy={"rules": []}),
    _spec("deployment", strategy={"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}),
    _spec("deployment", strategy={"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}),
    _spec("deployment", minReadySeconds=60, progressDeadlineSeconds=60),
    _spec("deployment", selector={}),
    _spec("deployment", selector={"matchLabels": {"app": "other"}}),
    _spec("deployment", selector={"matchLabels": {"app": "other"}}, door=""),
    _spec("daemonset", updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0}}),
    _spec("daemonset", updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 1}}),
    _spec("statefulset", serviceName="other", door=""),
    _spec("statefulset", minReadySeconds=5, replicas=7, door=""),
    _spec("budget", maxUnavailable=1),
    _spec("budget", minAvailable="50%"),
    _spec("budget", minAvailable="x"),
    _spec("budget", minAvailable="500%"),
    _spec("claim", resources={"requests": {"storage": "6Gi"}}, door=""),
    _spec("claim", dataSourceRef={"kind": "PersistentVolumeClaim", "name": "x"}),
    _spec("claim", dataSourceRef={"kind": "PersistentVolumeClaim", "name": "x", "namespace": "Bad_"}),
    _spec("quota", scopes=["Terminating", "NotTerminating"]),
    _spec("quota", scopes=["BestEffort"], hard={"cpu": "1", "wood": "1", "example.com/x": "1", "pods": "1500m"}),
    ("priorityclass", [[["value"], 1000000001]], "create"),
    ("priorityclass", [[["metadata", "name"], "system-own"]], "create"),
    ("secret", [[["type"], "kubernetes.io/dockerconfigjson"]], "create"),
    ("secret", [[["type"], "kubernetes.io/basic-auth"]], "create"),
    ("secret", [[["type"], "kubernetes.io/ssh-auth"]], "create"),
    ("secret", [[["type"], "kubernetes.io/service-account-token"], [["metadata", "annotations"]]], "create"),
    ("configmap", [[["data", "c"], "d"]], "create"),
    ("storageclass", [[["parameters", ""], "x"]], "create"),
    _spec("pv-nfs", persistentVolumeReclaimPolicy="Recycle"),
    _spec("pv-hostpath", persistentVolumeReclaimPolicy="Recycle"),
    _spec("pv-local", nfs={"server": "s", "path": "/"}),
    ("pv-local", [[["spec", "nodeAffinity"]]], "create"),
    _spec("pv-nfs", capacity={"storage": "1Gi", "cpu": "1"}),
]
