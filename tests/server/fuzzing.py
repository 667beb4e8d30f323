"""Hostile requests from a seed: random bytes on every route, wrong types, deep nesting, huge numbers, bad patches."""

import json
import random
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from seatrial.model.kinds import Kind

NAMES = ("a", "b", "default", "kube-system", "x" * 300, "Ä", "..", "%2F", "a b", "a\u0000", "-", "A")
SCALARS: tuple[Any, ...] = (
    None, True, False, 0, -1, 2**31, 2**63, -(2**63), 10**30, 1e308, -0.0, 0.1, "", "x", "0", "1Gi", "-5", "1e999",
    "\u0000", "\ud7ff", "é" * 100, "²", "9" * 5_000,
    "2030-01-01T00:00:00Z", "not a time", [], {}, [[]], [None], {"": None},
    {"x": {"y": {"z": 1}}}, "%", "$patch", "a/b/c", "*",
)  # fmt: skip
FIELDS = (
    "metadata", "name", "namespace", "labels", "annotations", "finalizers", "ownerReferences", "managedFields", "uid",
    "resourceVersion", "generation", "deletionTimestamp", "creationTimestamp", "spec", "status", "containers", "image",
    "resources", "requests", "limits", "cpu", "selector", "matchLabels", "matchExpressions", "template", "replicas",
    "data", "conditions", "type", "tolerations", "affinity", "nodeName", "kind", "apiVersion", "$patch", "$retainKeys",
    "$setElementOrder/containers", "$deleteFromPrimitiveList/finalizers", "volumes", "ports", "items", "versions",
)  # fmt: skip
METHODS = ("GET",) * 4 + ("POST",) * 10 + ("PUT",) * 4 + ("PATCH",) * 8 + ("DELETE",) * 2 + ("HEAD", "OPTIONS", "TRACE")
PATCHES = (
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
)
BODIES = ("application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "text/plain", "", "a;b=c;;")
ACCEPTS = (
    "",
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
    "application/json;as=Table;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    "text/html",
    ";;;q=x,,,",
)
QUERIES: dict[str, tuple[str, ...]] = {
    "limit": ("1", "0", "-1", "x", "9" * 5_000),
    "continue": ("x", "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhXHUwMDAwIn0"),
    "resourceVersion": ("0", "1", "x", "-1", "9" * 5_000),
    "resourceVersionMatch": ("Exact", "NotOlderThan", "x"),
    "labelSelector": ("a=b", "a in (b,c)", "!a", "a=", "((", "a==b==c", "a>1", "=" * 50),
    "fieldSelector": ("metadata.name=a", "status.phase!=x", "x=y", "a", "\\", "spec.nodeName="),
    "dryRun": ("All", "x"),
    "fieldManager": ("m", "m" * 300, "\u0001"),
    "fieldValidation": ("Strict", "Warn", "Ignore", "x"),
    "force": ("true", "x"),
    "gracePeriodSeconds": ("0", "-1", "x"),
    "propagationPolicy": ("Foreground", "Orphan", "x"),
    "pretty": ("true",),
    "includeObject": ("Object", "None", "x"),
    "watch": ("false", "0"),
    "timeoutSeconds": ("1", "x"),
    "sendInitialEvents": ("true", "false"),
    "verbose": ("",),
}
RAW_PATHS = (
    "/", "/api", "/apis", "/version", "/openapi/v3", "/openapi/v3/api/v1", "/openapi/v2", "/metrics", "/healthz", "//",
    "/api/v1/", "/apis/apps/v1/x", "/api/v1/namespaces/default", "/apis/apps", "/api/v1/namespaces//pods", "/%00",
    "/api/v1/namespaces/default/pods/a/b/c/d/e",
)  # fmt: skip


@dataclass
class Attack:
    method: str
    path: str
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)


