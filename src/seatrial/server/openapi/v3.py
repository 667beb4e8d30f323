"""OpenAPI: one v3 document per group and version, under a hash that lets clients keep it."""

import hashlib

from seatrial.model.documents import Document, encode
from seatrial.model.errors import NotAcceptable, NotFound
from seatrial.model.kinds import Kind
from seatrial.model.openapi import group_versions, openapi_document
from seatrial.server.encoding.negotiation import clauses
from seatrial.server.messages import Answer, Request, json_answer
from seatrial.server.openapi.v2 import ASKED, MEDIA, swagger, to_protobuf
from seatrial.store import Memo, Store

JSON_MEDIA = ("application/json", "*/*", "application/*")


class Schemas:
    """Answers /openapi; documents are made on first use and kept while their kinds are unchanged."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._documents: Memo[tuple[tuple[Kind, ...], int], bytes] = Memo(64)
        self._swagger: tuple[str, Document] | None = None

    async def index(self, request: Request) -> Answer:
        """Where each document is; the hash changes with the kinds of the group version."""
        paths = {
            path: {"serverRelativeURL": f"/openapi/v3/{path}?hash={self._hash(kinds)}"}
            for path, kinds in group_versions(self._store.kinds).items()
        }
        return json_answer({"paths": paths})

    async def group_version(self, request: Request, path: str) -> Answer:
        """The document of one group and version."""
        kinds = group_versions(self._store.kinds).get(path)
        if kinds is None:
            raise NotFound("the server could not find the requested resource")
        accepted = clauses(request.header("accept"))
        if accepted and not any(clause.media in JSON_MEDIA for clause in accepted):
            raise NotAcceptable("only the following media types are accepted: application/json")
        hash = self._hash(kinds)
        headers = [(b"etag", f'"{hash}"'.encode()), (b"vary", b"Accept")]
        if request.query.get("hash") == hash:
            headers.append((b"cache-control", b"public, immutable"))
        if request.header("if-none-match").strip('"') == hash:
            return Answer(b"", 304, headers=tuple(headers))
        return Answer(self._document(kinds), headers=tuple(headers))

    async def second_version(self, request: Request) -> Answer:
        """OpenAPI v2: the definitions of all kinds in one document."""
        kinds = list(self._store.kinds)
        if self._swagger is None or self._swagger[0] != self._hash(kinds):
            self._swagger = self._hash(kinds), swagger(kinds, self._custom_schemas(kinds))
        hash, document = self._swagger
        headers = ((b"etag", f'"{hash}"'.encode()), (b"vary", b"Accept"))
        if request.header("if-none-match").strip('"') == hash:
            return Answer(b"", 304, headers=headers)
        if any(clause.media in (ASKED, MEDIA) for clause in clauses(request.header("accept"))):
            return Answer(to_protobuf(document), content_type=MEDIA, headers=headers)
        return Answer(encode(document), headers=headers)

    def _hash(self, kinds: list[Kind]) -> str:
        text = f"{kinds!r}{self._definitions_revision(kinds)}"
        return hashlib.sha256(text.encode()).hexdigest().upper()

    def _document(self, kinds: list[Kind]) -> bytes:
        key = tuple(kinds), self._definitions_revision(kinds)
        if key not in self._documents:
            self._documents[key] = encode(openapi_document(kinds, self._custom_schemas(kinds)))
        return self._documents[key]

    def _definitions_revision(self, kinds: list[Kind]) -> int:
        """The latest revision of the definitions of custom kinds among these."""
        found = (self._definition(kind) for kind in kinds if kind.custom)
        return max((revision for revision, _ in found), default=0)

    def _custom_schemas(self, kinds: list[Kind]) -> dict[tuple[str, str], Document]:
        schemas: dict[tuple[str, str], Document] = {}
        published = self._store.definitions.published
        for kind in kinds:
            if kind.group_kind in published:
                schemas[kind.api_version, kind.kind] = published[kind.group_kind]
            if kind.custom:
                _, definition = self._definition(kind)
                for version in (definition.get("spec") or {}).get("versions") or ():
                    if version.get("name") == kind.version:
                        schema = (version.get("schema") or {}).get("openAPIV3Schema")
                        schemas[kind.api_version, kind.kind] = schema or {"type": "object"}
        return schemas

    def _definition(self, kind: Kind) -> tuple[int, Document]:
        definitions = self._store.kinds.named("apiextensions.k8s.io/v1", "CustomResourceDefinition")
        found = self._store.find(definitions, kind.resource) if definitions is not None else None
        return (found.revision, found.document()) if found is not None else (0, {})
