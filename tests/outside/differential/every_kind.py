"""Every kind and verb: the life of one object of each, with bad input, dry runs and patches of all four types."""

import copy
from collections.abc import Iterator
from typing import Any

from seatrial.model.builtin import builtin_kinds
from seatrial.model.kinds import Kind
from tests.outside.differential.steps import (
    APPLY_PATCH,
    JSON_PATCH,
    MERGE_PATCH,
    PARTIAL,
    STRATEGIC_PATCH,
    TABLE,
    Answers,
    Step,
    as_user,
)
from tests.server.samples import samples

NAMESPACE = "diff"
UNSTORED = frozenset(("Event",))


def steps() -> Iterator[Step]:
    """The whole life of a sample of each kind."""
    yield from preparation()
    kinds = builtin_kinds()
    for document in samples():
        kind = kinds.named(document["apiVersion"], document["kind"])
        if kind is None or kind.group_kind == ("events.k8s.io", "Event"):
            continue
        yield from life(kind, document)


def preparation() -> Iterator[Step]:
    """The namespace in which everything happens, with its account: no controller makes one."""
    for name in (NAMESPACE, "other"):
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        yield Step(f"namespace {name}", "POST", "/api/v1/namespaces", body)
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
        yield Step(f"account of {name}", "POST", f"/api/v1/namespaces/{name}/serviceaccounts", account)


def collection(kind: Kind, namespace: str = NAMESPACE) -> str:
    """The path of the objects of a kind."""
    root = f"/apis/{kind.api_version}" if kind.group else f"/api/{kind.version}"
    return f"{root}/namespaces/{namespace}/{kind.plural}" if kind.namespaced else f"{root}/{kind.plural}"


def life(kind: Kind, document: dict[str, Any]) -> Iterator[Step]:
    """All requests about one object."""
    if kind.kind == "Event":
        document = document | {"involvedObject": document["involvedObject"] | {"namespace": NAMESPACE}}
    path, name = collection(kind), document["metadata"]["name"]
    one, label = f"{path}/{name}", f"{kind.api_version} {kind.kind}"

    def step(what: str, *rest: Any, **more: Any) -> Step:
        return Step(f"{label}: {what}", *rest, **more)

    yield step("dry run of a create", "POST", f"{path}?dryRun=All", document)
    yield from _bad_creates(step, kind, path, document)
    yield step("create", "POST", path, document, save="object")
    yield step("create again", "POST", path, document)
    yield from _reads(step, kind, path, name)
    yield from _patches(step, kind, one)
    yield from _updates(step, one)
    yield from _applies(step, kind, path, document)
    if "status" in kind.subresources:
        yield from _status(step, one)
    yield from _deletes(step, kind, path, one)


def _bad_creates(step: Any, kind: Kind, path: str, document: dict[str, Any]) -> Iterator[Step]:
    wrong = copy.deepcopy(document) | {"bogus": 1}
    yield step("unknown field, Strict", "POST", f"{path}?fieldValidation=Strict&dryRun=All", wrong)
    yield step("unknown field, Warn", "POST", f"{path}?fieldValidation=Warn&dryRun=All", wrong)
    yield step("unknown field, Ignore", "POST", f"{path}?fieldValidation=Ignore&dryRun=All", wrong)
    yield step("no name", "POST", path, document | {"metadata": {}})
    yield step("bad name", "POST", path, document | {"metadata": {"name": "Not/A_Name"}})
    yield step("bad label", "POST", path, document | {"metadata": {"name": "x", "labels": {"a b": "c d"}}})
    yield step("metadata of the wrong type", "POST", path, document | {"metadata": []})
    yield step("another kind", "POST", path, document | {"kind": "Nothing"})
    yield step("another version", "POST", path, document | {"apiVersion": "v7"})
    yield step("no JSON", "POST", path, b"{")
    yield step("empty body", "POST", path, b"")
    yield step("unknown media type", "POST", path, b"x", {"Content-Type": "text/csv"})
    yield step("bad dryRun", "POST", f"{path}?dryRun=Some", document)
    yield step("generated name", "POST", f"{path}?dryRun=All", document | {"metadata": {"generateName": "generated-"}})
    if "spec" in document:
        yield step("spec of the wrong type", "POST", path, document | {"spec": "x"})
        yield step("empty spec", "POST", f"{path}?dryRun=All", document | {"spec": {}})
    yield step("create without rights", "POST", path, document, as_user("nobody"))


def _reads(step: Any, kind: Kind, path: str, name: str) -> Iterator[Step]:
    yield step("get", "GET", f"{path}/{name}", save="object")
    yield step("get what is not there", "GET", f"{path}/missing")
    yield step("get as table", "GET", f"{path}/{name}", None, TABLE)
    yield step("get as metadata", "GET", f"{path}/{name}", None, PARTIAL)
    yield step("list by name", "GET", f"{path}?fieldSelector=metadata.name%3D{name}")
    yield step("list by name as table", "GET", f"{path}?fieldSelector=metadata.name%3D{name}", None, TABLE)
    yield step("list by label", "GET", f"{path}?labelSelector=a%3Db")
    yield step("list by a bad label selector", "GET", f"{path}?labelSelector=a%20b%20c")
    yield step("list by an unknown field", "GET", f"{path}?fieldSelector=spec.nothing%3D1")
    yield step("list without rights", "GET", path, None, as_user("nobody"))
    yield step("post to the object", "POST", f"{path}/{name}", {})
    yield step("an unknown subresource", "GET", f"{path}/{name}/nothing")


