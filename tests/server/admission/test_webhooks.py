from pathlib import Path
from typing import Any

import pytest

from seatrial.server.admission.webhooks import WebhookAdmission
from tests.server.admission.webhook_server import WebhookServer, configuration, patch, webhook
from tests.server.client import Reply, Server

MAPS = "/api/v1/namespaces/default/configmaps"
ROOT = "/apis/admissionregistration.k8s.io/v1"


@pytest.fixture
def server() -> Server:
    server = Server()
    server.store.admission = WebhookAdmission(server.store.admission, server.store)
    return server


def configure(server: Server, kind: str, *webhooks: dict[str, Any]) -> None:
    path = f"{ROOT}/{kind.lower()}webhookconfigurations"
    assert server("POST", path, configuration(kind, *webhooks)).status == 201


def create(server: Server, name: str = "a", query: str = "", **metadata: Any) -> Reply:
    document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **metadata}, "data": {"x": "1"}}
    return server("POST", MAPS + query, document)


def label(value: str) -> dict[str, Any]:
    return patch({"op": "add", "path": "/metadata/labels", "value": {"by": value}})


def test_a_mutating_webhook_changes_the_object(server: Server, tmp_path: Path) -> None:
    with WebhookServer(tmp_path, lambda _: label("hook")) as hook:
        configure(server, "Mutating", webhook("m.example.com", hook.client()))
        created = create(server)
    assert (created.status, created.json()["metadata"]["labels"]) == (201, {"by": "hook"})
    assert len(hook.requests) == 1
    request = hook.requests[0]
    assert (request["operation"], request["name"], request["namespace"]) == ("CREATE", "a", "default")
    assert request["userInfo"]["username"] == "kubernetes-admin"
    assert request["resource"] == {"group": "", "version": "v1", "resource": "configmaps"}
    assert request["object"]["data"] == {"x": "1"}


def test_a_validating_webhook_refuses_with_its_own_status(server: Server, tmp_path: Path) -> None:
    status = {"code": 418, "reason": "Teapot", "message": "no coffee"}
    with WebhookServer(tmp_path, lambda _: {"allowed": False, "status": status}) as hook:
        configure(server, "Validating", webhook("v.example.com", hook.client()))
        refused = create(server)
    assert refused.status == 418
    assert refused.json()["message"] == 'admission webhook "v.example.com" denied the request: no coffee'
    assert refused.json()["reason"] == "Teapot"


def test_a_refusal_without_a_status_is_a_bad_request(server: Server, tmp_path: Path) -> None:
    with WebhookServer(tmp_path, lambda _: {"allowed": False}) as hook:
        configure(server, "Validating", webhook("v.example.com", hook.client()))
        refused = create(server)
    assert refused.status == 400
    assert refused.json()["message"] == 'admission webhook "v.example.com" denied the request without explanation'


def test_an_answer_to_another_request_is_refused(server: Server, tmp_path: Path) -> None:
    with WebhookServer(tmp_path, lambda _: {"allowed": True, "uid": "another"}) as hook:
        configure(server, "Validating", webhook("v.example.com", hook.client()))
        refused = create(server)
    assert refused.status == 500
    assert f'expected response.uid="{hook.requests[0]["uid"]}", got "another"' in refused.json()["message"]


def test_each_request_has_a_uid_of_its_own(server: Server, tmp_path: Path) -> None:
    with WebhookServer(tmp_path, lambda _: {"allowed": True}) as hook:
        configure(server, "Validating", webhook("v.example.com", hook.client()))
        create(server, "a")
        create(server, "b")
    uids = [request["uid"] for request in hook.requests]
    assert [len(part) for part in uids[0].split("-")] == [8, 4, 4, 4, 12]
    assert len(set(uids)) == 2


