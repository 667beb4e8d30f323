"""YAML responses and request bodies."""

from typing import Any

from seatrial.model.documents import Document
from seatrial.model.errors import BadRequest
from seatrial.model.yaml_reader import YamlError, dump_pieces, load


def to_yaml(document: Document | list[Document]) -> bytes:
    """The document as YAML."""
    return "".join(dump_pieces(document)).encode()


def from_yaml(data: bytes) -> Any:
    """The one document of a YAML text."""
    try:
        return load(data)
    except YamlError as error:
        raise BadRequest(f"error converting YAML to JSON: {error}") from None
