import asyncio

from tests.server.client import Server
from tests.server.samples import sample

EVENTS = "/api/v1/namespaces/default/events"
NEW_EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"
SCALERS = "/apis/autoscaling/{version}/namespaces/default/horizontalpodautoscalers"
MERGE = "application/merge-patch+json"


def test_an_event_is_one_object_in_both_groups(server: Server) -> None:
    created = server("POST", NEW_EVENTS, sample("events.k8s.io/v1", "Event")).json()
    old = server("GET", f"{EVENTS}/sample").json()
    assert old["involvedObject"] == created["regarding"]
    assert (old["message"], old["reportingComponent"]) == ("text", "example.com/test")
    assert old["metadata"]["uid"] == created["metadata"]["uid"]


def test_a_series_is_patched_through_the_new_group(server: Server) -> None:
    server("POST", NEW_EVENTS, sample("events.k8s.io/v1", "Event"))
    series = {"series": {"count": 2, "lastObservedTime": "2030-01-01T00:00:01.000000Z"}, "note": "again"}
    kind = "application/strategic-merge-patch+json"
    assert server("PATCH", f"{NEW_EVENTS}/sample", series, content_type=kind).json()["series"]["count"] == 2
    assert server("GET", f"{EVENTS}/sample").json()["message"] == "again"


def test_events_are_watched_in_the_group_that_is_asked() -> None:
    async def story() -> None:
        server = Server()
        async with server.watch(f"{NEW_EVENTS}?watch=true") as watch:
            await server.send("POST", EVENTS, sample("v1", "Event"))
            event = (await watch.next())["object"]
        assert (event["apiVersion"], event["note"]) == ("events.k8s.io/v1", "text")

    asyncio.run(story())


def test_an_autoscaler_keeps_what_only_one_version_can_say(server: Server) -> None:
    document = sample("autoscaling/v2", "HorizontalPodAutoscaler")
    memory = {"name": "memory", "target": {"type": "AverageValue", "averageValue": "1Gi"}}
    document["spec"]["metrics"].append({"type": "Resource", "resource": memory})
    server("POST", SCALERS.format(version="v2"), document)
    old = server("GET", SCALERS.format(version="v1") + "/sample").json()
    assert old["spec"]["targetCPUUtilizationPercentage"] == 80
    assert "memory" in old["metadata"]["annotations"]["autoscaling.alpha.kubernetes.io/metrics"]
    patch = {"spec": {"targetCPUUtilizationPercentage": 50}}
    changed = server("PATCH", SCALERS.format(version="v1") + "/sample", patch, content_type=MERGE)
    assert changed.json()["spec"]["targetCPUUtilizationPercentage"] == 50
    metrics = server("GET", SCALERS.format(version="v2") + "/sample").json()["spec"]["metrics"]
    assert [m["resource"]["name"] for m in metrics] == ["cpu", "memory"]
    assert metrics[0]["resource"]["target"]["averageUtilization"] == 50
    wrong = server(
        "PATCH", SCALERS.format(version="v1") + "/sample", {"spec": {"maxReplicas": "many"}}, content_type=MERGE
    )
    assert wrong.status in (400, 422)
