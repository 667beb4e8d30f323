"""Discovery: which groups, versions and resources there are, plain and aggregated.

Upstream: k8s.io/apiserver/pkg/endpoints/discovery and its aggregated form (apidiscovery.k8s.io/v2).
"""

import base64
import hashlib
from collections.abc import Iterable

from seatrial.model.documents import Document, encode
from seatrial.model.errors import NotFound
from seatrial.model.kinds import Kind, Kinds
from seatrial.server.encoding.negotiation import clauses
from seatrial.server.messages import Answer, Request, json_answer

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList"
SCALE_PART = ("autoscaling", "v1", "Scale")


class Discovery:
    """Answers /api, /apis and what is directly below."""

    def __init__(self, kinds: Kinds, address: str = "127.0.0.1") -> None:
        self._kinds = kinds
        self._address = address

    async def core_versions(self, request: Request) -> Answer:
        """/api: the versions of the core group, or the aggregated form of it."""
        version = _aggregated_version(request)
        if version:
            return self._aggregate(request, version, core=True)
        addresses = [{"clientCIDR": "0.0.0.0/0", "serverAddress": self._address}]
        body = {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": addresses}
        return json_answer(body)

    async def groups(self, request: Request) -> Answer:
        """/apis: all groups, or the aggregated form of them."""
        version = _aggregated_version(request)
        if version:
            return self._aggregate(request, version, core=False)
        groups = [self._group(name) for name in self._group_names() if name]
        return json_answer({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})

    async def group(self, request: Request, name: str) -> Answer:
        """/apis/{group}: its versions."""
        if name not in self._group_names() or not name:
            raise NotFound("the server could not find the requested resource")
        return json_answer({"kind": "APIGroup", "apiVersion": "v1"} | self._group(name))

    async def resources(self, request: Request, group: str, version: str) -> Answer:
        """/apis/{group}/{version}: its resources."""
        kinds = [kind for kind in self._kinds if (kind.group, kind.version) == (group, version)]
        if not kinds:
            raise NotFound("the server could not find the requested resource")
        resources = [part for kind in kinds for part in _api_resources(kind)]
        body = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": kinds[0].api_version}
        return json_answer(body | {"resources": resources})

    def _group_names(self) -> list[str]:
        return list(dict.fromkeys(kind.group for kind in self._kinds))

    def _versions(self, group: str) -> list[str]:
        return list(dict.fromkeys(kind.version for kind in self._kinds if kind.group == group))

    def _group(self, name: str) -> Document:
        versions = [{"groupVersion": f"{name}/{version}", "version": version} for version in self._versions(name)]
        return {"name": name, "versions": versions, "preferredVersion": versions[0]}

    def _aggregate(self, request: Request, version: str, *, core: bool) -> Answer:
        names = [name for name in self._group_names() if bool(name) != core]
        items = [self._aggregated_group(name) for name in names]
        body = encode(
            {
                "kind": "APIGroupDiscoveryList",
                "apiVersion": f"apidiscovery.k8s.io/{version}",
                "metadata": {},
                "items": items,
            }
        )
        etag = f'"{hashlib.sha256(body).hexdigest().upper()}"'
        headers = ((b"etag", etag.encode()), (b"vary", b"Accept"))
        content_type = AGGREGATED.format(version=version)
        if request.header("if-none-match") == etag:
            return Answer(b"", 304, content_type, headers)
        return Answer(body, 200, content_type, headers)

    def _aggregated_group(self, name: str) -> Document:
        versions = []
        for version in self._versions(name):
            kinds = [kind for kind in self._kinds if (kind.group, kind.version) == (name, version)]
            resources = [_aggregated_resource(kind) for kind in kinds]
            versions.append({"version": version, "resources": resources, "freshness": "Current"})
        metadata: Document = {"creationTimestamp": None} | ({"name": name} if name else {})
        return {"metadata": metadata, "versions": versions}


def _aggregated_version(request: Request) -> str:
    """The version of the aggregated form that the client prefers over the plain one; empty where it does not."""
    for clause in clauses(request.header("accept")):
        if clause.parameter("as") == "APIGroupDiscoveryList" and clause.parameter("g") == "apidiscovery.k8s.io":
            version = clause.parameter("v")
            if version in ("v2", "v2beta1"):
                return version
        elif clause.media in ("application/json", "*/*", "application/*") and not clause.parameter("as"):
            return ""
    return ""


def _api_resources(kind: Kind) -> Iterable[Document]:
    resource: Document = {
        "name": kind.plural,
        "singularName": kind.singular,
        "namespaced": kind.namespaced,
        "kind": kind.kind,
        "verbs": list(kind.verbs),
    }
    if kind.short_names:
        resource["shortNames"] = list(kind.short_names)
    if kind.categories:
        resource["categories"] = list(kind.categories)
    if "list" in kind.verbs:
        resource["storageVersionHash"] = _storage_hash(kind)
    yield resource
    for name, group, version, other, verbs in _parts(kind):
        part: Document = {"name": f"{kind.plural}/{name}", "singularName": "", "namespaced": kind.namespaced}
        if (group, version) != (kind.group, kind.version):
            part |= {"group": group, "version": version}
        yield part | {"kind": other, "verbs": list(verbs)}


def _aggregated_resource(kind: Kind) -> Document:
    resource: Document = {
        "resource": kind.plural,
        "responseKind": _response_kind(kind.group, kind.version, kind.kind),
        "scope": "Namespaced" if kind.namespaced else "Cluster",
        "singularResource": kind.singular,
        "verbs": list(kind.verbs),
    }
    if kind.short_names:
        resource["shortNames"] = list(kind.short_names)
    if kind.categories:
        resource["categories"] = list(kind.categories)
    parts = [
        {"subresource": name, "responseKind": _response_kind(group, version, other), "verbs": list(verbs)}
        for name, group, version, other, verbs in _parts(kind)
    ]
    return resource | ({"subresources": parts} if parts else {})


def _parts(kind: Kind) -> Iterable[tuple[str, str, str, str, tuple[str, ...]]]:
    """Name, group, version, kind and verbs of each subresource."""
    for name in kind.subresources:
        facts = kind.subresource(name)
        if facts is not None:
            yield name, facts.group, facts.version, facts.kind, facts.verbs
        else:
            group, version, other = SCALE_PART if name == "scale" else (kind.group, kind.version, kind.kind)
            yield name, group, version, other, ("get", "patch", "update")


def _response_kind(group: str, version: str, kind: str) -> Document:
    return {"group": group, "version": version, "kind": kind}


def _storage_hash(kind: Kind) -> str:
    digest = hashlib.sha256(f"{kind.group}/{kind.version}/{kind.kind}".encode()).digest()[:8]
    return base64.b64encode(digest).decode()
