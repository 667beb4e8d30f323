"""Random documents and patches of four kinds: small, valid in shape, and often at odds with each other."""

import random
from typing import Any

KINDS = {"Pod": "v1", "Deployment": "apps/v1", "Service": "v1", "Node": "v1"}
MERGE_KEYS = {
    "containers": "name", "env": "name", "ports": "containerPort", "volumes": "name", "finalizers": "",
    "conditions": "type", "addresses": "type", "hostAliases": "ip", "imagePullSecrets": "name",
    "volumeMounts": "mountPath", "ownerReferences": "uid", "topologySpreadConstraints": "topologyKey",
    "taints": "key", "podCIDRs": "", "clusterIPs": "",
}  # fmt: skip
IDENTITIES = frozenset("name containerPort port ip uid type topologyKey mountPath key".split())


class Documents:
    """A source of random documents; the same seed gives the same ones."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def one(self, *options: Any) -> Any:
        return self.random.choice(options)

    def maybe(self, share: float = 0.5) -> bool:
        return self.random.random() < share

    def several(self, make: Any, most: int, key: str = "", least: int = 0) -> list[Any]:
        """A few items; of those with one key only the first."""
        items = [make() for _ in range(self.random.randint(least, most))]
        return list({item[key]: item for item in reversed(items)}.values())[::-1] if key else items

    def document(self, kind: str) -> dict[str, Any]:
        match kind:
            case "Pod":
                document = {"metadata": self.metadata(), "spec": self.pod_spec()}
                if self.maybe():
                    condition = {"type": self.one(*"AB"), "status": self.one("True", "False")}
                    document["status"] = {"conditions": [condition]}
                return document
            case "Deployment":
                rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": self.one(1, "25%")}}
                template = {"metadata": self.metadata(), "spec": self.pod_spec()}
                spec = {"replicas": self.random.randint(0, 3), "strategy": self.one({"type": "Recreate"}, rolling)}
                return {"metadata": self.metadata(), "spec": {**spec, "template": template}}
            case "Service":
                spec = {"ports": self.several(self.service_port, 3), "selector": {"a": "b"}}
                if self.maybe():
                    spec["clusterIPs"] = self.random.sample(["1", "2"], self.random.randint(0, 2))
                return {"metadata": self.metadata(), "spec": spec}
        spec = {
            "taints": self.several(lambda: {"key": self.one(*"ab"), "effect": self.one("NoSchedule", "NoExecute")}, 2)
        }
        if self.maybe():
            spec["podCIDRs"] = self.random.sample(["1", "2", "3"], self.random.randint(0, 3))
        addresses = self.several(lambda: {"type": self.one(*"AB"), "address": self.one(*"12")}, 2, "type")
        return {"metadata": self.metadata(), "spec": spec, "status": {"addresses": addresses}}

    def metadata(self) -> dict[str, Any]:
        metadata: dict[str, Any] = {"name": "n"}
        if self.maybe():
            metadata["labels"] = {self.one(*"abc"): self.one(*"123") for _ in range(self.random.randint(0, 3))}
        if self.maybe():
            metadata["finalizers"] = self.random.sample(["f1", "f2", "f3", "f4"], self.random.randint(0, 4))
        if self.maybe(0.3):
            owner = lambda: {"uid": self.one(*"uv"), "name": self.one(*"ab"), "kind": "K", "apiVersion": "v1"}
            metadata["ownerReferences"] = self.several(owner, 2, "uid")
        return metadata

    def service_port(self) -> dict[str, Any]:
        return {"port": self.one(80, 81), "protocol": self.one("TCP", "UDP"), "name": self.one(*"ab")}

    def pod_spec(self) -> dict[str, Any]:
        spec: dict[str, Any] = {"containers": self.several(self.container, 3, "name", 1)}
        spread = lambda: {
            "maxSkew": self.one(1, 2),
            "topologyKey": self.one("z", "h"),
            "whenUnsatisfiable": self.one("DoNotSchedule", "ScheduleAnyway"),
        }
        term = {"matchExpressions": [{"key": "a", "operator": "Exists"}]}
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
        for name, share, make in (
            ("volumes", 0.4, lambda: self.several(self.volume, 2, "name")),
            ("tolerations", 0.4, lambda: self.several(lambda: {"key": self.one(*"ab"), "operator": "Exists"}, 2)),
            ("nodeSelector", 0.4, lambda: {self.one(*"ab"): self.one(*"12")}),
            ("topologySpreadConstraints", 0.3, lambda: self.several(spread, 2)),
            ("imagePullSecrets", 0.3, lambda: self.several(lambda: {"name": self.one(*"pq")}, 2, "name")),
            ("hostAliases", 0.3, lambda: self.several(self.host_alias, 2, "ip")),
            ("affinity", 0.3, lambda: {"nodeAffinity": required}),
        ):
            if self.maybe(share):
                spec[name] = make()
        return spec

    def host_alias(self) -> dict[str, Any]:
        return {"ip": self.one("1.1.1.1", "2.2.2.2"), "hostnames": ["h"]}

    def volume(self) -> dict[str, Any]:
        config = {"configMap": {"name": "m", "items": [{"key": "a", "path": "b"}]}}
        return {"name": self.one(*"vw"), **self.one({"emptyDir": {}}, {"hostPath": {"path": "/x"}}, config)}

    def container(self) -> dict[str, Any]:
        container: dict[str, Any] = {"name": self.one("c1", "c2", "c3")}
        reference = lambda: {"valueFrom": {"fieldRef": {"fieldPath": self.one("a", "b")}}}
        variable = lambda: {"name": self.one(*"ABC"), **self.one({"value": self.one("1", "2")}, reference())}
        for name, share, make in (
            ("image", 0.5, lambda: self.one("i", "j")),
            ("env", 0.5, lambda: self.several(variable, 3, "name")),
            ("ports", 0.4, lambda: self.several(self.container_port, 2)),
            ("args", 0.3, lambda: self.random.sample(["a", "b", "c"], self.random.randint(0, 3))),
            ("resources", 0.3, lambda: {"limits": {"cpu": "1"}, "requests": {self.one("cpu", "memory"): "1"}}),
            ("volumeMounts", 0.2, lambda: [{"name": "v", "mountPath": self.one("/a", "/b")}]),
        ):
            if self.maybe(share):
                container[name] = make()
        return container

    def container_port(self) -> dict[str, Any]:
        port = {"containerPort": self.one(80, 443, 8080)}
        if self.maybe():
            port["protocol"] = self.one("TCP", "UDP")
        return {**port, "name": self.one(*"xy")} if self.maybe(0.3) else port

    def thinned(self, value: Any, depth: int = 0) -> Any:
        """A part of a document, as somebody who cares for only some of it applies it."""
        if isinstance(value, dict):
            kept = {}
            for key, item in value.items():
                if depth and self.maybe(0.3) and key not in IDENTITIES:
                    continue
                kept[key] = None if depth > 2 and self.maybe(0.01) else self.thinned(item, depth + 1)
            return kept
        if isinstance(value, list):
            items = [self.thinned(item, depth + 1) for item in value if self.maybe(0.85)]
            if self.maybe(0.2):
                self.random.shuffle(items)
            return items
        return value

    def patch(self, value: Any, name: str = "", depth: int = 0) -> Any:
        """A document turned into a strategic merge patch, directives, nulls and nonsense included."""
        if isinstance(value, list):
            return self._list_patch(value, name, depth)
        if not isinstance(value, dict):
            return value
        patch: dict[str, Any] = {}
        for key, item in value.items():
            roll = self.random.random()
            if roll < 0.25 and depth and key != "name":
                continue
            if roll < 0.35:
                patch[key] = None if roll < 0.33 else self.one(1, "s", True, [], {})
                continue
            patch[key] = self.patch(item, key, depth + 1)
            if isinstance(item, list) and key in MERGE_KEYS:
                self._order(patch, key)
        if self.maybe(0.04):
            patch["$patch"] = self.one("replace", "delete", "merge", "bad")
        if self.maybe(0.05):
            patch["$retainKeys"] = self.one([k for k in patch if not k.startswith("$")], ["type"], "x", ["a", "b"])
        if self.maybe(0.01):
            patch[self.one("unknown", "$setElementOrder")] = self.one(1, {"a": {"b": 1}}, ["a"])
        return patch

    def _list_patch(self, value: list[Any], name: str, depth: int) -> list[Any]:
        items = [self.patch(item, name, depth + 1) for item in value if self.maybe(0.85)]
        merge_key = MERGE_KEYS.get(name)
        if merge_key and self.maybe(0.2):
            directive = self.one(*["delete"] * 6, "replace", "merge", "bad")
            items.append({merge_key: self.one("c1", "c2", "c3", "A", "B", 80, "v"), "$patch": directive})
        if self.maybe(0.03):
            items.append({"$patch": self.one("replace", "delete")})
        if self.maybe(0.01):
            items.append(self.one(1, "x", [1]))
        return items

    def _order(self, patch: dict[str, Any], key: str) -> None:
        merge_key, items = MERGE_KEYS[key], patch[key] if isinstance(patch[key], list) else []
        if self.maybe(0.35):
            if merge_key:
                order = [{merge_key: i[merge_key]} for i in items if isinstance(i, dict) and merge_key in i]
                extra = [{"name": name} for name in ("c1", "c2", "A") if self.maybe(0.3) and merge_key == "name"]
                order += [item for item in extra if item not in order]
            else:
                order = [*items, *(f for f in ("f1", "f2", "f3") if f not in items and self.maybe(0.4))]
            if self.maybe(0.15):
                self.random.shuffle(order)
            patch[f"$setElementOrder/{key}"] = [] if self.maybe(0.1) else order
        if not merge_key and self.maybe(0.3):
            patch[f"$deleteFromPrimitiveList/{key}"] = self.random.sample(["f1", "f2", "f9"], self.random.randint(0, 3))

    def operations(self, document: Any) -> list[dict[str, Any]]:
        """A JSON patch that mostly points into the document."""
        operations = []
        for _ in range(self.random.randint(0, 4)):
            operation = {"op": self.one("add", "remove", "replace", "move", "copy", "test")}
            operation["path"] = self._pointer(document)
            operation["from"] = self._pointer(document)
            if self.maybe(0.8):
                operation["value"] = self.one(1, "x", {"a": 1}, [1, 2], True, {"a": {"b": None}}, "1")
            operations.append(operation)
        return operations

    def _pointer(self, value: Any) -> str:
        if self.maybe(0.15):
            return self.one("/x/y", "/metadata/labels/a~1b", "/spec/-", "a/b", "/metadata/finalizers/-1", "/9")
        path = ""
        while isinstance(value, dict | list) and value and self.maybe(0.8):
            key = self.random.choice(list(value)) if isinstance(value, dict) else self.random.randrange(len(value))
            path, value = f"{path}/{key}", value[key]
        return f"{path}/{self.one('new', '-', '0')}" if self.maybe(0.2) or not path else path
