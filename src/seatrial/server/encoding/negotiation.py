"""Content negotiation: encoding (JSON, YAML, protobuf) and shape (object, Table, metadata only) of a response.

Clauses of an Accept header are tried in the order of their quality, as
k8s.io/apiserver/pkg/endpoints/handlers/negotiation does; the first one that can be given wins.
"""

from dataclasses import dataclass
from functools import lru_cache

from seatrial.model.errors import NotAcceptable

JSON = "application/json"
YAML = "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"
OFFERED = (JSON, YAML, PROTOBUF)

OBJECT = ""
TABLE = "Table"
PARTIAL = "PartialObjectMetadata"
SHAPES = {"Table": TABLE, "PartialObjectMetadata": PARTIAL, "PartialObjectMetadataList": PARTIAL}


@dataclass(frozen=True, slots=True)
class Form:
    """The negotiated form of a response."""

    encoding: str = JSON
    shape: str = OBJECT
    version: str = "v1"

    @property
    def content_type(self) -> str:
        if self.shape and self.encoding == JSON:
            return JSON
        return self.encoding

    @property
    def stream_type(self) -> str:
        """The content type of a watch in this form."""
        if self.encoding == PROTOBUF:
            return PROTOBUF + ";stream=watch"
        return self.encoding


PLAIN = Form()


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause of an Accept header."""

    media: str
    parameters: tuple[tuple[str, str], ...]
    quality: float

    def parameter(self, name: str) -> str:
        return dict(self.parameters).get(name, "")


def clauses(header: str) -> tuple[Clause, ...]:
    """The clauses of an Accept header, best first."""
    found = []
    for text in header.split(","):
        media, *rest = (part.strip() for part in text.split(";"))
        if not media:
            continue
        pairs = tuple((name.strip(), value.strip()) for name, _, value in (part.partition("=") for part in rest))
        found.append(Clause(media.lower(), pairs, _quality(dict(pairs).get("q", "1"))))
    return tuple(sorted(found, key=lambda clause: -clause.quality))


def _quality(text: str) -> float:
    try:
        return min(max(float(text), 0.0), 1.0)
    except ValueError:
        return 1.0


@lru_cache(maxsize=512)
def negotiate(header: str, shapes: frozenset[str] = frozenset(), protobuf: bool = True) -> Form:
    """The form for an Accept header; NotAcceptable where nothing offered suits.

    `shapes` are the transformations the endpoint can do; `protobuf` says whether it can be encoded so.
    """
    if not header:
        return PLAIN
    for clause in clauses(header):
        form = _offer(clause, shapes, protobuf)
        if form is not None:
            return form
    offered = OFFERED if protobuf else (JSON, YAML)
    raise NotAcceptable(f"only the following media types are accepted: {', '.join(offered)}")


def _offer(clause: Clause, shapes: frozenset[str], protobuf: bool) -> Form | None:
    encoding = {"*/*": JSON, "application/*": JSON}.get(clause.media, clause.media)
    if encoding not in OFFERED or (encoding == PROTOBUF and not protobuf):
        return None
    wanted = clause.parameter("as")
    if not wanted:
        return Form(encoding)
    shape, version = SHAPES.get(wanted), clause.parameter("v")
    if shape not in shapes or clause.parameter("g") != "meta.k8s.io" or version not in ("v1", "v1beta1"):
        return None
    if encoding == PROTOBUF and shape == TABLE:
        return None
    return Form(encoding, shape, version)


def media_type(content_type: str) -> str:
    """The bare media type of a Content-Type header."""
    return content_type.partition(";")[0].strip().lower()
