"""The descheduler moves pods off a node that was tainted after they came, on `serve` and in a scenario."""

import json
from pathlib import Path

import pytest

from tests.outside.conftest import built as kubernetes
from tests.outside.objects import deployment, node
from tests.outside.processes import Kubectl, Serve, wait_until
from tests.outside.test_outside_controllers import configured, play, written
from tests.outside.zoo.modules import files_of
from tests.outside.zoo.programs import Running, as_service_account, built, told
from tests.scenario.playing import create, done, operations, patch

pytestmark = [pytest.mark.outside, pytest.mark.long]
"""Building it takes minutes."""
POLICY = {
    "apiVersion": "descheduler/v1alpha2",
    "kind": "DeschedulerPolicy",
    "profiles": [
        {
            "name": "taints",
            "pluginConfig": [{"name": "DefaultEvictor"}, {"name": "RemovePodsViolatingNodeTaints"}],
            "plugins": {"deschedule": {"enabled": ["RemovePodsViolatingNodeTaints"]}},
        }
    ],
}
TAINT = {"spec": {"taints": [{"key": "old", "effect": "NoSchedule"}]}}
RUNS = 10


def flags(folder: Path) -> tuple[str, ...]:
    policy = folder / "policy.json"
    policy.write_text(json.dumps(POLICY))
    return "--policy-config-file", str(policy), "--descheduling-interval", "1s", "--secure-port", "0", "--v", "1"


def steps_of(folder: Path) -> list[str]:
    """What happens in a scenario with the descheduler: step, entry, and the node of a pod that was bound."""
    folder.mkdir()
    old, web = node("old"), deployment("web", 3)
    steps = (create(1, old), create(1, web), create(2, node("new")), patch(2, old, TAINT), done(3))
    outside = {
        "name": "descheduler",
        "command": [str(built("descheduler")), "--kubeconfig", "{kubeconfig}", *flags(folder)],
        "rhythm": "interval 2s",
    }
    path = written(folder, operations(*steps, simulated=("scheduler", "descheduler")))
    return told(play(path, folder / "out", "--outside", configured(folder, outside)))


def test_pods_leave_a_tainted_node_on_serve(tmp_path: Path) -> None:
    with Serve(tmp_path / "state") as serve:
        kubectl = Kubectl(kubernetes("kubectl") / "kubectl", serve.kubeconfig, tmp_path)
        kubectl("create", "-k", str(files_of("descheduler") / "kubernetes/base"))
        kubectl(
            "apply", "--server-side", "-k", str(files_of("descheduler") / "kubernetes/deployment"), "--force-conflicts"
        )
        kubectl.create(node("old"), deployment("web", 3))
        where = ("get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].spec.nodeName}")
        wait_until(lambda: kubectl(*where) == "old old old", 60, "three pods on the node old")
        account = as_service_account(kubectl, "kube-system", "descheduler-sa", tmp_path / "account")
        with Running(
            "descheduler", "--kubeconfig", str(account), *flags(tmp_path), kubeconfig=account, log=tmp_path / "log"
        ) as descheduler:
            kubectl.create(node("new"))
            kubectl("taint", "node", "old", "old:NoSchedule")
            descheduler.until(kubectl, "new new new", *where)


def test_pods_leave_a_tainted_node_in_a_scenario_ten_times_alike(tmp_path: Path) -> None:
    seen = [steps_of(tmp_path / str(run)) for run in range(RUNS)]
    assert seen[0][-7:] == [
        *(f"2.{minor} {what}" for minor in (4, 5, 6) for what in ("patch", "podScheduled new")),
        "3.0 done",
    ]
    assert sum("delete" in each for each in seen[0]) == 3
    assert seen == [seen[0]] * RUNS
