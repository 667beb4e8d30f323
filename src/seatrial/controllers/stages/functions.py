"""The functions a Stage's templates may call: Go's own, and those of KWOK that make sense without a kubelet."""

import base64
import hashlib
import math
from collections.abc import Callable
from ipaddress import ip_address
from typing import Any

import orjson

from seatrial.model import yaml_reader as yamls
from seatrial.model.documents import Document
from seatrial.model.regular_expressions import regex
from seatrial.model.times import to_micro_time

NODE_CONDITIONS = tuple(
    {"type": kind, "status": status, "reason": reason, "message": message}
    for kind, status, reason, message in (
        ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
        ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
        ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
        ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
        ("NetworkUnavailable", "False", "RouteCreated", "RouteController created a route"),
    )
)


def quote(value: Any) -> str:
    """The value as a JSON string."""
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return orjson.dumps(text).decode()


def _or(*values: Any) -> Any:
    return next((value for value in values[:-1] if value), values[-1])


def _and(*values: Any) -> Any:
    return next((value for value in values[:-1] if not value), values[-1])


def _index(value: Any, *keys: Any) -> Any:
    for key in keys:
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and 0 <= key < len(value):
            value = value[key]
        else:
            return None
    return value


def _printf(form: str, *values: Any) -> str:
    return form.replace("%v", "%s").replace("%q", '"%s"') % values


def _yaml(value: Any, indent: int = 0) -> str:
    text: str = yamls.dump(value).rstrip("\n")
    return ("\n" + text).replace("\n", "\n" + "  " * indent) if indent else text


def _address(text: str, network: str, bits: int) -> str:
    """An address of a network, derived from a string; never the first or last address."""
    number = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest()) % (2**bits - 2) + 1
    return str(ip_address(int(ip_address(network)) + number))


def node_ip(node: Any = "") -> str:
    return _address(str(node), "172.16.0.0", 20)


def pod_ip(node: Any = "", host_network: Any = False, uid: Any = "", name: Any = "", namespace: Any = "") -> str:
    """The address of a pod; on the host's network it is the node's."""
    return node_ip(node) if host_network is True else _address(f"{namespace}/{name}", "10.0.0.0", 24)


def _has(value: Any, key: Any) -> bool:
    return isinstance(value, dict) and key in value


def _regex(pattern: str, text: str) -> bool:
    return regex(pattern).matches(text)


PURE: dict[str, Callable[..., Any]] = {
    "and": _and,
    "or": _or,
    "not": lambda value: not value,
    "eq": lambda first, *others: any(first == other for other in others),
    "ne": lambda first, second: first != second,
    "lt": lambda first, second: first < second,
    "le": lambda first, second: first <= second,
    "gt": lambda first, second: first > second,
    "ge": lambda first, second: first >= second,
    "len": len,
    "index": _index,
    "printf": _printf,
    "print": lambda *values: "".join(map(str, values)),
    "dict": lambda *pairs: dict(zip(pairs[::2], pairs[1::2], strict=True)),
    "list": lambda *values: list(values),
    "default": lambda fallback, value=None: value or fallback,
    "add": lambda *values: sum(map(int, values)),
    "sub": lambda first, second: int(first) - int(second),
    "mul": lambda first, second: int(first) * int(second),
    "int": int,
    "toString": str,
    "lower": str.lower,
    "upper": str.upper,
    "trim": str.strip,
    "int64": int,
    "float64": float,
    "atoi": int,
    "div": lambda first, second: int(int(first) / int(second)),
    "mod": lambda first, second: int(math.fmod(int(first), int(second))),
    "max": lambda *values: max(map(int, values)),
    "min": lambda *values: min(map(int, values)),
    "until": lambda count: list(range(count)),
    "empty": lambda value: not value,
    "coalesce": lambda *values: next((value for value in values if value), None),
    "ternary": lambda yes, no, test: yes if test else no,
    "hasKey": _has,
    "get": lambda value, key: value.get(key, ""),
    "keys": lambda *values: [key for value in values for key in value],
    "values": lambda value: list(value.values()),
    "first": lambda values: values[0] if values else None,
    "last": lambda values: values[-1] if values else None,
    "join": lambda separator, values: separator.join(map(str, values)),
    "splitList": lambda separator, text: text.split(separator),
    "replace": lambda old, new, text: text.replace(old, new),
    "contains": lambda part, text: part in text,
    "hasPrefix": lambda part, text: text.startswith(part),
    "hasSuffix": lambda part, text: text.endswith(part),
    "trimPrefix": lambda part, text: text.removeprefix(part),
    "trimSuffix": lambda part, text: text.removesuffix(part),
    "repeat": lambda count, text: text * count,
    "trunc": lambda count, text: text[:count] if count >= 0 else text[count:],
    "indent": lambda count, text: " " * count + text.replace("\n", "\n" + " " * count),
    "nindent": lambda count, text: "\n" + " " * count + text.replace("\n", "\n" + " " * count),
    "squote": lambda value: f"'{value}'",
    "regexMatch": _regex,
    "b64enc": lambda text: base64.b64encode(text.encode()).decode(),
    "b64dec": lambda text: base64.b64decode(text).decode(),
    "sha256sum": lambda text: hashlib.sha256(text.encode()).hexdigest(),
    "toJson": lambda value: orjson.dumps(value).decode(),
    "fromJson": orjson.loads,
    "quote": quote,
    "Quote": quote,
    "YAML": _yaml,
    "NodeConditions": lambda: [dict(condition) for condition in NODE_CONDITIONS],
    "Version": lambda: "seatrial",
    "NodeIPWith": node_ip,
    "NodeIPsWith": lambda node: [node_ip(node)],
    "PodIPWith": pod_ip,
    "PodIPsWith": lambda *about: [pod_ip(*about)],
    "NodePort": lambda: 0,
}


def functions_at(now: int, start: int, document: Document) -> dict[str, Callable[..., Any]]:
    """All functions, as they are for this object at this moment."""
    name = document["metadata"].get("name", "")
    return PURE | {
        "Now": lambda: to_micro_time(now),
        "StartTime": lambda: to_micro_time(start),
        "NodeName": lambda: name,
        "NodeIP": lambda: node_ip(name),
        "NodeIPs": lambda: [node_ip(name)],
    }
