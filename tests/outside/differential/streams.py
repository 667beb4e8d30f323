"""Watches, and answers in protobuf."""

from collections.abc import Iterator
from typing import Any

from tests.outside.differential.every_kind import NAMESPACE
from tests.outside.differential.steps import MERGE_PATCH, PARTIAL, PROTOBUF, TABLE, Step

MAPS = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
OURS = "labelSelector=stream%3D1"
Document = dict[str, Any]


def steps() -> Iterator[Step]:
    """A few objects, watched and read in several ways."""
    for name in ("s1", "s2"):
        meta = {"name": name, "labels": {"stream": "1"}}
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"a": "1"}}
        yield Step(f"stream: create {name}", "POST", MAPS, body)
    yield Step("stream: patch", "PATCH", f"{MAPS}/s1", {"data": {"a": "2"}}, MERGE_PATCH)
    yield from _watches()
    yield from _protobuf()
    for name in ("s1", "s2"):
        yield Step(f"stream: delete {name}", "DELETE", f"{MAPS}/{name}")


def _watches() -> Iterator[Step]:
    watch = f"{MAPS}?watch=true&timeoutSeconds=1&{OURS}"
    yield Step("watch: from now on", "GET", watch)
    yield Step("watch: from the cache", "GET", f"{watch}&resourceVersion=0")
    yield Step("watch: with bookmarks", "GET", f"{watch}&resourceVersion=0&allowWatchBookmarks=true")
    streaming = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    yield Step("watch: a streaming list", "GET", f"{watch}&{streaming}")
    yield Step("watch: a streaming list without a match", "GET", f"{watch}&sendInitialEvents=true")
    yield Step("watch: a match without a list", "GET", f"{watch}&resourceVersionMatch=NotOlderThan")
    yield Step("watch: tables", "GET", f"{watch}&resourceVersion=0", None, TABLE)
    yield Step("watch: metadata", "GET", f"{watch}&resourceVersion=0", None, PARTIAL)
    yield Step("watch: one object", "GET", f"{MAPS}?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Ds1")
    yield Step("watch: the old way", "GET", f"/api/v1/watch/namespaces/{NAMESPACE}/configmaps/s1?timeoutSeconds=1")
    yield Step("watch: a bad revision", "GET", f"{watch}&resourceVersion=x")
    yield Step("watch: a bad selector", "GET", f"{MAPS}?watch=true&labelSelector=a%20b%20c")
    yield Step("watch: what does not exist", "GET", "/api/v1/nothings?watch=true")
    yield Step("list: an exact revision without one", "GET", f"{MAPS}?resourceVersionMatch=Exact")
    yield Step("list: in chunks", "GET", f"{MAPS}?limit=1&{OURS}")
    yield Step("list: a bad token", "GET", f"{MAPS}?limit=1&continue=x")


def _protobuf() -> Iterator[Step]:
    yield Step("protobuf: get", "GET", f"{MAPS}/s1", None, PROTOBUF)
    yield Step("protobuf: list", "GET", f"{MAPS}?{OURS}", None, PROTOBUF)
    yield Step("protobuf: what is not there", "GET", f"{MAPS}/missing", None, PROTOBUF)
    yield Step("protobuf: patch", "PATCH", f"{MAPS}/s1", {"data": {"b": "1"}}, MERGE_PATCH | PROTOBUF)
    yield Step("protobuf: a namespace", "GET", f"/api/v1/namespaces/{NAMESPACE}", None, PROTOBUF)
    yield Step("protobuf: a role", "GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles/view", None, PROTOBUF)
    body = {"Content-Type": "application/vnd.kubernetes.protobuf"}
    yield Step("protobuf: a body that is none", "POST", MAPS, b"{}", body)
