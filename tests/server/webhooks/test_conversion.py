"""Conversion webhooks of CustomResourceDefinitions, called over TLS on loopback."""

import asyncio
import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from seatrial.server.admission.policies import PolicyAdmission
from seatrial.server.admission.webhooks import WebhookAdmission
from seatrial.server.webhooks.conversion import ConversionWebhooks
from tests.server.admission.webhook_server import WebhookServer, configuration, patch, webhook
from tests.server.client import Reply, Server

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
DEFINITION = f"{DEFINITIONS}/hosts.example.com"
HOSTS = "/apis/example.com/{}/namespaces/default/hosts"
MERGE, JSON, APPLY = (f"application/{kind}" for kind in ("merge-patch+json", "json-patch+json", "apply-patch+yaml"))
Document = dict[str, Any]


def moved(document: Document, version: str) -> Document:
    """v1 has one text `address`, v2 has `name` and `port`."""
    document = copy.deepcopy(document)
    spec = document["spec"]
    if version == "example.com/v2" and "address" in spec:
        name, _, port = spec.pop("address").partition(":")
        spec |= {"name": name, "port": int(port)}
    elif version == "example.com/v1" and "name" in spec:
        spec["address"] = f"{spec.pop('name')}:{spec.pop('port')}"
    document["apiVersion"] = version
    return document


def convert(request: Document) -> Document:
    objects = [moved(each, request["desiredAPIVersion"]) for each in request["objects"]]
    return {"convertedObjects": objects, "result": {"status": "Success"}}


def version(name: str, stored: bool, /, **properties: Document) -> Document:
    spec = {"type": "object", "properties": properties}
    status = {"type": "object", "properties": {"ready": {"type": "boolean"}}}
    return {
        "name": name,
        "served": True,
        "storage": stored,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec, "status": status}}},
        "subresources": {"status": {}},
        "selectableFields": [{"jsonPath": f".spec.{next(iter(properties))}"}],
    }


def definition(client: Document, stored: str = "v2") -> Document:
    names = {"plural": "hosts", "singular": "host", "kind": "Host", "listKind": "HostList"}
    versions = [
        version("v1", stored == "v1", address={"type": "string", "pattern": ".+:.+"}),
        version("v2", stored == "v2", name={"type": "string"}, port={"type": "integer", "maximum": 9000}),
    ]
    webhook = {"clientConfig": client, "conversionReviewVersions": ["v1"]}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "hosts.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": names,
            "versions": versions,
            "conversion": {"strategy": "Webhook", "webhook": webhook},
        },
    }


def host(name: str, version: str, /, **spec: Any) -> Document:
    return {"apiVersion": f"example.com/{version}", "kind": "Host", "metadata": {"name": name}, "spec": spec}


class Cluster(Server):
    """A server with a definition whose webhook answers as `answer` says."""

    def __init__(self, directory: Path) -> None:
        super().__init__()
        self.store.versions.call_webhook = ConversionWebhooks(self.store)
        self.answer: Callable[[Document], Document] = convert
        self.hook = WebhookServer(directory, lambda request: self.answer(request))

    def define(self, **changes: Any) -> Reply:
        return self("POST", DEFINITIONS, definition(self.hook.client() | changes))

    def create(self, name: str, version: str, query: str = "", /, **spec: Any) -> Reply:
        return self("POST", HOSTS.format(version) + query, host(name, version, **spec))

    def read(self, name: str, version: str) -> Document:
        document: Document = self("GET", f"{HOSTS.format(version)}/{name}").json()
        return document

    def redefine(self, change: Callable[[Document], None]) -> Reply:
        document = self("GET", DEFINITION).json()
        change(document)
        return self("PUT", DEFINITION, document)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    cluster = Cluster(tmp_path)
    with cluster.hook:
        assert cluster.define().status == 201
        yield cluster


def test_an_object_is_written_and_read_in_every_version(cluster: Cluster) -> None:
    created = cluster.create("a", "v1", address="example.com:80")
    assert (created.status, created.json()["apiVersion"]) == (201, "example.com/v1")
    assert created.json()["spec"] == {"address": "example.com:80"}
    assert cluster.read("a", "v2")["spec"] == {"name": "example.com", "port": 80}
    assert cluster.read("a", "v1") == created.json()
    review = cluster.hook.requests[0]
    assert (review["desiredAPIVersion"], review["objects"][0]["spec"]) == (
        "example.com/v2",
        {"address": "example.com:80"},
    )


