"""The controllers of queues and of PodGroups for pods that no Volcano Job made.

Tests: volcano/controllers/queue.py, volcano/controllers/podgroup.py
"""

import pytest

from seatrial.volcano.apis import QUEUE, SCHEDULING
from seatrial.volcano.apis.labels import GROUP_MIN_MEMBER, GROUP_NAME, PREEMPTABLE, QUEUE_NAME
from tests.known_kinds import known_kind
from tests.volcano.cluster import Cluster
from tests.volcano.objects import command, found, job, queue, template


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


def state(cluster: Cluster, name: str) -> str:
    text: str = found(cluster.store, QUEUE, name)["status"]["state"]
    return text


def deployment(replicas: int, **annotations: str) -> dict[str, object]:
    labels = {"app": "web"}
    pods = template(schedulerName="volcano")
    pods["spec"]["restartPolicy"] = "Always"
    pods["metadata"] = {"labels": labels, "annotations": {QUEUE_NAME: "default"}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default", "annotations": annotations},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": pods},
    }


def test_a_new_queue_is_open_and_under_root(cluster: Cluster) -> None:
    cluster.create(queue("team"))
    assert found(cluster.store, QUEUE, "team")["spec"]["parent"] == "root"
    assert (state(cluster, "team"), state(cluster, "root")) == ("Open", "Open")


def test_a_queue_with_groups_closes_when_the_last_is_gone(cluster: Cluster) -> None:
    cluster.create(queue("team"), job("train", queue="team"))
    cluster.create(command("CloseQueue", "Queue", "team", SCHEDULING))
    assert state(cluster, "team") == "Closing"
    cluster.create(command("AbortJob", "Job", "train"))
    assert state(cluster, "team") == "Closed"


def test_closing_a_parent_closes_its_children_and_opening_opens_them(cluster: Cluster) -> None:
    cluster.create(queue("team"), queue("lab", parent="team"))
    cluster.create(command("CloseQueue", "Queue", "team", SCHEDULING))
    assert (state(cluster, "team"), state(cluster, "lab")) == ("Closed", "Closed")
    cluster.create(command("OpenQueue", "Queue", "lab", SCHEDULING))
    assert state(cluster, "lab") == "Closed"
    cluster.create(command("OpenQueue", "Queue", "team", SCHEDULING))
    assert (state(cluster, "team"), state(cluster, "lab")) == ("Open", "Open")


def test_a_bare_pod_gets_a_group_of_its_own(cluster: Cluster) -> None:
    metadata = {"name": "p", "namespace": "default", "annotations": {PREEMPTABLE: "true"}}
    cluster.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata} | template(schedulerName="volcano"))
    (group,), (pod,) = cluster.groups(), cluster.pods()
    assert group["metadata"]["name"] == f"podgroup-{pod['metadata']['uid']}"
    assert pod["metadata"]["annotations"][GROUP_NAME] == group["metadata"]["name"]
    assert group["metadata"]["annotations"] == {PREEMPTABLE: "true"}
    assert (group["spec"]["minMember"], group["spec"]["queue"], group["status"]) == (1, "default", {"phase": "Pending"})
    assert group["spec"]["minResources"]["cpu"] == "1"


def test_pods_of_other_schedulers_get_none(cluster: Cluster) -> None:
    metadata = {"name": "p", "namespace": "default"}
    cluster.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata} | template())
    assert cluster.groups() == []


def test_the_pods_of_a_replica_set_share_a_group(cluster: Cluster) -> None:
    cluster.create(deployment(3, **{GROUP_MIN_MEMBER: "2"}))
    (group,) = cluster.groups()
    assert {pod["metadata"]["annotations"][GROUP_NAME] for pod in cluster.pods()} == {group["metadata"]["name"]}
    assert len(cluster.pods()) == 3
    assert group["metadata"]["ownerReferences"][0]["kind"] == "ReplicaSet"
    assert group["spec"]["minMember"] == 2


def test_a_workload_scaled_to_zero_loses_its_group(cluster: Cluster) -> None:
    cluster.create(deployment(1))
    kind = known_kind(cluster.store.kinds, "apps/v1", "Deployment")
    cluster.store.modify(
        kind, "web", lambda document: document["spec"].update(replicas=0), writer="test", namespace="default"
    )
    cluster.work()
    assert cluster.groups() == []
