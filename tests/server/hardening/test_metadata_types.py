"""Metadata of every kind is decoded strictly: a value of a wrong type is refused in upstream's words, and not kept."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from tests.server.hardening.served import Served, every_sample, path_of

WRONG: tuple[Any, ...] = ([], "text", 5, True, {"a": 1}, [1], [{"a": []}], 1.5)
FIELDS = (
    "annotations",
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generateName",
    "generation",
    "labels",
    "managedFields",
    "name",
    "namespace",
    "ownerReferences",
    "resourceVersion",
    "selfLink",
    "uid",
    "unknown",
)
PATCHES = {
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
    "json": "application/json-patch+json",
}
TEXTS = ("annotations", "labels")


def sent(server: Served, sample: dict[str, Any], verb: str, field: str, wrong: Any) -> int:
    """The status of one request with a wrong field of metadata."""
    kind = server.store.kinds.served(sample["apiVersion"], sample["kind"])
    name, path = sample["metadata"]["name"], path_of(kind)
    document = deepcopy(sample)
    document["metadata"][field] = wrong
    if verb == "POST":
        return server("POST", path, document).status
    if verb == "PUT":
        return server("PUT", f"{path}/{name}", document).status
    body: Any = {"metadata": {field: wrong}}
    if verb == "json":
        body = [{"op": "add", "path": f"/metadata/{field}", "value": wrong}]
    elif verb == "apply":
        body = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name, field: wrong}}
    return server("PATCH", f"{path}/{name}?fieldManager=me", body, content_type=PATCHES[verb]).status


def fuzz(home: Path, share: int) -> None:
    """Send one request in `share`, kind by kind; after each verb the server starts again with an equal state."""
    server, number = Served(home), 0
    for sample in every_sample():
        kind = server.store.kinds.served(sample["apiVersion"], sample["kind"])
        server("POST", path_of(kind), sample)
    for verb in ("POST", "PUT", *PATCHES):
        for sample in every_sample():
            for field in FIELDS:
                for wrong in WRONG:
                    number += 1
                    if number % share == 0:
                        status = sent(server, sample, verb, field, wrong)
                        assert status < 500, (sample["kind"], verb, field, wrong)
        before = server.state()
        server.close()
        server = Served(home)
        assert server.state() == before
    server.close()


def test_wrong_types_in_metadata_are_no_error_of_the_server(tmp_path: Path) -> None:
    fuzz(tmp_path, 97)


@pytest.mark.long
def test_every_wrong_type_in_every_field_of_every_kind(tmp_path: Path) -> None:
    fuzz(tmp_path, 1)


@pytest.mark.parametrize("field", TEXTS)
@pytest.mark.parametrize(
    ("api_version", "name", "where"),
    [
        ("v1", "ConfigMap", "ObjectMeta.metadata"),
        ("kwok.x-k8s.io/v1alpha1", "Stage", "ObjectMeta"),
        ("example.com/v1", "Boat", "ObjectMeta"),
        ("scheduling.volcano.sh/v1beta1", "Queue", "ObjectMeta"),
    ],
)
def test_a_list_of_labels_is_refused_with_upstreams_text(
    tmp_path: Path, api_version: str, name: str, where: str, field: str
) -> None:
    server = Served(tmp_path)
    definition = next(each for each in every_sample() if each["kind"] == "CustomResourceDefinition")
    assert server("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition).status == 201
    wrong = {"apiVersion": api_version, "kind": name, "metadata": {"name": "a", field: []}}
    answer = server("POST", path_of(server.store.kinds.served(api_version, name)), wrong)
    server.close()
    text = f"json: cannot unmarshal array into Go struct field {where}.{field} of type map[string]string"
    version = api_version.rpartition("/")[2]
    assert answer.status == 400
    assert answer.json()["message"] == f'{name} in version "{version}" cannot be handled as a {name}: {text}'
