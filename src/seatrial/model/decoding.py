"""Decodes the body of a request into a document of its kind.

What fits is brought into the form Go would write (`canonical`); what does not is refused or dropped as
`fieldValidation` says: Strict refuses unknown and duplicate fields, Warn drops them with a warning, Ignore drops them.
Values of the wrong type are refused whatever it says. A custom resource is pruned by its schema instead, and its
types are left to its validation, but for metadata.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

import orjson

from seatrial.model.canonical import Misfit, canonicalise
from seatrial.model.documents import Document
from seatrial.model.errors import BadRequest
from seatrial.model.kinds import Kind
from seatrial.model.schema import Schema, metadata_schema, schema_of
from seatrial.model.schema_errors import DecodingError, Pairs, Reader, json_word, parse_pairs
from seatrial.model.yaml_reader import YamlError, load

FieldValidation = Literal["Strict", "Warn", "Ignore"]
_SUMMARY = 30
_TOO_DEEP = "json: exceeded max depth"


class CannotHandle(BadRequest):
    """A document that does not fit its kind; `why` is the decoder's text."""

    def __init__(self, kind: Kind, why: str) -> None:
        super().__init__(f'{kind.kind} in version "{kind.version}" cannot be handled as a {kind.kind}: {why}')
        self.why = why


def check(
    kind: Kind, document: Document, field_validation: FieldValidation = "Strict", *, schema: Schema | None = None
) -> tuple[Document, list[str]]:
    """The document in canonical form, and warnings. It is worked out in place: the caller hands the document over."""
    return _checked(_Body(kind, document), field_validation, schema)


def decode_body(
    kind: Kind,
    data: bytes,
    field_validation: FieldValidation = "Strict",
    *,
    yaml: bool = False,
    schema: Schema | None = None,
) -> tuple[Document, list[str]]:
    """Read a body of JSON or YAML as `check` does, and find the fields that it gives twice."""
    body = _read_yaml(kind, data) if yaml else _read_json(kind, data)
    compact = _compact(body)
    if field_validation != "Ignore" and not yaml:
        # A key that is given twice is written once, so a colon is missing.
        body.repeats = data.count(b":") != compact.count(b":")
    if (why := _unknown_kind(body.document)) is not None:
        raise unrecognized(kind, f"{_NO_JSON}{why}", data)
    return _checked(body, field_validation, schema)


def prune(schema: Schema, document: Any) -> list[str]:
    """Drop what a custom resource's schema does not know, in place; answers the paths that went."""
    found: list[str] = []
    _prune(schema, document, "", found)
    return found


@dataclass(slots=True)
class _Body:
    """A body that was parsed: the document, and the text it came from where a closer look needs it."""

    kind: Kind
    document: Any
    text: bytes = b""
    repeats: bool = False
    strict_errors: list[str] = field(default_factory=list)

    def as_written(self) -> Any:
        return parse_pairs(self.text) if self.text else self.document


def _checked(body: _Body, validation: FieldValidation, schema: Schema | None) -> tuple[Document, list[str]]:
    fitting = schema or schema_of(body.kind)
    if body.kind.custom or fitting is None or fitting.own_fields is not None:
        document = _pruned(body, fitting)
    else:
        document = _fitted(body, fitting)
    if body.strict_errors and validation == "Strict":
        raise CannotHandle(body.kind, f"strict decoding error: {', '.join(body.strict_errors)}")
    return document, body.strict_errors if validation == "Warn" else []


def _pruned(body: _Body, schema: Schema | None) -> Document:
    document: Document = body.document
    if body.repeats:
        body.strict_errors += _repeated(body.as_written())
    if schema is not None:
        body.strict_errors += [f"unknown field {orjson.dumps(path).decode()}" for path in prune(schema, document)]
    if "metadata" in document:
        document["metadata"] = _fitted_metadata(body.kind, document["metadata"])
    return document


def _fitted_metadata(kind: Kind, metadata: Any) -> Document:
    """The metadata of an object whose other fields are not decoded by a Go type; unknown fields of it are dropped."""
    fitted: Document
    schema = metadata_schema()
    try:
        fitted = canonicalise(schema, metadata or {})
    except Misfit:
        try:
            fitted = canonicalise(schema, Reader().read(schema, metadata) or {})
        except DecodingError as error:
            raise CannotHandle(kind, str(error)) from error
        except (Misfit, RecursionError) as error:
            raise CannotHandle(kind, _TOO_DEEP) from error
    return fitted


