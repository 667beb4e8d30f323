"""Requests from a grammar: valid objects that are made, read, changed and deleted, and among them mutated ones.

Random bytes are refused at the door and test little behind it; these requests mostly get in. Expressions and objects
that once held the server up are thrown in now and then.
"""

import json
import random
from collections.abc import Iterator
from typing import Any

from seatrial.model.kinds import Kind
from tests.server.fuzzing import Attack, Fuzzer

LEFT_ALONE = ("Namespace", "CustomResourceDefinition", "APIService", "Event")
"""Kinds of which only mutated objects are sent: they change what other requests mean, or go by themselves."""
WIDGETS = "/apis/fuzz.example.com/v1/namespaces/default/widgets"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
SCHEMA = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "maxLength": 50_000, "pattern": "^(a+)+$|^[[:alpha:]]*$"},
        "items": {"type": "array", "maxItems": 300, "items": {"type": "integer"}},
    },
    "x-kubernetes-validations": [
        {"rule": "!has(self.items) || self.items.all(x, self.items.all(y, x + y >= 0))", "message": "negative"},
        {"rule": "!has(self.text) || self.text.matches('^([a-z]+)*$')", "message": "not letters"},
    ],
}
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.fuzz.example.com"},
    "spec": {
        "group": "fuzz.example.com",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "kind": "Widget"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": SCHEMA}}},
            }
        ],
    },
}
HOSTILE: tuple[dict[str, Any], ...] = (
    {"text": "a" * 40_000 + "!"},
    {"text": "a" * 49_999},
    {"items": list(range(300))},
    {"items": [*range(1, 300), -1]},
    {"unknown": {f"k{number}": number for number in range(20_000)}},
)
KEPT = 50
"""Objects that one client leaves in the store: beyond them it deletes the oldest, so lists do not grow."""


class Grammar:
    """Requests, the same ones for the same seed; `prefix` begins the names of the objects, one for each client."""

    def __init__(self, seed: int, kinds: list[Kind], samples: list[dict[str, Any]], prefix: str = "fuzz") -> None:
        self._dice, self._prefix = random.Random(seed), prefix
        self._fuzzer = Fuzzer(seed, kinds, samples)
        by_kind = {(sample["apiVersion"], sample["kind"]): sample for sample in samples}
        self._sampled = [
            (kind, by_kind[kind.api_version, kind.kind])
            for kind in kinds
            if (kind.api_version, kind.kind) in by_kind and kind.kind not in LEFT_ALONE and "create" in kind.verbs
        ]
        self._made: list[tuple[str, dict[str, Any]]] = []
        self._number = 0

    def attacks(self) -> Iterator[Attack]:
        """Requests without end; the definition that some of them need comes first."""
        yield self._sent("POST", DEFINITIONS, DEFINITION)
        while True:
            yield self._attack()

    def _attack(self) -> Attack:
        if len(self._made) > KEPT:
            return Attack("DELETE", self._made.pop(0)[0])
        choice = self._dice.random()
        if choice < 0.3:
            return next(self._fuzzer.attacks(1))
        if choice < 0.303:
            # Some take half a second of a worker process, with each change again: they are the next to be deleted.
            return self._post(WIDGETS, self._widget(self._dice.choice(HOSTILE)), 0)
        if choice < 0.36:
            return self._post(WIDGETS, self._widget({"text": "abc", "items": [1, 2]}))
        if choice < 0.6 or not self._made:
            return self._create()
        return self._on_known()

    def _widget(self, spec: dict[str, Any]) -> dict[str, Any]:
        metadata = {"name": self._fresh_name()}
        return {"apiVersion": "fuzz.example.com/v1", "kind": "Widget", "metadata": metadata, "spec": spec}

    def _create(self) -> Attack:
        kind, sample = self._dice.choice(self._sampled)
        document: dict[str, Any] = json.loads(json.dumps(sample))
        document["metadata"]["name"] = self._fresh_name()
        document["metadata"].pop("namespace", None)
        path = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
        path += f"/namespaces/default/{kind.plural}" if kind.namespaced else f"/{kind.plural}"
        return self._post(path, document)

    def _post(self, path: str, document: dict[str, Any], place: int = KEPT) -> Attack:
        """Create an object that later requests are about; that of the first place is deleted first."""
        self._made.insert(place, (f"{path}/{document['metadata']['name']}", document))
        return self._sent("POST", path, document)

    def _on_known(self) -> Attack:
        """Read, change or delete an object that was made before."""
        dice = self._dice
        path, document = dice.choice(self._made)
        choice = dice.random()
        if choice < 0.3:
            return Attack("GET", path)
        if choice < 0.4:
            return Attack("GET", path.rpartition("/")[0] + dice.choice(("", "?limit=5", "?labelSelector=a%3Db")))
        if choice < 0.75:
            labels = {"metadata": {"labels": {dice.choice("abc"): dice.choice(("x", "y", None))}}}
            body = json.dumps(labels).encode()
            return Attack("PATCH", path, body, {"content_type": "application/merge-patch+json"})
        if choice < 0.85:
            return self._sent("PATCH", path + "?fieldManager=fuzz&force=true", document, "application/apply-patch+yaml")
        self._made = [made for made in self._made if made[0] != path]
        return Attack("DELETE", path)

    def _fresh_name(self) -> str:
        self._number += 1
        return f"{self._prefix}-{self._number}"

    @staticmethod
    def _sent(method: str, path: str, document: dict[str, Any], media: str = "application/json") -> Attack:
        return Attack(method, path, json.dumps(document).encode(), {"content_type": media})
