"""A server of another minor version: what it reports, serves and drops."""

import asyncio

import orjson
import pytest

from seatrial.control_plane.components import Settings, build_store, compose
from seatrial.model.defaults import GatedFields
from seatrial.model.errors import ConfigError
from seatrial.model.facts import facts, type_facts
from seatrial.model.kinds import Kinds
from seatrial.scheduler.versions import VERSIONS
from seatrial.server import KubernetesApi, Metrics
from seatrial.server.auth import Identities
from seatrial.server.messages import Answer, Request
from seatrial.store.users import User

POLICIES = ("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy")


def settings(minor: str, **others: object) -> Settings:
    return Settings(kubernetes_version=minor, controllers=(), **others)  # type: ignore[arg-type]


def kinds_of(minor: str) -> Kinds:
    return build_store(settings(minor)).store.kinds


async def version_of(api: KubernetesApi) -> dict[str, str]:
    endpoint = api.find("GET", "/version")
    assert endpoint is not None
    answer = await endpoint(Request("GET", "/version", {}, {}, b"", User("admin")))
    assert isinstance(answer, Answer)
    found: dict[str, str] = orjson.loads(answer.body)
    return found


@pytest.mark.parametrize("minor", VERSIONS)
def test_a_server_reports_the_release_of_its_version(minor: str) -> None:
    chosen = settings(minor, scheduler=False)
    parts = compose(chosen)
    api = KubernetesApi(parts.store, Identities(b"key"), Metrics())
    answer = asyncio.run(version_of(api))
    assert f"{answer['major']}.{answer['minor']}" == minor
    assert answer["gitVersion"].startswith(f"{VERSIONS[minor].release}+seatrial-")


def test_kinds_that_a_version_does_not_have_yet_are_not_served() -> None:
    assert kinds_of("1.35").named(*POLICIES) is None
    assert kinds_of("1.36").named(*POLICIES) is not None


@pytest.mark.parametrize("name", VERSIONS["1.37"].added_kinds, ids=lambda name: name[1])
def test_kinds_that_are_new_in_a_version_are_served(name: tuple[str, str]) -> None:
    assert kinds_of("1.36").named(*name) is None
    kind = kinds_of("1.37").served(*name)
    assert {field.name for field in type_facts(facts().kinds[f"{kind.api_version}/{kind.kind}"]).fields or ()} >= {
        "spec"
    }


@pytest.mark.parametrize("scheduler", [True, False])
def test_fields_whose_gates_are_off_in_a_version_are_dropped(scheduler: bool) -> None:
    store = compose(settings("1.35", scheduler=scheduler)).store
    kind = store.kinds.served("resource.k8s.io/v1", "DeviceClass")
    document = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "gpu"},
        "spec": {"extendedResourceName": "example.com/gpu"},
    }
    assert "extendedResourceName" not in store.create(kind, document, writer="user:test").document()["spec"]


@pytest.mark.parametrize(("minor", "kept"), [("1.36", False), ("1.37", True)])
def test_a_field_whose_gate_is_off_is_not_added_by_an_update(minor: str, kept: bool) -> None:
    store = compose(settings(minor)).store
    kind = store.kinds.served("storage.k8s.io/v1", "CSIDriver")
    document = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": "d"}, "spec": {}}
    store.create(kind, document, writer="user:test")
    wanted = store.get(kind, "d").document()
    wanted["spec"]["preventPodSchedulingIfMissing"] = True
    store.update(kind, wanted, writer="user:test")
    assert ("preventPodSchedulingIfMissing" in store.get(kind, "d").document()["spec"]) == kept
    store.gated_fields = GatedFields({"VolumeLimitScaling": False})
    labelled = store.get(kind, "d").document()
    labelled["metadata"]["labels"] = {"a": "b"}
    store.update(kind, labelled, writer="user:test")
    assert ("preventPodSchedulingIfMissing" in store.get(kind, "d").document()["spec"]) == kept


def test_a_gate_that_a_version_no_longer_has_is_refused_in_upstreams_words() -> None:
    with pytest.raises(ConfigError, match="unrecognized feature gate: GangScheduling"):
        compose(settings("1.37", feature_gates="GangScheduling=true"))
