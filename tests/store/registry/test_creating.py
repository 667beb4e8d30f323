"""Creating objects: what the store sets itself, and what it refuses.

Tests: store/registry/prepare*.py, store/object_meta.py
"""

import pytest

from seatrial.clock.virtual import Clock
from seatrial.model.builtin import builtin_kinds
from seatrial.model.errors import AlreadyExists, BadRequest, Invalid
from seatrial.model.kinds import Kind
from seatrial.store.options import CreateOptions
from seatrial.store.store import Store
from seatrial.store.uids import SeededIdentities
from tests.store.conftest import FindKind
from tests.store.stock import config_map, deployment, node, pod


def test_a_new_object_gets_uid_time_revision_and_generation(store: Store, pods: Kind) -> None:
    metadata = store.create(pods, pod("a"), writer="test").document()["metadata"]
    assert metadata["creationTimestamp"] == "2030-01-01T00:00:00Z"
    assert metadata["resourceVersion"] == "1"
    assert metadata["generation"] == 1
    assert len(metadata["uid"]) == 36


def test_a_taken_name_is_refused_with_upstreams_text(store: Store, maps: Kind) -> None:
    store.create(maps, config_map("a"), writer="test")
    with pytest.raises(AlreadyExists, match='configmaps "a" already exists'):
        store.create(maps, config_map("a"), writer="test")


def test_revisions_count_all_kinds_together(store: Store, pods: Kind, maps: Kind) -> None:
    store.create(pods, pod("a"), writer="test")
    assert store.create(maps, config_map("a"), writer="test").revision == store.revision == 2


def test_a_generated_name_has_the_prefix_and_five_letters(store: Store, maps: Kind) -> None:
    document = {"metadata": {"generateName": "web-", "namespace": "default"}}
    first, second = (store.create(maps, document, writer="test").name for _ in range(2))
    assert first.startswith("web-") and len(first) == len("web-") + 5
    assert first != second


def test_a_long_prefix_is_cut_so_that_the_name_stays_a_label(store: Store, maps: Kind) -> None:
    document = {"metadata": {"generateName": "x" * 80, "namespace": "default"}}
    assert len(store.create(maps, document, writer="test").name) == 63


def test_uids_follow_from_the_seed_and_not_from_the_order(maps: Kind) -> None:
    def uids(names: str, seed: int) -> dict[str, str]:
        store = Store(builtin_kinds(), Clock(), identities=SeededIdentities(seed))
        made = [store.create(maps, config_map(name), writer="test") for name in names]
        return {stored.name: stored.document()["metadata"]["uid"] for stored in made}

    assert uids("abc", 1) == uids("cba", 1)
    assert uids("abc", 1) != uids("abc", 2)


def test_an_object_created_again_has_another_uid(store: Store, maps: Kind) -> None:
    first = store.create(maps, config_map("a"), writer="test").document()["metadata"]["uid"]
    store.delete(maps, "a", namespace="default", writer="test")
    assert store.create(maps, config_map("a"), writer="test").document()["metadata"]["uid"] != first


def test_a_pod_starts_pending_whatever_status_it_brings(store: Store, pods: Kind) -> None:
    document = {**pod("a"), "status": {"phase": "Running"}}
    assert store.create(pods, document, writer="test").document()["status"] == {
        "phase": "Pending",
        "qosClass": "BestEffort",
    }


def test_a_gated_pod_says_so(store: Store, pods: Kind) -> None:
    status = store.create(pods, pod("a", schedulingGates=[{"name": "g"}]), writer="test").document()["status"]
    assert status["conditions"][0]["reason"] == "SchedulingGated"


def test_a_node_keeps_the_status_it_brings(store: Store, kind: FindKind) -> None:
    stored = store.create(kind("v1", "Node"), node("n", allocatable={"cpu": "4"}), writer="test")
    assert stored.document()["status"]["allocatable"] == {"cpu": "4"}


def test_a_fresh_status_has_the_numbers_go_always_writes(store: Store, kind: FindKind) -> None:
    sets = kind("apps/v1", "ReplicaSet")
    document = {**deployment("a"), "kind": "ReplicaSet"}
    assert store.create(sets, document, writer="test").document()["status"] == {"replicas": 0}


