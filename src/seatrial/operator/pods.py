"""The objects that the operator creates: Simulator for a SchedulerSimulation, Pod and Service for a Simulator.

Names of containers, environment variables and the mount path are those of KEP-159 and KEP-184. A pod template is merged
over what is made here as kubectl merges a patch: lists by their keys, so that a container of the same name is changed
field by field.
"""

import hashlib
import re
import shlex
from copy import deepcopy
from typing import Any

from seatrial.model.documents import Document, decode, encode, encode_sorted
from seatrial.model.patches import apply_strategic_patch
from seatrial.model.schema import schema_for
from seatrial.operator.kinds import IMAGE
from seatrial.scenario.spec.kind import API_VERSION, GROUP

SIMULATOR, ETCD, RUNNER = "simulator", "etcd", "scenario-runner"
MOUNT = "/mnt"
SCRATCH = "/tmp"
UID_LABEL = f"{GROUP}/simulator-uid"
"""Label of a simulator's Pod: the uid, since the name of a Simulator can be longer than a label may be."""
SPEC_HASH = f"{GROUP}/spec-hash"
LARGEST_SCENARIO = 2**30
"""Bytes of the largest scenario file that a simulator takes."""
USER = 65532
"""User and group of the image."""

_SCRATCH_VOLUME: Document = {"name": "tmp", "emptyDir": {}}
_SCRATCH_MOUNT = {"name": "tmp", "mountPath": SCRATCH}
_LABEL = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
_RESTRICTED: Document = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "readOnlyRootFilesystem": True,
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}


def is_own_image(image: str, own: str) -> bool:
    """Whether an image is Seatrial's, in whatever version: it takes commands, and needs no etcd."""
    return image == IMAGE or _repository(image) == _repository(own)


def _pulled(image: str, own: str) -> str:
    """The image to pull: the default of the definitions means the image of the operator."""
    return own if image == IMAGE else image


def _repository(image: str) -> str:
    name = image.partition("@")[0]
    head, slash, tail = name.rpartition("/")
    return head + slash + tail.partition(":")[0]


def owned_by(owner: Document) -> list[Document]:
    """The owner references of an object that goes when its owner goes."""
    return [
        {
            "apiVersion": owner["apiVersion"],
            "kind": owner["kind"],
            "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"],
            "controller": True,
        }
    ]


def is_owned(document: Document, owner: Document) -> bool:
    """Whether an object is controlled by this very owner."""
    references = document["metadata"].get("ownerReferences") or ()
    return any(each["uid"] == owner["metadata"]["uid"] and each.get("controller") for each in references)


def simulator_for(simulation: Document, own_image: str) -> Document:
    """The Simulator of a SchedulerSimulation: its simulatorSpec with the container scenario-runner in the template."""
    spec = simulation["spec"]
    simulator_spec = deepcopy(spec["simulatorSpec"])
    pod: Document = {"containers": [runner_container(spec, own_image)], "volumes": []}
    volume = _volume(spec)
    if is_own_image(spec["scenarioRunnerImage"], own_image):
        pod["volumes"].append(deepcopy(_SCRATCH_VOLUME))
    if volume is not None:
        pod["volumes"].append(volume)
        if any(f"{MOUNT}/" in path for path in _simulator_files(simulator_spec)):
            mount = {"name": volume["name"], "mountPath": MOUNT, "readOnly": True}
            pod["containers"].append({"name": SIMULATOR, "volumeMounts": [mount]})
    template = merged({"spec": pod}, simulator_spec.get("podTemplate") or {})
    # A runner that the kubelet starts again would run the scenario again.
    template["spec"]["restartPolicy"] = "Never"
    simulator_spec["podTemplate"] = template
    metadata = simulation["metadata"]
    return {
        "apiVersion": API_VERSION,
        "kind": "Simulator",
        "metadata": {
            "name": metadata["name"],
            "namespace": metadata["namespace"],
            "ownerReferences": owned_by(simulation),
        },
        "spec": simulator_spec,
    }


def _simulator_files(spec: Document) -> list[str]:
    """Words of a simulatorSpec that name files in the container simulator."""
    words = [spec.get("kubeSchedulerConfigurationPath") or ""]
    return [*words, *(spec.get("schedulerPluginPaths") or ()), *(spec.get("outsideScheduler") or ())]


def runner_container(spec: Document, own_image: str) -> Document:
    """The container that creates the Scenario and stores its result."""
    volume = _volume(spec)
    container: Document = {
        "name": RUNNER,
        "image": _pulled(spec["scenarioRunnerImage"], own_image),
        "env": [
            _variable("SIMULATOR_KUBE_APISERVER_PORT", spec["simulatorSpec"]["kubeAPIServerPort"]),
            _variable("SCENARIO_TEMPLATE_FILE_PATH", spec["scenarioTemplateFilePath"]),
            _variable("SCENARIO_RESULT_FILE_PATH", spec["scenarioResultFilePath"]),
        ],
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }
    mounts = [] if volume is None else [{"name": volume["name"], "mountPath": MOUNT}]
    if is_own_image(spec["scenarioRunnerImage"], own_image):
        container |= {"args": ["scenario-runner"], "securityContext": deepcopy(_RESTRICTED)}
        mounts.append(dict(_SCRATCH_MOUNT))
    return {**container, "volumeMounts": mounts}


