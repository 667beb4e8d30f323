"""Operations and their options: the same calls that any client makes."""

from typing import Any

import pytest

from tests.controllers.objects import stage
from tests.proofs import proves
from tests.scenario.playing import create, delete, done, events, operations, patch
from tests.scenario.running import Run, node, pod

WIDGETS = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "names": {"kind": "Widget", "plural": "widgets", "listKind": "WidgetList", "singular": "widget"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {"spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
                    }
                },
            }
        ],
    },
}
WIDGET = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"size": 1}}


@proves("V1-018")
def test_any_kind_can_be_created() -> None:
    """Built-in kinds of every group, and custom resources."""
    objects: list[dict[str, Any]] = [
        node("n"),
        pod("p"),
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "claim"},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        },
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": "high"},
            "value": 1,
        },
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "b"}},
        WIDGETS,
        WIDGET,
    ]
    run = Run(operations(*(create(1, item) for item in objects), done(1)))
    assert run.status["phase"] == "Succeeded", run.status["message"]
    assert (run.get("Widget", "w", "example.com/v1") or {})["spec"] == {"size": 1}


@proves("V1-019")
def test_a_dry_run_is_recorded_and_leaves_nothing() -> None:
    dry = {"step": 1, "createOperation": {"object": pod("p"), "createOptions": {"dryRun": ["All"]}}}
    run = Run(operations(dry, done(1)))
    assert run.get("Pod", "p") is None
    assert run.timeline["1"][0]["create"]["result"]["metadata"]["uid"]


@proves("V1-019")
def test_field_managers_are_kept() -> None:
    made = {"step": 1, "createOperation": {"object": node("n"), "createOptions": {"fieldManager": "me"}}}
    changed = patch(1, node("n"), {"metadata": {"labels": {"a": "b"}}}, patchOptions={"fieldManager": "you"})
    run = Run(operations(made, changed, done(1)))
    managers = [entry["manager"] for entry in (run.get("Node", "n") or {})["metadata"]["managedFields"]]
    assert "me" in managers
    assert "you" in managers


def test_unknown_fields_of_an_object_fail_unless_ignored() -> None:
    wrong = pod("p")
    wrong["spec"]["colour"] = "red"
    strict = Run(operations(create(1, wrong, id="mine"), done(1)))
    assert strict.status["phase"] == "Failed"
    assert "operation mine" in strict.status["message"]
    assert "colour" in strict.status["message"]
    ignored = {"step": 1, "createOperation": {"object": wrong, "createOptions": {"fieldValidation": "Ignore"}}}
    assert Run(operations(ignored, done(1))).status["phase"] == "Succeeded"


@proves("V2-023", "V1-022")
@pytest.mark.parametrize(
    ("media", "body"),
    [
        ("application/json-patch+json", [{"op": "add", "path": "/metadata/labels/a", "value": "b"}]),
        ("application/merge-patch+json", {"metadata": {"labels": {"a": "b"}}}),
        ("application/strategic-merge-patch+json", {"metadata": {"labels": {"a": "b"}}}),
        (
            "application/apply-patch+yaml",
            'apiVersion: v1\nkind: Node\nmetadata: {name: "n", labels: {a: b}}\n',
        ),
        ("", [{"op": "add", "path": "/metadata/labels/a", "value": "b"}]),
        ("", {"metadata": {"labels": {"a": "b"}}}),
    ],
)
def test_every_patch_type_is_carried_out(media: str, body: Any) -> None:
    """Without a type a list is a JSON patch, the rest a strategic merge patch."""
    more = {"patchType": media} if media else {}
    run = Run(operations(create(1, node("n")), patch(1, node("n"), body, **more), done(1)))
    assert run.status["phase"] == "Succeeded", run.status["message"]
    labels = (run.get("Node", "n") or {})["metadata"]["labels"]
    assert labels["a"] == "b"
    assert labels["kubernetes.io/hostname"] == "n"


def test_a_patch_without_a_type_merges_into_a_stage() -> None:
    slow = stage("slow", selector={"matchLabels": {"a": "b"}}, next={"statusTemplate": "phase: Running"})
    body = {"spec": {"next": {"statusTemplate": "phase: Failed"}}}
    run = Run(operations(create(1, slow), patch(1, slow, body), done(1)))
    assert run.status["phase"] == "Succeeded", run.status["message"]
    found = run.get("Stage", "slow", "kwok.x-k8s.io/v1alpha1") or {}
    assert found["spec"]["next"] == {"statusTemplate": "phase: Failed"}


LABEL = {"metadata": {"labels": {"a": "b"}}}


@proves("V1-020")
def test_a_patch_changes_the_object_that_type_and_metadata_name() -> None:
    """A node by its name, and of two pods of one name that of the given namespace."""
    elsewhere = pod("p")
    elsewhere["metadata"] = {"name": "p", "namespace": "kube-system"}
    run = Run(
        events(
            create(1, node("n")), create(1, node("other")), create(1, pod("p")), create(1, elsewhere),
            patch(1, node("n"), LABEL), patch(1, elsewhere, LABEL), done(1),
        )
    )  # fmt: skip
    assert run.status["phase"] == "Succeeded", run.status["message"]
    labelled = {name: (run.get("Node", name) or {})["metadata"]["labels"].get("a") for name in ("n", "other")}
    assert labelled == {"n": "b", "other": None}
    pods = {each["metadata"]["namespace"]: each["metadata"].get("labels") for each in run.all("Pod")}
    assert pods == {"default": None, "kube-system": {"a": "b"}}