def test_an_object_in_the_stored_version_is_not_converted(cluster: Cluster) -> None:
    assert cluster.create("a", "v2", name="x", port=1).status == 201
    assert cluster.read("a", "v2")["spec"] == {"name": "x", "port": 1}
    assert not cluster.hook.requests


def test_a_write_is_validated_in_the_version_of_its_request(cluster: Cluster) -> None:
    refused = cluster.create("a", "v1", address="nothing")
    assert (refused.status, refused.json()["details"]["causes"][0]["field"]) == (422, "spec.address")
    assert not cluster.hook.requests
    assert cluster.create("a", "v1", address="x:9999").status == 201, "the limit is one of v2"


def test_the_converted_object_is_pruned(cluster: Cluster) -> None:
    def wordy(request: Document) -> Document:
        response = convert(request)
        for each in response["convertedObjects"]:
            each["spec"]["comment"] = "new"
        return response

    cluster.answer = wordy
    assert cluster.create("a", "v1", address="x:1").json()["spec"] == {"address": "x:1"}
    assert cluster.read("a", "v2")["spec"] == {"name": "x", "port": 1}


def test_metadata_but_for_labels_and_annotations_is_kept(cluster: Cluster) -> None:
    def labelling(request: Document) -> Document:
        response = convert(request)
        for each in response["convertedObjects"]:
            each["metadata"]["labels"] = {"to": each["apiVersion"].rpartition("/")[2]}
            each["metadata"]["finalizers"] = ["example.com/added"]
        return response

    cluster.answer = labelling
    cluster.create("a", "v1", address="x:1")
    assert (cluster.read("a", "v1")["metadata"]["labels"], cluster.read("a", "v2")["metadata"]["labels"]) == (
        {"to": "v1"},
        {"to": "v2"},
    )
    assert "finalizers" not in cluster.read("a", "v2")["metadata"]


def test_a_list_has_all_objects_in_its_version(cluster: Cluster) -> None:
    for number in range(3):
        cluster.create(f"h{number}", "v2", name=f"x{number}", port=number)
    listed = cluster("GET", HOSTS.format("v1")).json()
    assert [item["spec"]["address"] for item in listed["items"]] == ["x0:0", "x1:1", "x2:2"]
    assert len(cluster.hook.requests) == 1
    chosen = cluster("GET", f"{HOSTS.format('v1')}?fieldSelector=spec.address%3Dx1:1").json()
    assert [item["metadata"]["name"] for item in chosen["items"]] == ["h1"]


def test_a_list_at_an_earlier_revision_is_converted(cluster: Cluster) -> None:
    before = cluster.create("a", "v2", name="x", port=1).json()["metadata"]["resourceVersion"]
    cluster("PATCH", f"{HOSTS.format('v2')}/a", {"spec": {"port": 2}}, content_type=MERGE)
    exact = f"?resourceVersion={before}&resourceVersionMatch=Exact"
    listed = cluster("GET", HOSTS.format("v1") + exact).json()
    assert listed["items"][0]["spec"] == {"address": "x:1"}


def test_a_watch_shows_every_event_in_its_version(cluster: Cluster) -> None:
    async def story() -> list[Any]:
        await cluster.send("POST", HOSTS.format("v2"), host("a", "v2", name="x", port=1))
        async with cluster.watch(f"{HOSTS.format('v1')}?watch=true") as watch:
            events = [await watch.next()]
            await cluster.send("POST", HOSTS.format("v2"), host("b", "v2", name="y", port=2))
            events.append(await watch.next())
            await cluster.send("DELETE", f"{HOSTS.format('v1')}/b")
            events.append(await watch.next())
        return events

    events = asyncio.run(story())
    assert [(event["type"], event["object"]["spec"]["address"]) for event in events] == [
        ("ADDED", "x:1"),
        ("ADDED", "y:2"),
        ("DELETED", "y:2"),
    ]


