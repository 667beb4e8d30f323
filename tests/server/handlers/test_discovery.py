import pytest

from tests.server.client import Server

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"


def test_plain_discovery_names_every_group(server: Server) -> None:
    assert server("GET", "/api").json()["versions"] == ["v1"]
    groups = {group["name"]: group for group in server("GET", "/apis").json()["groups"]}
    assert {"apps", "batch", "events.k8s.io", "resource.k8s.io", "apiextensions.k8s.io"} <= set(groups)
    assert groups["autoscaling"]["preferredVersion"]["version"] == "v2"
    assert server("GET", "/apis/apps").json()["versions"] == [{"groupVersion": "apps/v1", "version": "v1"}]


def test_resources_of_a_version(server: Server) -> None:
    resources = {r["name"]: r for r in server("GET", "/apis/apps/v1").json()["resources"]}
    assert resources["deployments"]["shortNames"] == ["deploy"]
    assert resources["deployments/scale"]["group"] == "autoscaling"
    pods = {r["name"]: r for r in server("GET", "/api/v1").json()["resources"]}
    assert pods["pods/binding"]["verbs"] == ["create"]


def test_aggregated_discovery_has_an_etag(server: Server) -> None:
    answer = server("GET", "/apis", accept=AGGREGATED)
    assert answer.json()["kind"] == "APIGroupDiscoveryList"
    assert "as=APIGroupDiscoveryList" in answer.header("content-type")
    again = server("GET", "/apis", accept=AGGREGATED, if_none_match=answer.header("etag"))
    assert (again.status, again.body) == (304, b"")


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz", "/readyz/ping"])
def test_health(server: Server, path: str) -> None:
    assert server("GET", path).body == b"ok"


def test_version_is_semantic_and_names_seatrial(server: Server) -> None:
    version = server("GET", "/version").json()
    assert version["gitVersion"].startswith("v1.36.3+seatrial-")
    assert (version["major"], version["minor"]) == ("1", "36")


def test_metrics_count_requests(server: Server) -> None:
    server("GET", "/version")
    assert b'apiserver_request_total{verb="GET",code="200"} 1' in server("GET", "/metrics").body


def test_unknown_groups_are_404(server: Server) -> None:
    for path in ("/apis/no.group", "/apis/no.group/v1", "/api/v2", "/nonsense", "/apis/apps/v9"):
        assert server("GET", path).status == 404
