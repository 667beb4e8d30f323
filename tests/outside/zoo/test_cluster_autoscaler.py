"""The real cluster-autoscaler (kwok provider) on `serve` and the built-in one in a scenario give groups equal sizes."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import seatrial
from seatrial.scenario.spec.kind import API_VERSION
from tests.outside.conftest import built as kubernetes
from tests.outside.objects import deployment, node
from tests.outside.processes import Kubectl, Serve, free_port
from tests.outside.zoo.autoscaler_shapes import NODE_GROUP, SHAPES, Group, Shape, Work
from tests.outside.zoo.programs import Running, until
from tests.scenario.playing import create, done, operations, patch, scenario

LOOPS = 4
"""Loops of the real one without a change after which it is at rest."""
CONFIG = {
    "apiVersion": "v1alpha1",
    "readNodesFrom": "configmap",
    "nodegroups": {"fromNodeLabelKey": NODE_GROUP},
    "nodes": {"skipTaint": True},
    "configmap": {"name": "kwok-provider-templates"},
}
FLAGS = (
    "--cloud-provider=kwok", "--namespace=default", "--leader-elect=false", "--scan-interval=1s", "--v=4",
    "--scale-down-unneeded-time=2s", "--scale-down-delay-after-add=2s",
)  # fmt: skip


def workload(name: str, work: Work) -> dict[str, Any]:
    made = deployment(name, work.replicas)
    pod = made["spec"]["template"]["spec"]
    pod["containers"][0]["resources"] = {"requests": {"cpu": work.cpu, "memory": work.memory}}
    pod.update(work.spec)
    return made


def template(name: str, group: Group) -> dict[str, Any]:
    """A node of a group as the ConfigMap of the kwok provider has it."""
    found = node(f"template-{name}", group.cpu, **{NODE_GROUP: name}, **group.labels)
    for amounts in (found["status"]["capacity"], found["status"]["allocatable"]):
        amounts["memory"] = group.memory
    found["metadata"]["annotations"] = {"cluster-autoscaler.kwok.nodegroup/max-count": str(group.most)}
    found["spec"] = {"taints": list(group.taints)}
    return found


def by_real_one(shape: Shape, folder: Path) -> list[dict[str, int]]:
    """The sizes of the groups after each part of a case."""
    nodes = {"apiVersion": "v1", "kind": "List", "items": [template(*each) for each in shape.groups.items()]}
    maps = (("kwok-provider-config", "config", CONFIG), ("kwok-provider-templates", "templates", nodes))
    with Serve(folder / "state") as serve:
        kubectl = Kubectl(kubernetes("kubectl") / "kubectl", serve.kubeconfig, folder)
        for name, key, value in maps:
            data = {key: json.dumps(value)}
            metadata = {"name": name, "namespace": "default"}
            kubectl.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})
        kubectl.create(node("base", "100m"), *(workload(*each) for each in shape.work.items()))
        flags = (*FLAGS, f"--expander={shape.expander}", f"--address=127.0.0.1:{free_port()}")
        environment = {"KWOK_PROVIDER_MODE": "local", "POD_NAMESPACE": "default"}
        config = ("--kubeconfig", str(serve.kubeconfig))
        with Running(
            "cluster-autoscaler", *flags, *config,
            kubeconfig=serve.kubeconfig, log=folder / "log", environment=environment,
        ) as program:  # fmt: skip
            found = [rested(kubectl, program)]
            if any(work.later is not None for work in shape.work.values()):
                for name, work in shape.work.items():
                    if work.later is not None:
                        kubectl("scale", "deployment", name, f"--replicas={work.later}")
                found.append(rested(kubectl, program))
    return found


def rested(kubectl: Kubectl, program: Running) -> dict[str, int]:
    """The sizes of the groups once some loops have changed nothing."""
    seen: list[Any] = [None, 0]

    def holds() -> bool:
        labels = [each["metadata"]["labels"] for each in kubectl.json("get", "nodes")["items"]]
        state = Counter(each[NODE_GROUP] for each in labels if NODE_GROUP in each)
        loops = program.log.count("Starting main loop")
        if state != seen[0]:
            seen[:] = [state, loops]
        return loops - int(seen[1]) >= LOOPS

    until(holds, "the sizes of the groups stay", program)
    return dict(sorted(seen[0].items()))


def by_built_in_one(shape: Shape, folder: Path) -> list[dict[str, int]]:
    """The sizes of the groups at the end of each part of a scenario."""
    groups = [
        {
            "apiVersion": API_VERSION,
            "kind": "NodeGroup",
            "metadata": {"name": name},
            "spec": {
                "maxSize": group.most,
                "template": {
                    "capacity": {"cpu": group.cpu, "memory": group.memory, "pods": "110"},
                    "labels": group.labels,
                    "taints": list(group.taints),
                },
            },
        }
        for name, group in shape.groups.items()
    ]
    made = {name: workload(name, work) for name, work in shape.work.items()}
    later = [
        patch(3, made[name], {"spec": {"replicas": work.later}})
        for name, work in shape.work.items()
        if work.later is not None
    ]
    first = [create(0, each) for each in (*groups, node("base", "100m"))]
    parts = [*first, *(create(1, each) for each in made.values()), *later, done(6 if later else 2)]
    spec = operations(*parts, simulated=("scheduler", "cluster-autoscaler"))
    document = scenario(spec, step_duration="1h", cluster_autoscaler=f"--expander={shape.expander}")
    path = folder / "scenario.json"
    path.write_text(json.dumps(document))
    run = seatrial.run(path).run
    ends = (2, 6) if later else (2,)
    return [
        dict(sorted(Counter(
            each.labels[NODE_GROUP] for each in run.nodes if NODE_GROUP in each.labels and each.is_there(end)
        ).items()))
        for end in ends
    ]  # fmt: skip


@pytest.mark.outside
@pytest.mark.long
@pytest.mark.parametrize("name", SHAPES)
def test_both_autoscalers_give_groups_the_same_sizes(name: str, tmp_path: Path) -> None:
    assert by_built_in_one(SHAPES[name], tmp_path) == by_real_one(SHAPES[name], tmp_path)