def test_a_watch_selects_by_fields_of_its_version(cluster: Cluster) -> None:
    async def story() -> list[Any]:
        query = "?watch=true&fieldSelector=spec.address%3Dx:1"
        async with cluster.watch(HOSTS.format("v1") + query) as watch:
            for name, port in (("b", 2), ("a", 1)):
                await cluster.send("POST", HOSTS.format("v2"), host(name, "v2", name="x", port=port))
            added = await watch.next()
            patch = {"spec": {"port": 3}}
            await cluster.send("PATCH", f"{HOSTS.format('v2')}/a", patch, content_type=MERGE)
            return [added, await watch.next()]

    events = asyncio.run(story())
    assert [(event["type"], event["object"]["metadata"]["name"]) for event in events] == [
        ("ADDED", "a"),
        ("DELETED", "a"),
    ]


def test_a_watch_ends_with_the_error_of_its_webhook(cluster: Cluster) -> None:
    async def story() -> Any:
        async with cluster.watch(f"{HOSTS.format('v1')}?watch=true") as watch:
            cluster.answer = lambda _: {"result": {"status": "Failure", "message": "out of order"}}
            await cluster.send("POST", HOSTS.format("v2"), host("a", "v2", name="x", port=1))
            return await watch.next()

    event = asyncio.run(story())
    assert (event["type"], event["object"]["code"]) == ("ERROR", 500)
    assert event["object"]["message"] == "conversion webhook for example.com/v2, Kind=Host failed: out of order"


@pytest.mark.parametrize(
    ("type", "body"),
    [
        (MERGE, {"spec": {"address": "y:2"}}),
        (JSON, [{"op": "replace", "path": "/spec/address", "value": "y:2"}]),
        (APPLY, host("a", "v1", address="y:2")),
    ],
)
def test_a_patch_is_made_in_the_version_of_its_request(cluster: Cluster, type: str, body: Any) -> None:
    cluster.create("a", "v2", name="x", port=1)
    query = "?fieldManager=f&force=true" if type == APPLY else ""
    patched = cluster("PATCH", f"{HOSTS.format('v1')}/a{query}", body, content_type=type)
    assert (patched.status, patched.json()["spec"]) == (200, {"address": "y:2"})
    assert cluster.read("a", "v2")["spec"] == {"name": "y", "port": 2}


def test_owners_name_the_version_in_which_they_wrote(cluster: Cluster) -> None:
    cluster.create("a", "v1", "?fieldManager=first", address="x:1")
    cluster("PATCH", f"{HOSTS.format('v2')}/a?fieldManager=second", {"spec": {"port": 2}}, content_type=MERGE)
    first, second = cluster.read("a", "v1")["metadata"]["managedFields"]
    assert (second["manager"], second["apiVersion"]) == ("second", "example.com/v2")
    assert second["fieldsV1"]["f:spec"] == {"f:port": {}}
    assert (first["manager"], first["apiVersion"]) == ("first", "example.com/v1")
    assert "f:address" not in first["fieldsV1"].get("f:spec", {}), "the port is a part of the address"


def test_an_applied_field_is_in_conflict_with_its_owner_in_another_version(cluster: Cluster) -> None:
    def apply(manager: str, version: str, /, **spec: Any) -> Reply:
        path = f"{HOSTS.format(version)}/a?fieldManager={manager}"
        return cluster("PATCH", path, host("a", version, **spec), content_type=APPLY)

    assert apply("first", "v1", address="x:1").status == 201
    refused = apply("second", "v2", port=2)
    assert (refused.status, refused.json()["details"]["causes"][0]["field"]) == (409, ".spec.address")
    assert apply("second", "v2", port=1).status == 200


def test_a_status_is_written_in_every_version(cluster: Cluster) -> None:
    cluster.create("a", "v2", name="x", port=1)
    path = f"{HOSTS.format('v1')}/a/status"
    patched = cluster("PATCH", path, {"status": {"ready": True}}, content_type=MERGE)
    assert (patched.status, patched.json()["status"], patched.json()["spec"]) == (
        200,
        {"ready": True},
        {"address": "x:1"},
    )


