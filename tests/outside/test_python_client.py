"""The official Python client, typed and dynamic."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from seatrial.scenario.spec.kind import API_VERSION
from tests.examples.playing import assert_equal, examples
from tests.outside.objects import deployment, node, pod
from tests.outside.processes import Serve
from tests.proofs import proves

kubernetes = pytest.importorskip("kubernetes", reason="the official Python client is not installed")


@pytest.fixture
def client(serve: Serve) -> Iterator[Any]:
    with kubernetes.config.new_client_from_config(str(serve.kubeconfig)) as client:
        yield client


def test_typed_client(client: Any) -> None:
    core = kubernetes.client.CoreV1Api(client)
    core.create_node(node("n"))
    core.create_namespaced_pod("default", pod("a"))
    target = kubernetes.client.V1ObjectReference(kind="Node", name="n")
    metadata = kubernetes.client.V1ObjectMeta(name="a")
    binding = kubernetes.client.V1Binding(metadata=metadata, target=target)
    core.create_namespaced_pod_binding("a", "default", binding, _preload_content=False)
    assert core.read_namespaced_pod("a", "default").spec.node_name == "n"
    core.patch_namespaced_pod("a", "default", {"metadata": {"labels": {"x": "y"}}})
    pods = core.list_namespaced_pod("default", label_selector="x=y")
    assert [item.metadata.name for item in pods.items] == ["a"]
    core.delete_namespaced_pod("a", "default", grace_period_seconds=0)
    assert core.list_namespaced_pod("default").items == []
    apps = kubernetes.client.AppsV1Api(client)
    apps.create_namespaced_deployment("default", deployment("d", replicas=1))
    apps.patch_namespaced_deployment_scale("d", "default", {"spec": {"replicas": 7}})
    assert apps.read_namespaced_deployment_scale("d", "default").spec.replicas == 7
    with pytest.raises(kubernetes.client.ApiException) as refused:
        core.read_namespaced_pod("nobody", "default")
    assert refused.value.status == 404


def test_typed_watch(client: Any) -> None:
    core = kubernetes.client.CoreV1Api(client)
    revision = core.list_namespaced_config_map("default").metadata.resource_version
    for name in ("a", "b"):
        core.create_namespaced_config_map("default", {"metadata": {"name": name}})
    stream = kubernetes.watch.Watch().stream(
        core.list_namespaced_config_map, "default", resource_version=revision, timeout_seconds=2
    )
    assert [(event["type"], event["object"].metadata.name) for event in stream] == [("ADDED", "a"), ("ADDED", "b")]


def test_dynamic_client(client: Any) -> None:
    dynamic = kubernetes.dynamic.DynamicClient(client)
    maps = dynamic.resources.get(api_version="v1", kind="ConfigMap")
    maps.create({"metadata": {"name": "a"}, "data": {"x": "1"}}, namespace="default")
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"x": "2"}}
    maps.server_side_apply(body, "a", namespace="default", field_manager="tester", force_conflicts=True)
    assert maps.get(name="a", namespace="default").data.x == "2"
    assert [item.metadata.name for item in maps.get(namespace="default").items] == ["a"]
    maps.delete(name="a", namespace="default")


@proves("V1-001")
def test_scenarios(tmp_path: Path) -> None:
    """Created, watched and read back by the client, one gives what a run gives."""
    example = next(example for example in examples() if example.name == "first-steps")
    group, version = API_VERSION.split("/")
    with (
        Serve(tmp_path / "state") as server,
        kubernetes.config.new_client_from_config(str(server.kubeconfig)) as client,
    ):
        custom = kubernetes.client.CustomObjectsApi(client)
        custom.create_cluster_custom_object(group, version, "scenarios", yaml.safe_load(example.text()))
        stream = kubernetes.watch.Watch().stream(
            custom.list_cluster_custom_object, group, version, "scenarios", timeout_seconds=30
        )
        served = next(e["object"] for e in stream if e["object"].get("status", {}).get("phase") == "Succeeded")
    assert_equal(served, example.run(tmp_path / "out"))