def test_a_job_selects_its_pods_by_its_uid(store: Store, kind: FindKind) -> None:
    jobs = kind("batch/v1", "Job")
    template = {"spec": pod("x", restartPolicy="Never")["spec"]}
    document = {"metadata": {"name": "j", "namespace": "default"}, "spec": {"template": template}}
    spec = store.create(jobs, document, writer="test").document()
    uid = spec["metadata"]["uid"]
    assert spec["spec"]["selector"]["matchLabels"] == {"batch.kubernetes.io/controller-uid": uid}
    assert spec["spec"]["template"]["metadata"]["labels"]["batch.kubernetes.io/job-name"] == "j"


def test_a_namespace_is_labelled_with_its_name_and_kept_by_kubernetes(store: Store, kind: FindKind) -> None:
    document = store.create(kind("v1", "Namespace"), {"metadata": {"name": "team"}}, writer="test").document()
    assert document["metadata"]["labels"] == {"kubernetes.io/metadata.name": "team"}
    assert document["spec"] == {"finalizers": ["kubernetes"]}
    assert document["status"] == {"phase": "Active"}


def test_the_callers_document_is_left_alone(store: Store, pods: Kind) -> None:
    document = pod("a")
    store.create(pods, document, writer="test")
    assert document == pod("a")


def test_a_dry_run_answers_and_writes_nothing(store: Store, pods: Kind) -> None:
    stored = store.create(pods, pod("a"), writer="test", options=CreateOptions(dry_run=True))
    assert stored.document()["metadata"]["uid"]
    assert store.find(pods, "a", "default") is None
    assert store.revision == 0


def test_a_resource_version_cannot_be_brought_along(store: Store, maps: Kind) -> None:
    document = config_map("a")
    document["metadata"]["resourceVersion"] = "5"
    with pytest.raises(BadRequest, match="resourceVersion should not be set on objects to be created"):
        store.create(maps, document, writer="test")


def test_the_namespace_of_request_and_document_must_agree(store: Store, maps: Kind) -> None:
    with pytest.raises(BadRequest, match="does not match the namespace sent on the request"):
        store.create(maps, config_map("a", "default"), namespace="other", writer="test")


@pytest.mark.parametrize(
    ("requests", "limits", "expected"),
    [
        ({}, {}, "BestEffort"),
        ({"cpu": "1"}, {}, "Burstable"),
        ({"cpu": "1", "memory": "1Gi"}, {"cpu": "1000m", "memory": "1024Mi"}, "Guaranteed"),
        ({"cpu": "1", "memory": "1Gi"}, {"cpu": "2", "memory": "1Gi"}, "Burstable"),
        ({"cpu": "0"}, {"memory": "0"}, "BestEffort"),
        ({"example.com/gpu": "1"}, {"example.com/gpu": "1"}, "BestEffort"),
    ],
)
def test_the_class_of_service_follows_from_requests_and_limits(
    store: Store, pods: Kind, requests: dict[str, str], limits: dict[str, str], expected: str
) -> None:
    container = {"name": "main", "image": "x", "resources": {"requests": requests, "limits": limits}}
    document = store.create(pods, pod("a", containers=[container]), writer="test").document()
    assert document["status"]["qosClass"] == expected


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Upper", "a lowercase RFC 1123 subdomain must consist of"),
        ("x" * 254, "must be no more than 253 characters"),
        ("a/b", "a lowercase RFC 1123 subdomain must consist of"),
    ],
)
def test_a_name_that_is_no_subdomain_is_refused(store: Store, maps: Kind, name: str, text: str) -> None:
    with pytest.raises(Invalid, match=text):
        store.create(maps, config_map(name), writer="test")


def test_an_object_without_a_name_is_refused(store: Store, maps: Kind) -> None:
    with pytest.raises(Invalid) as raised:
        store.create(maps, {"metadata": {"namespace": "default"}}, writer="test")
    assert raised.value.message == (
        'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required'
    )


def test_everything_wrong_with_metadata_is_listed(store: Store, maps: Kind) -> None:
    document = config_map("a")
    document["metadata"] |= {"labels": {"a b": "c d"}, "finalizers": ["no slash"], "annotations": {"x": "y" * 300_000}}
    with pytest.raises(Invalid) as raised:
        store.create(maps, document, writer="test")
    assert [cause.field for cause in raised.value.causes] == [
        "metadata.labels",
        "metadata.labels",
        "metadata.annotations",
        "metadata.finalizers",
        "metadata.finalizers[0]",
    ]