def test_a_dry_run_is_converted_and_stores_nothing(cluster: Cluster) -> None:
    assert cluster.create("a", "v1", "?dryRun=All", address="x:1").json()["spec"] == {"address": "x:1"}
    assert cluster.read("a", "v1")["code"] == 404


def test_a_deleted_object_is_shown_in_the_version_of_the_request(cluster: Cluster) -> None:
    document = host("a", "v2", name="x", port=1)
    document["metadata"]["finalizers"] = ["example.com/wait"]
    cluster("POST", HOSTS.format("v2"), document)
    marked = cluster("DELETE", f"{HOSTS.format('v1')}/a").json()
    assert marked["metadata"]["deletionTimestamp"]
    assert marked["spec"] == {"address": "x:1"}
    patch = {"metadata": {"finalizers": None}}
    assert cluster("PATCH", f"{HOSTS.format('v1')}/a", patch, content_type=MERGE).status == 200
    assert cluster.read("a", "v1")["code"] == 404


def response(**parts: Any) -> Callable[[Document], Document]:
    return lambda request: {**convert(request), **parts}


def objects(change: Callable[[Document], object]) -> Callable[[Document], Document]:
    def answer(request: Document) -> Document:
        made = convert(request)
        for each in made["convertedObjects"]:
            change(each)
        return made

    return answer


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (response(result={"status": "Failure", "message": "no"}), "failed: no"),
        (response(result={"status": "Failure"}), "failed: response.result.status was 'Failure', not 'Success'"),
        (response(result={}), "failed: response.result.status was '', not 'Success'"),
        (response(uid="other"), 'failed: expected response.uid="'),
        (response(convertedObjects=[]), "returned 0 objects, expected 1"),
        (
            objects(lambda each: each.update(apiVersion="example.com/v3")),
            "returned invalid object at index 0: invalid groupVersion (expected example.com/v2, received example",
        ),
        (
            objects(lambda each: each.update(kind="Guest")),
            "returned invalid object at index 0: invalid kind (expected Host, received Guest)",
        ),
        (
            objects(lambda each: each["metadata"].update(name="b")),
            "returned invalid object: must have the same name: a != b",
        ),
        (
            objects(lambda each: each["metadata"].update(labels={"a b": "c"})),
            'returned invalid metadata: metadata.labels: Invalid value: "a b": ',
        ),
    ],
)
def test_a_bad_answer_fails_the_request(cluster: Cluster, answer: Any, text: str) -> None:
    cluster.answer = answer
    refused = cluster.create("a", "v1", address="x:1")
    assert refused.status == 500
    assert refused.json()["message"].startswith(f"conversion webhook for example.com/v1, Kind=Host {text}")
    assert "reason" not in refused.json()
    assert cluster.read("a", "v2")["code"] == 404


def test_an_object_whose_way_back_fails_is_stored(cluster: Cluster) -> None:
    """As upstream: what was written is read back only after it is in etcd."""

    def one_way(request: Document) -> Document:
        if request["desiredAPIVersion"] == "example.com/v1":
            return {"result": {"status": "Failure", "message": "one way"}}
        return convert(request)

    cluster.answer = one_way
    assert cluster.create("a", "v1", address="x:1").status == 500
    assert cluster.read("a", "v2")["spec"] == {"name": "x", "port": 1}


def test_a_webhook_that_nothing_listens_for_fails_reads(cluster: Cluster) -> None:
    cluster.create("a", "v2", name="x", port=1)

    def unreachable(document: Document) -> None:
        document["spec"]["conversion"]["webhook"]["clientConfig"]["url"] = "https://127.0.0.1:1/convert"

    assert cluster.redefine(unreachable).status == 200
    failed = cluster("GET", f"{HOSTS.format('v1')}/a")
    assert failed.status == 500
    assert failed.json()["message"] == (
        'conversion webhook for example.com/v2, Kind=Host failed: Post "https://127.0.0.1:1/convert?timeout=30s": '
        "dial tcp 127.0.0.1:1: connect: connection refused"
    )
    assert cluster.read("a", "v2")["spec"] == {"name": "x", "port": 1}
    assert cluster("GET", HOSTS.format("v1")).status == 500


