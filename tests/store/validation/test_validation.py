"""What the recorded refusals do not say: how rules meet a store."""

import pytest

from seatrial.clock.virtual import Clock
from seatrial.model.builtin import builtin_kinds
from seatrial.model.errors import Invalid
from seatrial.store.store import Store
from seatrial.store.validation.pods import pod_specs
from tests.known_kinds import known_kind


@pytest.fixture
def store() -> Store:
    return Store(builtin_kinds(), Clock())


def pod(name: str, **spec: object) -> dict[str, object]:
    containers = [{"name": "main", "image": "nginx"}]
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": containers, **spec}}


def create(store: Store, document: dict[str, object]) -> None:
    kind = known_kind(store.kinds, str(document["apiVersion"]), str(document["kind"]))
    store.create(kind, document, writer="test", namespace="default" if kind.namespaced else "")


def test_a_spec_is_looked_at_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    create(store, pod("a", hostname="once"))
    monkeypatch.delattr(pod_specs, "_spec")
    create(store, pod("b", hostname="once"))
    with pytest.raises(NameError):
        create(store, pod("c", hostname="twice"))


def test_a_pod_that_lived_before_may_have_ephemeral_containers(store: Store) -> None:
    document = pod("a", ephemeralContainers=[{"name": "debug", "image": "busybox"}])
    with pytest.raises(Invalid, match="cannot be set on create"):
        create(store, document)
    (stored,) = store.load([document], writer="test")
    assert stored.name == "a"


def test_what_was_wrong_before_does_not_stop_a_change_of_something_else(store: Store) -> None:
    kind = known_kind(store.kinds, "v1", "Pod")
    create(store, pod("a"))
    broken = store.get(kind, "a", "default").document()
    broken["spec"]["hostname"] = "Not_A_Label"
    store.put(kind, broken, store.get(kind, "a", "default"), writer="test")
    changed = store.modify(
        kind, "a", lambda d: d["spec"]["containers"][0].update(image="other"), namespace="default", writer="test"
    )
    assert changed.document()["spec"]["containers"][0]["image"] == "other"


def test_a_kind_without_rules_is_held_to_the_data_file(store: Store) -> None:
    document: dict[str, object] = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "n", "namespace": "default"},
        "spec": {"podSelector": {}, "policyTypes": ["Sideways"]},
    }
    with pytest.raises(Invalid) as raised:
        create(store, document)
    assert [cause.field for cause in raised.value.causes] == ["spec.policyTypes[0]"]


def test_a_job_that_is_not_complete_has_no_completion_time(store: Store) -> None:
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "nginx"}]}}
    metadata = {"name": "work", "namespace": "default"}
    create(store, {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {"template": template}})
    kind = known_kind(store.kinds, "batch/v1", "Job")
    document = store.get(kind, "work", "default").document()
    document["status"] = {"startTime": "2030-01-01T00:00:00Z", "completionTime": "2030-01-01T00:01:00Z"}
    with pytest.raises(Invalid, match="cannot set completionTime when there is no Complete=True condition"):
        store.update(kind, document, writer="test", namespace="default", subresource="status")