def _patches(step: Any, kind: Kind, one: str) -> Iterator[Step]:
    labels = {"metadata": {"labels": {"merge": "1"}}}
    yield step("merge patch", "PATCH", one, labels, MERGE_PATCH)
    yield step("merge patch that changes nothing", "PATCH", one, labels, MERGE_PATCH)
    yield step("strategic patch", "PATCH", one, {"metadata": {"labels": {"strategic": "1"}}}, STRATEGIC_PATCH)
    add = [{"op": "add", "path": "/metadata/labels/json", "value": "1"}]
    yield step("json patch", "PATCH", one, add, JSON_PATCH)
    yield step("json patch of a missing path", "PATCH", one, [{"op": "remove", "path": "/nothing"}], JSON_PATCH)
    yield step("json patch whose test fails", "PATCH", one, [{"op": "test", "path": "/kind", "value": "x"}], JSON_PATCH)
    yield step("merge patch of the wrong type", "PATCH", one, {"metadata": "x"}, MERGE_PATCH)
    yield step("strategic patch of the wrong type", "PATCH", one, {"metadata": "x"}, STRATEGIC_PATCH)
    yield step("patch that is no JSON", "PATCH", one, b"{", MERGE_PATCH)
    yield step("patch of another media type", "PATCH", one, labels, {"Content-Type": "application/json"})
    yield step("patch of what is not there", "PATCH", one + "-missing", labels, MERGE_PATCH)
    yield step("patch of the name", "PATCH", one, {"metadata": {"name": "other"}}, MERGE_PATCH)
    yield step("patch with an old revision", "PATCH", one, {"metadata": {"resourceVersion": "1"}}, MERGE_PATCH)
    yield step("dry run of a patch", "PATCH", f"{one}?dryRun=All", {"metadata": {"labels": {"dry": "1"}}}, MERGE_PATCH)
    yield step("patch with an unknown field", "PATCH", f"{one}?fieldValidation=Strict", {"bogus": 1}, MERGE_PATCH)


def _updates(step: Any, one: str) -> Iterator[Step]:
    def changed(answers: Answers, **metadata: Any) -> Any:
        document = copy.deepcopy(answers["object"])
        document.setdefault("metadata", {}).update(metadata)
        return document

    yield step("get before an update", "GET", one, save="object")
    yield step("update", "PUT", one, lambda a: changed(a, annotations={"updated": "1"}))
    yield step("update with the old revision", "PUT", one, lambda a: changed(a, annotations={"updated": "2"}))
    yield step("get after an update", "GET", one, save="object")
    yield step("update that changes nothing", "PUT", one, lambda a: a["object"])
    yield step("update with another name", "PUT", one, lambda a: changed(a, name="another"))
    yield step("update with another uid", "PUT", one, lambda a: changed(a, uid="nothing"))
    yield step("update without a revision", "PUT", one, lambda a: changed(a, resourceVersion=""))


def _applies(step: Any, kind: Kind, path: str, document: dict[str, Any]) -> Iterator[Step]:
    name = document["metadata"]["name"]
    if kind.kind not in ("IPAddress", "CustomResourceDefinition", "APIService"):
        name = "applied"
    one = f"{path}/{name}"
    config = copy.deepcopy(document)
    config["metadata"] = {"name": name, "labels": {"a": "b"}}
    yield step("apply", "PATCH", f"{one}?fieldManager=one", config, APPLY_PATCH)
    yield step("apply again", "PATCH", f"{one}?fieldManager=one", config, APPLY_PATCH)
    config = copy.deepcopy(config)
    config["metadata"]["labels"] = {"a": "c"}
    yield step("apply by another manager", "PATCH", f"{one}?fieldManager=two", config, APPLY_PATCH)
    yield step("apply with force", "PATCH", f"{one}?fieldManager=two&force=true", config, APPLY_PATCH)
    yield step("apply without a manager", "PATCH", one, config, APPLY_PATCH)
    yield step("get what was applied", "GET", one)


def _status(step: Any, one: str) -> Iterator[Step]:
    yield step("get status", "GET", f"{one}/status", save="object")
    yield step("update status", "PUT", f"{one}/status", lambda a: a["object"])
    yield step("patch status", "PATCH", f"{one}/status", {"metadata": {"labels": {"s": "1"}}}, MERGE_PATCH)
    yield step("status without rights", "PATCH", f"{one}/status", {}, MERGE_PATCH | as_user("nobody"))


def _deletes(step: Any, kind: Kind, path: str, one: str) -> Iterator[Step]:
    yield step("dry run of a delete", "DELETE", f"{one}?dryRun=All")
    yield step("delete of another uid", "DELETE", one, {"preconditions": {"uid": "nothing"}})
    yield step("delete without rights", "DELETE", one, None, as_user("nobody"))
    yield step("delete with a bad policy", "DELETE", f"{one}?propagationPolicy=Sideways")
    yield step("delete", "DELETE", one)
    yield step("delete again", "DELETE", one)
    yield step("get after the delete", "GET", one)
    if "deletecollection" in kind.verbs and kind.namespaced:
        yield step("delete a collection", "DELETE", f"{path}?labelSelector=a%3Dc")
        yield step("list after the delete", "GET", f"{path}?labelSelector=a%3Dc")