def test_an_unknown_authority_is_not_trusted(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path)
    with cluster.hook:
        cluster.define(caBundle="")
        refused = cluster.create("a", "v1", address="x:1")
    assert "x509: certificate signed by unknown authority" in refused.json()["message"]


def test_a_service_is_called_at_its_endpoint_under_its_name(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path)
    with cluster.hook:
        port = int(cluster.hook.client()["url"].rpartition(":")[2].partition("/")[0])
        ports = {"ports": [{"port": 443, "name": "https"}]}
        for name in ("kubernetes", "other"):
            service = {"kind": "Service", "apiVersion": "v1", "metadata": {"name": name}, "spec": ports}
            cluster("POST", "/api/v1/namespaces/default/services", service)
            piece = {
                "kind": "EndpointSlice",
                "apiVersion": "discovery.k8s.io/v1",
                "metadata": {"name": name, "labels": {"kubernetes.io/service-name": name}},
                "addressType": "IPv4",
                "endpoints": [{"addresses": ["127.0.0.1"]}],
                "ports": [{"name": "https", "port": port}],
            }
            path = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
            assert cluster("POST", path, piece).status == 201
        client = {"caBundle": cluster.hook.client()["caBundle"]}

        def named(name: str) -> Document:
            return client | {"service": {"namespace": "default", "name": name, "path": "/convert"}}

        assert cluster("POST", DEFINITIONS, definition(named("kubernetes"))).status == 201
        assert cluster.create("a", "v1", address="x:1").status == 201

        def renamed(document: Document) -> None:
            document["spec"]["conversion"]["webhook"]["clientConfig"] = named("other")

        assert cluster.redefine(renamed).status == 200
        refused = cluster.create("b", "v1", address="x:1").json()["message"]
    assert 'Post "https://other.default.svc:443/convert?timeout=30s": tls: failed to verify certificate' in refused


def test_objects_move_to_a_new_storage_version_when_they_are_written(cluster: Cluster) -> None:
    cluster.create("a", "v2", name="x", port=1)

    def storing_first(document: Document) -> None:
        for each in document["spec"]["versions"]:
            each["storage"] = each["name"] == "v1"

    changed = cluster.redefine(storing_first)
    assert changed.json()["status"]["storedVersions"] == ["v2", "v1"]
    cluster.hook.requests.clear()
    assert cluster.read("a", "v2")["spec"] == {"name": "x", "port": 1}
    assert not cluster.hook.requests, "it is still stored in v2"
    assert cluster("PUT", f"{HOSTS.format('v2')}/a", cluster.read("a", "v2")).status == 200
    cluster.hook.requests.clear()
    assert cluster.read("a", "v1")["spec"] == {"address": "x:1"}
    assert not cluster.hook.requests, "writing it has moved it"


def test_a_version_that_objects_are_stored_in_cannot_be_removed(cluster: Cluster) -> None:
    def only_first(document: Document) -> None:
        document["spec"]["versions"] = [document["spec"]["versions"][0] | {"storage": True}]

    refused = cluster.redefine(only_first)
    assert (refused.status, refused.json()["details"]["causes"][0]["field"]) == (422, "status.storedVersions[0]")


