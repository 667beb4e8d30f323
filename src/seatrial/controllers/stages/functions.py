"""The functions a Stage's templates may call: Go's own, and those of KWOK that make sense without a kubelet."""

from collections.abc import Callable
from typing import Any

import orjson

from seatrial.model import yamls
from seatrial.model.times import to_micro_time

NODE_CONDITIONS = tuple(
    {"type": kind, "status": status, "reason": reason, "message": message}
    for kind, status, reason, message in (
        ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
        ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
        ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
        ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
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
    "quote": quote,
    "Quote": quote,
    "YAML": _yaml,
    "NodeConditions": lambda: [dict(condition) for condition in NODE_CONDITIONS],
    "Version": lambda: "seatrial",
    "NodeIP": lambda: "",
    "NodeIPs": list,
    "NodeIPWith": lambda *_: "",
    "NodeIPsWith": lambda *_: [],
    "PodIPWith": lambda *_: "",
    "PodIPsWith": lambda *_: [],
    "NodePort": lambda: 0,
}


def functions_at(now: int, start: int, name: str) -> dict[str, Callable[..., Any]]:
    """All functions, as they are for the object `name` at this moment."""
    return PURE | {
        "Now": lambda: to_micro_time(now),
        "StartTime": lambda: to_micro_time(start),
        "NodeName": lambda: name,
    }
