"""JSONPath as CustomResourceDefinitions use it for printer columns: fields, indices, wildcards, filters by equality.

Upstream: k8s.io/client-go/util/jsonpath; printer columns allow its simple form only.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any

Step = Callable[[Iterable[Any]], list[Any]]
TOKEN = re.compile(
    r"""\.\.(?P<deep>[\w-]+) | \.(?P<field>(?:\\.|[\w-])+)
      | \.?\[(?P<index>-?\d+)\] | \.?\[(?P<all>\*)\] | \.(?P<star>\*)
      | \.?\['(?P<quoted>(?:\\.|[^'])+)'\] | \.?\[\?\(@\.(?P<key>[\w.-]+)\s*==\s*["'](?P<value>[^"']*)["']\)\]""",
    re.VERBOSE,
)


def _steps(path: str) -> tuple[Step, ...] | None:
    """The steps of a path; None if the path has a form that is not supported."""
    text = path.strip().removeprefix("{").removesuffix("}").removeprefix("$")
    found: list[Step] = []
    position = 0
    while position < len(text):
        token = TOKEN.match(text, position)
        if token is None:
            return None
        found.append(_step(token))
        position = token.end()
    return tuple(found)


def finder(path: str) -> Callable[[Any], list[Any]]:
    """Returns all values that a path leads to in a document: none if the path has a form that is not supported."""
    chain = _steps(path) or (lambda _: [],)

    def find(document: Any) -> list[Any]:
        values = [document]
        for step in chain:
            values = step(values)
        return values

    return find


def _step(token: "re.Match[str]") -> Step:
    groups = token.groupdict()
    if groups["index"] is not None:
        index = int(groups["index"])
        return lambda values: [v[index] for v in values if isinstance(v, list) and -len(v) <= index < len(v)]
    if groups["all"] or groups["star"]:
        return lambda values: [item for v in values for item in _children(v)]
    if groups["key"] is not None:
        keys, wanted = groups["key"].split("."), groups["value"]
        return lambda values: [i for v in values for i in _children(v) if str(_follow(i, keys)) == wanted]
    if groups["deep"] is not None:
        return lambda values: [found for v in values for found in _deep(v, groups["deep"])]
    name = re.sub(r"\\(.)", r"\1", groups["field"] or groups["quoted"])
    return lambda values: [v[name] for v in values if isinstance(v, dict) and name in v]


def _children(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _follow(value: Any, keys: list[str]) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _deep(value: Any, name: str) -> Iterable[Any]:
    if isinstance(value, dict) and name in value:
        yield value[name]
    for child in _children(value):
        yield from _deep(child, name)