@pytest.mark.parametrize(
    ("conversion", "fields"),
    [
        ({}, {"spec.conversion.strategy"}),
        ({"strategy": "Magic"}, {"spec.conversion.strategy"}),
        (
            {"strategy": "Webhook"},
            {"spec.conversion.webhookClientConfig", "spec.conversion.conversionReviewVersions"},
        ),
        (
            {
                "strategy": "Webhook",
                "webhook": {"clientConfig": {}, "conversionReviewVersions": ["v1", "v1", "V", "v9"]},
            },
            {
                "spec.conversion.webhookClientConfig",
                "spec.conversion.conversionReviewVersions[1]",
                "spec.conversion.conversionReviewVersions[2]",
            },
        ),
        (
            {
                "strategy": "Webhook",
                "webhook": {"clientConfig": {"url": "http://u:p@h/?q#f"}, "conversionReviewVersions": ["v9"]},
            },
            {"spec.conversion.webhookClientConfig.url", "spec.conversion.conversionReviewVersions"},
        ),
        (
            {
                "strategy": "Webhook",
                "webhook": {
                    "clientConfig": {"service": {"namespace": "", "name": "", "port": 0, "path": "a//b_"}},
                    "conversionReviewVersions": ["v1"],
                },
            },
            {f"spec.conversion.webhookClientConfig.service.{key}" for key in ("name", "namespace", "port", "path")},
        ),
        (
            {"strategy": "None", "webhook": {"clientConfig": {"url": "https://h"}, "conversionReviewVersions": ["v1"]}},
            {"spec.conversion.webhookClientConfig", "spec.conversion.conversionReviewVersions"},
        ),
    ],
)
def test_a_conversion_that_cannot_work_is_refused(tmp_path: Path, conversion: Document, fields: set[str]) -> None:
    document = definition({})
    document["spec"]["conversion"] = conversion
    refused = Server()("POST", DEFINITIONS, document)
    assert refused.status == 422
    assert {cause["field"] for cause in refused.json()["details"]["causes"]} == fields


def test_a_bundle_that_is_no_certificate_is_refused_once_the_definition_is_established(cluster: Cluster) -> None:
    def spoiled(document: Document) -> None:
        document["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"] = "bm8gUEVN"

    refused = cluster.redefine(spoiled)
    assert (refused.status, refused.json()["details"]["causes"][0]["message"]) == (
        422,
        'Invalid value: "bm8gUEVN": unable to load root certificates: unable to parse bytes as PEM block',
    )


def admission(kind: str, client: Document, **more: Any) -> Document:
    rule = {"apiGroups": ["example.com"], "apiVersions": ["v2"], "operations": ["*"], "resources": ["hosts"]}
    return configuration(kind, webhook("w.example.com", client, rules=[rule], **more))


def test_admission_webhooks_see_the_version_that_they_name(cluster: Cluster, tmp_path: Path) -> None:
    cluster.store.admission = WebhookAdmission(cluster.store.admission, cluster.store)
    port = patch({"op": "replace", "path": "/spec/port", "value": 7})
    with WebhookServer(tmp_path / "admission", lambda _: port) as hook:
        path = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
        assert cluster("POST", path, admission("Mutating", hook.client())).status == 201
        created = cluster.create("a", "v1", address="x:1")
    assert created.json()["spec"] == {"address": "x:7"}
    request = hook.requests[0]
    assert (request["kind"]["version"], request["requestKind"]["version"]) == ("v2", "v1")
    assert request["object"]["spec"] == {"name": "x", "port": 1}


def test_a_webhook_with_the_policy_exact_sees_its_version_only(cluster: Cluster, tmp_path: Path) -> None:
    cluster.store.admission = WebhookAdmission(cluster.store.admission, cluster.store)
    with WebhookServer(tmp_path / "admission", lambda _: {"allowed": False}) as hook:
        path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
        assert cluster("POST", path, admission("Validating", hook.client(), matchPolicy="Exact")).status == 201
        assert cluster.create("a", "v1", address="x:1").status == 201
        assert cluster.create("b", "v2", name="x", port=1).status == 400


def test_a_policy_sees_the_version_that_it_names(cluster: Cluster) -> None:
    cluster.store.admission = PolicyAdmission(cluster.store.admission, cluster.store)
    root = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic"
    rule = {"apiGroups": ["example.com"], "apiVersions": ["v2"], "operations": ["CREATE"], "resources": ["hosts"]}
    head = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": "p"}}
    spec = {"matchConstraints": {"resourceRules": [rule]}, "validations": [{"expression": "object.spec.port < 5"}]}
    assert cluster("POST", f"{root}ies", head | {"kind": "ValidatingAdmissionPolicy", "spec": spec}).status == 201
    bound = {"kind": "ValidatingAdmissionPolicyBinding", "spec": {"policyName": "p", "validationActions": ["Deny"]}}
    assert cluster("POST", f"{root}ybindings", head | bound).status == 201
    assert cluster.create("a", "v1", address="x:1").status == 201
    assert cluster.create("b", "v1", address="x:6").status == 422