class Fuzzer:
    """Requests, the same ones for the same seed."""

    def __init__(self, seed: int, kinds: list[Kind], samples: list[dict[str, Any]]) -> None:
        self._random = random.Random(seed)
        self._kinds = kinds
        self._samples = samples

    def attacks(self, number: int) -> Iterator[Attack]:
        for _ in range(number):
            yield self._attack()

    def _attack(self) -> Attack:
        dice, kind = self._random, self._random.choice(self._kinds)
        method = dice.choice(METHODS)
        path = dice.choice(RAW_PATHS) if dice.random() < 0.05 else self._path(kind, method)
        headers = {"accept": dice.choice(ACCEPTS) if dice.random() < 0.3 else ""}
        body = None
        if method in ("POST", "PUT", "PATCH", "DELETE"):
            headers["content_type"] = dice.choice(PATCHES if method == "PATCH" else BODIES[:1] * 20 + BODIES)
            body = self._body(kind, method, headers["content_type"])
        return Attack(method, self._with_query(path), body, headers)

    def _path(self, kind: Kind, method: str) -> str:
        dice = self._random
        path = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
        if kind.namespaced and dice.random() < 0.9:
            path += f"/namespaces/{self._name()}"
        path += f"/{kind.plural}"
        if dice.random() < (0.15 if method == "POST" else 0.8):
            path += f"/{self._name()}"
            if dice.random() < 0.25:
                path += "/" + dice.choice((*kind.subresources, "status", "scale", "nonsense"))
        return path

    def _name(self) -> str:
        name = self._random.choice(NAMES[:3]) if self._random.random() < 0.8 else self._random.choice(NAMES)
        return "".join(c if c.isascii() and c.isprintable() and c != " " else f"%{ord(c):02X}" for c in name)

    def _with_query(self, path: str) -> str:
        dice = self._random
        chosen = dice.sample(sorted(QUERIES), dice.choice((0, 0, 0, 1, 2, 4)))
        pairs = [f"{name}={self._escaped(dice.choice(QUERIES[name]))}" for name in chosen]
        return path + ("?" + "&".join(pairs) if pairs else "")

    @staticmethod
    def _escaped(text: str) -> str:
        return "".join(c if c.isalnum() else f"%{ord(c):02X}" for c in text)

    def _body(self, kind: Kind, method: str, media: str) -> bytes:
        dice = self._random
        choice = dice.random()
        if choice < 0.04:
            return dice.randbytes(dice.choice((0, 1, 10, 200)))
        if choice < 0.06:
            depth = dice.choice((100, 200, 260, 900, 5000))
            return b'{"metadata":{"name":"a"},"spec":' + b'{"a":' * depth + b"1" + b"}" * depth + b"}"
        if choice < 0.07:
            return b"[" * 900 + b"]" * 900
        if media == "application/vnd.kubernetes.protobuf":
            return b"k8s\0" + dice.randbytes(dice.choice((5, 50, 500)))
        if media == "application/json-patch+json":
            return json.dumps([self._operation() for _ in range(dice.randint(0, 4))]).encode()
        document = self._mutated(self._sample(kind), dice.choice((0, 1, 1, 2, 4, 8)))
        return json.dumps(document).encode()

    def _sample(self, kind: Kind) -> dict[str, Any]:
        found = [s for s in self._samples if s["kind"] == kind.kind and s["apiVersion"] == kind.api_version]
        sample = found[0] if found and self._random.random() < 0.8 else self._random.choice(self._samples)
        copy: dict[str, Any] = json.loads(json.dumps(sample))
        copy["metadata"]["name"] = self._random.choice(NAMES[:2])
        copy["metadata"].pop("namespace", None)
        return copy

    def _operation(self) -> Any:
        dice = self._random
        path = "".join("/" + dice.choice((*FIELDS, "0", "-", "99999", "~1", "~2")) for _ in range(dice.randint(0, 4)))
        operation = dice.choice(("add", "remove", "replace", "move", "copy", "test", "nonsense"))
        return dice.choice(
            (
                {"op": operation, "path": path, "value": self._value(2)},
                {"op": operation, "path": path, "from": path[:10]},
                {"op": operation},
                self._value(1),
            )
        )

    def _mutated(self, document: Any, times: int) -> Any:
        for _ in range(times):
            self._mutate(document)
        return document

    def _mutate(self, document: Any) -> None:
        dice, place = self._random, document
        while isinstance(place, dict | list) and place:
            if isinstance(place, dict):
                key = dice.choice((*place, dice.choice(FIELDS)))
                child = place.get(key)
            else:
                key = dice.randrange(len(place))
                child = place[key]
            if not isinstance(child, dict | list) or not child or dice.random() < 0.3:
                place[key] = self._value(3)
                return
            place = child

    def _value(self, depth: int) -> Any:
        dice = self._random
        if depth == 0 or dice.random() < 0.6:
            return deepcopy(dice.choice(SCALARS))
        if dice.random() < 0.5:
            return [self._value(depth - 1) for _ in range(dice.randint(0, 3))]
        return {dice.choice(FIELDS): self._value(depth - 1) for _ in range(dice.randint(0, 3))}