def test_a_webhook_that_cannot_be_called_fails_the_request_unless_that_is_ignored(server: Server) -> None:
    gone = {"url": "https://127.0.0.1:1/hook"}
    configure(server, "Validating", webhook("v.example.com", gone, timeoutSeconds=1))
    refused = create(server)
    assert (refused.status, refused.json()["reason"]) == (500, "InternalError")
    assert 'failed calling webhook "v.example.com": failed to call webhook: Post' in refused.json()["message"]
    server("DELETE", f"{ROOT}/validatingwebhookconfigurations/test")
    configure(server, "Validating", webhook("v.example.com", gone, timeoutSeconds=1, failurePolicy="Ignore"))
    assert create(server).status == 201


def test_a_service_without_endpoints_cannot_be_called(server: Server) -> None:
    configure(server, "Validating", webhook("v.example.com", {"service": {"namespace": "default", "name": "hook"}}))
    assert 'service "hook" not found' in create(server).json()["message"]


def test_selectors_and_conditions_choose_the_requests(server: Server, tmp_path: Path) -> None:
    with WebhookServer(tmp_path, lambda _: {"allowed": True}) as hook:
        configure(
            server,
            "Validating",
            webhook("one.example.com", hook.client(), objectSelector={"matchLabels": {"look": "yes"}}),
            webhook(
                "two.example.com",
                hook.client(),
                matchConditions=[{"name": "named", "expression": "object.metadata.name == 'named'"}],
            ),
            webhook("three.example.com", hook.client(), namespaceSelector={"matchLabels": {"none": "such"}}),
        )
        create(server, "plain")
        assert not hook.requests
        create(server, "labelled", labels={"look": "yes"})
        create(server, "named")
    assert [request["name"] for request in hook.requests] == ["labelled", "named"]


def test_a_later_change_calls_an_earlier_webhook_again(server: Server, tmp_path: Path) -> None:
    with (
        WebhookServer(tmp_path / "one", lambda _: {"allowed": True}) as first,
        WebhookServer(tmp_path / "two", lambda _: label("second")) as second,
    ):
        configure(
            server,
            "Mutating",
            webhook("one.example.com", first.client(), reinvocationPolicy="IfNeeded"),
            webhook("two.example.com", second.client()),
        )
        create(server)
    assert [request["object"]["metadata"].get("labels") for request in first.requests] == [None, {"by": "second"}]
    assert len(second.requests) == 1


def test_a_dry_run_needs_a_webhook_without_side_effects(server: Server, tmp_path: Path) -> None:
    with WebhookServer(tmp_path, lambda _: {"allowed": True, "warnings": ["beware"]}) as hook:
        configure(server, "Validating", webhook("v.example.com", hook.client()))
        kind = server.store.kinds.named("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration")
        assert kind is not None
        current = server.store.get(kind, "test")
        document = current.document()
        document["webhooks"][0]["sideEffects"] = "Some"
        server.store.put(kind, document, current, writer="an earlier version that let it in")
        refused = create(server, query="?dryRun=All")
        assert refused.status == 400
        assert "does not support dry run" in refused.json()["message"]
        warned = create(server)
    assert (warned.status, warned.header("warning")) == (201, '299 - "beware"')


def test_configurations_of_webhooks_are_not_subject_to_them(server: Server) -> None:
    everything = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*/*"]}
    broken = webhook("v.example.com", {"url": "https://127.0.0.1:1/"}, rules=[everything], timeoutSeconds=1)
    configure(server, "Validating", broken)
    assert server("DELETE", f"{ROOT}/validatingwebhookconfigurations/test").status == 200


def test_a_generated_name_is_made_once_for_all_webhooks(server: Server, tmp_path: Path) -> None:
    with WebhookServer(tmp_path, lambda _: label("hook")) as hook:
        configure(server, "Mutating", webhook("m.example.com", hook.client()))
        document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "some-"}}
        created = server("POST", MAPS, document).json()
    assert created["metadata"]["name"].startswith("some-")
    assert len(hook.requests) == 1
    assert "name" not in hook.requests[0]["object"]["metadata"]