@proves("V1-021")
def test_patch_options_are_honoured() -> None:
    """The manager is recorded, a dry run leaves the object as it was, and only force takes a field over."""
    managed = Run(
        events(create(1, node("n")), patch(1, node("n"), LABEL, patchOptions={"fieldManager": "me"}), done(1))
    )
    owners = [entry["manager"] for entry in (managed.get("Node", "n") or {})["metadata"]["managedFields"]]
    assert "me" in owners
    dry = Run(events(create(1, node("n")), patch(1, node("n"), LABEL, patchOptions={"dryRun": ["All"]}), done(1)))
    assert "a" not in (dry.get("Node", "n") or {})["metadata"]["labels"]
    assert dry.entries("patch")[0]["patch"]["result"]["metadata"]["labels"]["a"] == "b"

    def applied(by: str, value: str, **options: Any) -> dict[str, Any]:
        body = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "labels": {"a": value}}}
        given = {"fieldManager": by, **options}
        return patch(1, node("n"), body, patchType="application/apply-patch+yaml", patchOptions=given)

    def outcome(*patches: dict[str, Any]) -> Run:
        return Run(operations(create(1, node("n")), *patches, done(1)))

    refused = outcome(applied("me", "b"), applied("you", "c"))
    assert refused.status["phase"] == "Failed"
    assert "conflict" in refused.status["message"]
    forced = outcome(applied("me", "b"), applied("you", "c", force=True))
    assert forced.status["phase"] == "Succeeded", forced.status["message"]
    assert (forced.get("Node", "n") or {})["metadata"]["labels"]["a"] == "c"


@proves("V1-022")
def test_a_custom_resource_is_patched_by_merging() -> None:
    run = Run(operations(create(1, WIDGETS), create(1, WIDGET), patch(1, WIDGET, {"spec": {"size": 2}}), done(1)))
    assert (run.get("Widget", "w", "example.com/v1") or {})["spec"] == {"size": 2}


def test_a_status_is_patched_through_its_subresource() -> None:
    ready = {"status": {"allocatable": {"cpu": "7"}}}
    through = Run(operations(create(1, node("n")), patch(1, node("n"), ready, subresource="status"), done(1)))
    beside = Run(operations(create(1, node("n")), patch(1, node("n"), ready), done(1)))
    assert (through.get("Node", "n") or {})["status"]["allocatable"]["cpu"] == "7"
    assert (beside.get("Node", "n") or {})["status"]["allocatable"]["cpu"] == "4"


def test_a_scale_is_patched_through_its_subresource() -> None:
    template = {"metadata": {"labels": {"app": "w"}}, "spec": pod("x")["spec"]}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "w", "namespace": "default"},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "w"}}, "template": template},
    }
    scale = patch(2, deployment, {"spec": {"replicas": 3}}, subresource="scale")
    run = Run(operations(create(1, deployment), scale, done(2)))
    assert len(run.all("Pod")) == 3


@proves("V1-023")
def test_a_delete_with_a_wrong_precondition_fails() -> None:
    gone = {**delete(1, node("n"), preconditions={"uid": "other"}), "id": "mine"}
    run = Run(operations(create(1, node("n")), gone, done(1)))
    assert run.status["phase"] == "Failed"
    assert "operation mine: Operation cannot be fulfilled on" in run.status["message"]


@proves("V1-023")
def test_a_foreground_delete_waits_for_its_dependents() -> None:
    replicas = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "w", "namespace": "default"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "w"}},
            "template": {"metadata": {"labels": {"app": "w"}}, "spec": pod("x")["spec"]},
        },
    }
    run = Run(operations(create(1, replicas), delete(2, replicas, propagationPolicy="Foreground"), done(2)))
    rows = [(row["kind"], row["name"], row["object"]) for row in run.result.timeline.to_dicts() if row["major"] == 2]
    marked = [
        place for place, (kind, _, text) in enumerate(rows) if kind == "ReplicaSet" and "foregroundDel" in (text or "")
    ]
    assert marked
    assert run.all("Pod") == []
    assert run.all("ReplicaSet", "apps/v1") == []


@proves("V1-023")
def test_an_orphaning_delete_leaves_the_pods() -> None:
    replicas = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "w", "namespace": "default"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "w"}},
            "template": {"metadata": {"labels": {"app": "w"}}, "spec": pod("x")["spec"]},
        },
    }
    run = Run(operations(create(1, replicas), delete(2, replicas, propagationPolicy="Orphan"), done(2)))
    assert len(run.all("Pod")) == 2


@proves("V2-024")
def test_done_is_set_by_an_empty_object() -> None:
    assert Run(operations({"step": 1, "doneOperation": {}})).status["phase"] == "Succeeded"


@pytest.mark.parametrize(
    ("body", "why"), [("{a: [", "neither JSON nor YAML"), ("---\n", "expected one document, got 0")]
)
def test_a_patch_that_cannot_be_read_fails_the_scenario(body: str, why: str) -> None:
    broken = {**patch(2, node("n"), body), "id": "broken"}
    status = Run(operations(create(1, node("n")), broken, done(3))).status
    assert status["phase"] == "Failed"
    assert "operation broken: patchOperation.patch" in status["message"]
    assert why in status["message"]