def _fitted(body: _Body, schema: Schema) -> Document:
    document: Document
    if not body.repeats:
        try:
            document = canonicalise(schema, body.document)
            return document
        except Misfit:
            pass
    reader = Reader()
    try:
        document = canonicalise(schema, reader.read(schema, body.as_written()))
    except DecodingError as error:
        raise CannotHandle(body.kind, str(error)) from error
    except (Misfit, RecursionError) as error:
        raise CannotHandle(body.kind, _TOO_DEEP) from error
    body.strict_errors += reader.strict_errors
    return document


def _compact(body: _Body) -> bytes:
    """The body's document written again: what cannot be written is nested deeper than anything is stored."""
    try:
        return orjson.dumps(body.document)
    except orjson.JSONEncodeError as error:
        raise CannotHandle(body.kind, _TOO_DEEP) from error


def _read_json(kind: Kind, data: bytes) -> _Body:
    try:
        return _Body(kind, orjson.loads(data), data)
    except orjson.JSONDecodeError as error:
        raise unrecognized(kind, f"{_NO_JSON}{json_error(data, error.pos)}", data) from error


def json_error(data: bytes, position: int) -> str:
    """Why a body is no JSON, in the words of Go's parser."""
    text = data.decode(errors="replace")
    if not text.strip() or position >= len(text):
        return "unexpected end of JSON input"
    return f"invalid character {text[position]!r} looking for beginning of value"


def _read_yaml(kind: Kind, data: bytes) -> _Body:
    try:
        return _Body(kind, load(data))
    except YamlError as error:
        try:
            return _Body(kind, load(data, strict=False), strict_errors=[str(error)])
        except YamlError:
            raise unrecognized(kind, f"{_NO_JSON}error converting YAML to JSON: {error}", data) from error


def _unknown_kind(document: Any) -> str | None:
    """The error of a document without apiVersion or kind, if it lacks one."""
    if type(document) is not dict:
        return f"json: cannot unmarshal {json_word(document)} into Go value of type {_TYPE_META}"
    for name in ("apiVersion", "kind"):
        if not isinstance(value := document.get(name), str | None):
            return f"json: cannot unmarshal {json_word(value)} into Go struct field .{name} of type string"
    return None


def _repeated(written: Any, path: str = "") -> list[str]:
    """The fields that pairs give twice, as a map without a schema has them."""
    errors: list[str] = []
    if isinstance(written, Pairs):
        seen: set[str] = set()
        for name, value in written:
            inner = f"{path}.{name}" if path else name
            if name in seen:
                errors.append(f"duplicate field {orjson.dumps(inner).decode()}")
            seen.add(name)
            errors += _repeated(value, inner)
    elif isinstance(written, list):
        for index, value in enumerate(written):
            errors += _repeated(value, f"{path}[{index}]")
    return errors


def _prune(schema: Schema, value: Any, path: str, found: list[str]) -> None:
    if isinstance(value, list) and schema.items is not None:
        for index, item in enumerate(value):
            _prune(schema.items, item, f"{path}[{index}]", found)
    elif isinstance(value, dict) and schema.values is not None:
        for name, item in value.items():
            _prune(schema.values, item, f"{path}.{name}" if path else name, found)
    elif isinstance(value, dict) and schema.type == "object":
        for name in list(value):
            inner = f"{path}.{name}" if path else name
            if (known := schema.fields.get(name)) is not None:
                _prune(known.schema, value[name], inner, found)
            elif not schema.preserves_unknown:
                found.append(inner)
                del value[name]


# What Go calls the anonymous struct it looks for apiVersion and kind with.
_TYPE_META = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'


_NO_JSON = "couldn't get version/kind; json parse error: "


def unrecognized(kind: Kind, why: str, data: bytes) -> BadRequest:
    """The error for a body without a kind, with the start of the body."""
    start = data[:_SUMMARY]
    shown = start.decode(errors="replace") if data[:1] == b"{" else start.hex()
    if len(data) > _SUMMARY:
        shown += " ..."
    return BadRequest(
        f"the object provided is unrecognized (must be of type {kind.kind}): {why} ({shown or '<empty>'})"
    )