def pod_for(simulator: Document, own_image: str, etcd_image: str) -> Document:
    """The Pod of a Simulator."""
    spec, metadata = simulator["spec"], simulator["metadata"]
    containers = [simulator_container(spec, own_image)]
    own = is_own_image(spec["image"], own_image)
    if not own and not spec.get("etcdURL"):
        containers.append({"name": ETCD, "image": etcd_image, "args": _ETCD_ARGUMENTS})
    pod: Document = {"metadata": {}, "spec": {"containers": containers}}
    if own:
        pod["spec"] |= {
            "automountServiceAccountToken": False,
            "securityContext": {"fsGroup": USER},
            "volumes": [deepcopy(_SCRATCH_VOLUME)],
        }
    pod = merged(pod, spec.get("podTemplate") or {})
    kept = pod.get("metadata") or {}
    pod["metadata"] = {
        "name": metadata["name"],
        "namespace": metadata["namespace"],
        "labels": {**(kept.get("labels") or {}), UID_LABEL: metadata["uid"]},
        "annotations": {**(kept.get("annotations") or {}), SPEC_HASH: spec_hash(simulator)},
        "ownerReferences": owned_by(simulator),
    }
    return {"apiVersion": "v1", "kind": "Pod", **pod}


_ETCD_ARGUMENTS = [
    "etcd",
    "--data-dir=/var/run/etcd",
    "--listen-client-urls=http://127.0.0.1:2379",
    "--advertise-client-urls=http://127.0.0.1:2379",
]


def simulator_container(spec: Document, own_image: str) -> Document:
    """The container that runs the simulator, with the environment that KEP-159 names."""
    own = is_own_image(spec["image"], own_image)
    api_port, server_port = spec["kubeAPIServerPort"], spec["simulatorServerPort"]
    environment = {
        "KUBE_API_PORT": api_port,
        "PORT": server_port,
        "KUBE_SCHEDULER_CONFIG_PATH": spec.get("kubeSchedulerConfigurationPath"),
        "KUBE_SCHEDULER_SIMULATOR_ETCD_URL": spec.get("etcdURL") or (None if own else "http://127.0.0.1:2379"),
        "CORS_ALLOWED_ORIGIN_LIST": ",".join(spec.get("corsAllowedOriginList") or ()),
    }
    container: Document = {
        "name": SIMULATOR,
        "image": _pulled(spec["image"], own_image),
        "env": [_variable(name, value) for name, value in environment.items() if value],
        "ports": [
            {"name": "kube-apiserver", "containerPort": api_port, "protocol": "TCP"},
            {"name": "simulator", "containerPort": server_port, "protocol": "TCP"},
        ],
        # A startup probe alone: a simulator in the middle of a long scheduling step may answer late.
        "startupProbe": {
            "httpGet": {"path": "/readyz", "port": api_port},
            "periodSeconds": 1,
            "failureThreshold": 600,
        },
    }
    if own:
        container["args"] = [*_serve_arguments(environment), *_scheduler_arguments(spec)]
        container["securityContext"] = deepcopy(_RESTRICTED)
        container["volumeMounts"] = [dict(_SCRATCH_MOUNT)]
    return container


def _serve_arguments(environment: dict[str, Any]) -> list[str]:
    """`seatrial serve` takes from the environment what the Pod sets there."""
    arguments = ["serve", "--insecure", "--bind-address=0.0.0.0", "--port=$(KUBE_API_PORT)", "--simulator-port=$(PORT)"]
    arguments += [f"--kubeconfig={SCRATCH}/kubeconfig", f"--max-request-bytes={LARGEST_SCENARIO}"]
    if environment["KUBE_SCHEDULER_CONFIG_PATH"]:
        arguments.append("--scheduler-config=$(KUBE_SCHEDULER_CONFIG_PATH)")
    if environment["CORS_ALLOWED_ORIGIN_LIST"]:
        arguments.append("--cors-allowed-origins=$(CORS_ALLOWED_ORIGIN_LIST)")
    return arguments


def _scheduler_arguments(spec: Document) -> list[str]:
    """Plugins of the embedded scheduler, or the scheduler that replaces it."""
    arguments = [f"--plugins={path}" for path in spec.get("schedulerPluginPaths") or ()]
    if command := spec.get("outsideScheduler"):
        arguments.append(f"--outside=scheduler={shlex.join(command)}")
    return arguments


def service_for(simulator: Document) -> Document:
    """The Service that gives a simulator its address."""
    spec, metadata = simulator["spec"], simulator["metadata"]
    ports = {"kube-apiserver": spec["kubeAPIServerPort"], "simulator": spec["simulatorServerPort"]}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": service_name(metadata["name"]),
            "namespace": metadata["namespace"],
            "ownerReferences": owned_by(simulator),
        },
        "spec": {
            "selector": {UID_LABEL: metadata["uid"]},
            "ports": [{"name": name, "port": port, "targetPort": port} for name, port in ports.items()],
        },
    }


def service_name(name: str) -> str:
    """The name of a Simulator's Service, which must be a DNS label: the Simulator's own where it is one."""
    if _LABEL.fullmatch(name):
        return name
    return f"simulator-{hashlib.sha256(name.encode()).hexdigest()[:10]}"


def url_of(simulator: Document) -> str:
    """The address of the simulator's kube-apiserver inside the cluster."""
    metadata = simulator["metadata"]
    port = simulator["spec"]["kubeAPIServerPort"]
    return f"http://{service_name(metadata['name'])}.{metadata['namespace']}.svc:{port}"


def spec_hash(simulator: Document) -> str:
    """Tells whether a Pod was made from the Simulator's present spec."""
    return hashlib.sha256(encode_sorted(simulator["spec"])).hexdigest()[:16]


def merged(made: Document, template: Document) -> Document:
    """A pod (template) with a user's template merged over it."""
    schema = schema_for("v1", "Pod")
    patched: Document = apply_strategic_patch(decode(encode(made)), decode(encode(template)), schema)
    return patched


def _volume(spec: Document) -> Document | None:
    volume = spec.get("volume")
    return {"name": "scenario", **volume} if volume else None


def _variable(name: str, value: object) -> Document:
    return {"name": name, "value": str(value)}
