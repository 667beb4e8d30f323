"""A small HTTP client of `seatrial serve --insecure` that knows every built-in kind."""

import http.client
import json
from typing import Any

from seatrial.model.builtin import builtin_kinds, newer_kinds
from seatrial.model.kinds import Kind, Kinds
from tests.known_kinds import known_kind
from tests.outside.whole_runs.shape import Document, Operation

KINDS = Kinds([*builtin_kinds(), *newer_kinds().values()])


def path_of(kind: Kind, name: str = "") -> str:
    """Where the API serves a kind of the namespace default or of none, or one object of it."""
    root = f"/apis/{kind.api_version}" if kind.group else f"/api/{kind.version}"
    within = "/namespaces/default" if kind.namespaced else ""
    return f"{root}{within}/{kind.plural}" + (f"/{name}" if name else "")


class Api:
    """Requests on one connection."""

    def __init__(self, url: str) -> None:
        self._connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=30)

    def call(self, method: str, path: str, body: Any = None, kind: str = "application/json") -> Any:
        self._connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": kind})
        answer = self._connection.getresponse()
        data = answer.read()
        assert answer.status < 300, f"{method} {path}: {data!r}"
        return json.loads(data)

    def carry_out(self, operation: Operation) -> Document:
        """Writes, and returns the object as the server answers."""
        kind = known_kind(KINDS, operation.api_version, operation.kind)
        answer: Document
        if operation.verb == "create":
            answer = self.call("POST", path_of(kind), operation.body)
            return answer
        path = path_of(kind, operation.name)
        if operation.verb == "delete":
            answer = self.call("DELETE", path, {"gracePeriodSeconds": 0})
            return answer
        path += f"/{operation.subresource}" if operation.subresource else ""
        kinds = {"patch": "merge-patch", "strategic": "strategic-merge-patch"}
        answer = self.call("PATCH", path, operation.body, f"application/{kinds[operation.verb]}+json")
        return answer

    def listed(self, api_version: str, kind: str) -> list[Document]:
        """The objects of the namespace default, or of the cluster."""
        items: list[Document] = self.call("GET", path_of(known_kind(KINDS, api_version, kind)))["items"]
        return items

    def close(self) -> None:
        self._connection.close()
