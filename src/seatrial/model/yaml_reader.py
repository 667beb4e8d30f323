"""YAML as Kubernetes reads it: to JSON values, by the rules of sigs.k8s.io/yaml (go-yaml v2).

Stock PyYAML reads `12:30` as 750 and dates as datetimes; go-yaml reads `y` as true, `0o17` as 15, leaves times alone.
Only the parser (libyaml) is PyYAML's: its events are turned into values here. A key given twice is an
error that names its line, aliases are expanded within go-yaml's limits (a "billion laughs" document is refused), and
nesting is bounded.

What we write means the same to every YAML reader: strings that any of them would take for something else are quoted.
"""

import base64
import binascii
import re
import struct
from collections.abc import Iterator
from typing import Any, Final

import orjson
import yaml

from seatrial.model.errors import SeatrialError

_PREFIX: Final = "tag:yaml.org,2002:"
_STR, _BINARY, _MERGE = f"{_PREFIX}str", f"{_PREFIX}binary", f"{_PREFIX}merge"
_DEEPEST: Final = 500
_TRUE: Final = frozenset(["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"])
_FALSE: Final = frozenset(["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"])
_WORDS: Final[dict[str, tuple[str, Any]]] = {
    **dict.fromkeys(_TRUE, ("bool", True)),
    **dict.fromkeys(_FALSE, ("bool", False)),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), ("null", None)),
    **{word: ("float", float("nan")) for word in (".nan", ".NaN", ".NAN")},
    **{f"{sign}{word}": ("float", float("inf")) for sign in ("", "+") for word in (".inf", ".Inf", ".INF")},
    **{f"-{word}": ("float", float("-inf")) for word in (".inf", ".Inf", ".INF")},
}
_INTEGER: Final = re.compile(
    r"(?P<sign>[-+]?)(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[bB](?P<bin>[01]+)|0[oO]?(?P<oct>[0-7]+)|(?P<dec>0|[1-9][0-9]*))"
)
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_DOTTED: Final = re.compile(r"\.[0-9]+(_[0-9]+)*([eE][-+]?[0-9]+)?")
_BASES: Final = {"hex": 16, "bin": 2, "oct": 8, "dec": 10}
_SEXAGESIMAL: Final = re.compile(r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt \t].*)?")
PIECE: Final = 500
"""Values in a piece of a document that is written in pieces."""
LONGEST_PLAIN_KEY: Final = 100
"""Letters of a key that is always written before a colon; longer ones get a question mark."""
_NUMBER_START: Final = frozenset("+-.0123456789")


class YamlError(SeatrialError):
    """A text that is no YAML, or holds what JSON cannot; the message gives the position."""


def load_all(text: str | bytes, *, strict: bool = True) -> list[Any]:
    """The documents of a text, empty ones left out; with `strict` a key given twice is an error."""
    parser = _open(text)
    documents = []
    try:
        while parser.check_event():
            if isinstance(parser.get_event(), yaml.DocumentStartEvent):
                document = _Construction(parser, strict).document()
                if document is not None:
                    documents.append(document)
    except yaml.YAMLError as error:
        return _load_json(text, error)
    finally:
        parser.dispose()
    return documents


def load(text: str | bytes, *, strict: bool = True) -> Any:
    """The one document of a text, None where it is empty."""
    documents = load_all(text, strict=strict)
    if len(documents) > 1:
        raise YamlError(f"expected one document, found {len(documents)}")
    return documents[0] if documents else None


def dump(document: Any) -> str:
    """A document as YAML, in its own order of keys."""
    return str(yaml.dump(document, Dumper=_Dumper, **_STYLE))


def dump_pieces(document: Any, indent: str = "") -> Iterator[str]:
    """The text of `dump` in pieces: libyaml writes each at once, and a large document keeps other threads waiting."""
    if _is_small(document):
        yield _indented(dump(document), indent)
    elif isinstance(document, dict):
        for key, value in document.items():
            if _is_small(value) or len(key) > LONGEST_PLAIN_KEY:
                yield _indented(dump({key: value}), indent)
            else:
                yield indent + dump({key: 0}).removesuffix(" 0\n") + "\n"
                yield from dump_pieces(value, indent if isinstance(value, list) else indent + "  ")
    else:
        for item in document:
            if _is_small(item) or isinstance(item, list):
                yield _indented(dump([item]), indent)
            else:
                pieces = dump_pieces(item, indent + "  ")
                yield indent + "- " + next(pieces)[len(indent) + 2 :]
                yield from pieces


def _is_small(value: Any) -> bool:
    """Whether a value is a scalar or has few parts."""
    rest, parts = [value], 0
    while rest and parts <= PIECE:
        value = rest.pop()
        parts += 1
        if isinstance(value, dict):
            rest.extend(value.values())
        elif isinstance(value, list):
            rest.extend(value)
    return parts <= PIECE


def _indented(text: str, indent: str) -> str:
    return "".join(indent + line if line != "\n" else line for line in text.splitlines(True)) if indent else text


def scalar(text: str) -> Any:
    """The value of a plain scalar."""
    return _resolve("", text)[1]


_Parser: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _open(text: str | bytes) -> Any:
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise YamlError(f"yaml: the text is not UTF-8: {error.reason} at byte {error.start}") from error
    try:
        return _Parser(text)
    except yaml.YAMLError as error:
        raise YamlError(_explain(error)) from error


def _load_json(text: str | bytes, error: yaml.YAMLError) -> list[Any]:
    """JSON that is no YAML (tabs between tokens); otherwise the YAML parser's complaint."""
    stripped = text.strip()
    if stripped[:1] in ("{", "[", b"{", b"["):
        try:
            return [orjson.loads(stripped)]
        except orjson.JSONDecodeError:
            pass
    raise YamlError(_explain(error)) from error


def _explain(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = getattr(error, "problem", None) or str(error)
    return f"yaml: line {mark.line + 1}: {problem}" if mark is not None else f"yaml: {problem}"


class _Open:
    """A collection that is still being read, and the key that waits for its value."""

    __slots__ = ("anchor", "key", "keys", "value")

    def __init__(self, value: list[Any] | dict[str, Any], anchor: str | None) -> None:
        self.value = value
        self.anchor = anchor
        self.key: str | None = None
        self.keys: set[str] = set()


_MERGE_KEY: Final = "\0<<"
_UNFINISHED: Final = object()


class _Construction:
    """One document built from the parser's events, without recursion, within go-yaml's limits on aliases."""

    def __init__(self, parser: Any, strict: bool) -> None:
        self._parser = parser
        self._strict = strict
        self._decoded = self._aliased = 0
        self._anchors: dict[str, Any] = {}
        self._stack: list[_Open] = []
        self._result: Any = None

    def document(self) -> Any:
        get = self._parser.get_event
        while True:
            event = get()
            if isinstance(event, yaml.ScalarEvent):
                self._scalar(event)
            elif isinstance(event, yaml.MappingStartEvent):
                self._push({}, event)
            elif isinstance(event, yaml.SequenceStartEvent):
                self._push([], event)
            elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
                done = self._stack.pop()
                if done.anchor:
                    self._anchors[done.anchor] = done.value
                self._add(done.value, event)
            elif isinstance(event, yaml.AliasEvent):
                self._alias(event)
            else:
                return self._result

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        self._count(1, 0)
        if self._stack and isinstance(self._stack[-1].value, dict) and self._stack[-1].key is None:
            self._stack[-1].key = self._key(event)
            if event.anchor:
                self._anchors[event.anchor] = self._stack[-1].key
            return
        value = _scalar_value(event)
        if event.anchor:
            self._anchors[event.anchor] = value
        self._add(value, event)

    def _push(self, value: list[Any] | dict[str, Any], event: Any) -> None:
        self._count(1, 0)
        if self._stack and isinstance(self._stack[-1].value, dict) and self._stack[-1].key is None:
            raise YamlError(f"{_line(event)}: a map key must be a scalar")
        if len(self._stack) >= _DEEPEST:
            raise YamlError(f"{_line(event)}: exceeded max depth of {_DEEPEST}")
        if event.anchor:
            self._anchors[event.anchor] = _UNFINISHED
        self._stack.append(_Open(value, event.anchor))

    def _alias(self, event: yaml.AliasEvent) -> None:
        if event.anchor not in self._anchors:
            raise YamlError(f"{_line(event)}: unknown anchor '{event.anchor}' referenced")
        value = self._anchors[event.anchor]
        if value is _UNFINISHED:
            raise YamlError(f"{_line(event)}: anchor '{event.anchor}' value contains itself")
        value = self._copy(value)
        if self._stack and isinstance(self._stack[-1].value, dict) and self._stack[-1].key is None:
            if not isinstance(value, str):
                raise YamlError(f"{_line(event)}: a map key must be a string")
            self._stack[-1].key = value
            return
        self._add(value, event)

    def _copy(self, value: Any) -> Any:
        self._count(1, 1)
        if isinstance(value, dict):
            return {key: self._copy(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._copy(item) for item in value]
        return value

    def _add(self, value: Any, event: Any) -> None:
        if not self._stack:
            self._result = value
            return
        parent = self._stack[-1]
        if isinstance(parent.value, list):
            parent.value.append(value)
        elif parent.key == _MERGE_KEY:
            for source in reversed(value) if isinstance(value, list) else (value,):
                if not isinstance(source, dict):
                    raise YamlError(f"{_line(event)}: map merge requires map or sequence of maps as the value")
                parent.value.update(source)
        else:
            parent.value[str(parent.key)] = value
        parent.key = None

    def _key(self, event: yaml.ScalarEvent) -> str:
        if event.value == "<<" and (event.implicit[0] or event.tag == _MERGE):
            return _MERGE_KEY
        key = _key_text(event)
        keys = self._stack[-1].keys
        if self._strict and key in keys:
            raise YamlError(f'{_line(event)}: key "{key}" already set in map')
        keys.add(key)
        return key

    def _count(self, decoded: int, aliased: int) -> None:
        self._decoded += decoded
        self._aliased += aliased
        if (
            aliased
            and self._aliased > 100
            and self._decoded > 1000
            and self._aliased / self._decoded > _allowed_alias_ratio(self._decoded)
        ):
            raise YamlError("yaml: document contains excessive aliasing")


def _allowed_alias_ratio(decoded: int) -> float:
    low, high = 400_000, 4_000_000
    if decoded <= low:
        return 0.99
    return 0.10 if decoded >= high else 0.99 - 0.89 * (decoded - low) / (high - low)


def _line(event: Any) -> str:
    return f"yaml: line {event.start_mark.line + 1}"


def _scalar_value(event: yaml.ScalarEvent) -> Any:
    tag, text = event.tag, event.value
    if event.implicit[0]:
        kind, value = _resolve("", text)
    elif tag is None or tag in ("!", _STR):
        return text
    elif tag == _BINARY:
        try:
            return base64.b64decode("".join(text.split()), validate=True).decode("utf-8", "replace")
        except binascii.Error as error:
            raise YamlError(f"{_line(event)}: !!binary value contains invalid base64 data") from error
    elif tag.startswith(_PREFIX):
        kind, value = _resolve(tag.removeprefix(_PREFIX), text)
    else:
        return text
    return _json_number(event, value) if kind == "float" else value


def _key_text(event: yaml.ScalarEvent) -> str:
    """A key as a string, as JSON requires: numbers and booleans are written out."""
    if event.implicit[0]:
        kind, value = _resolve("", event.value)
        if kind == "float":
            return _short_float(value)
    else:
        value = _scalar_value(event)
    if value is None or (isinstance(value, int) and not -(1 << 63) <= value < 1 << 63):
        raise YamlError(f"{_line(event)}: unsupported map key: {event.value}")
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _short_float(value: float) -> str:
    """The shortest text that is the same single-precision number, as Go's %g writes it."""
    try:
        single = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        single = float("inf") if value > 0 else float("-inf")
    if single != single or single in (float("inf"), float("-inf")):
        return ".nan" if single != single else ".inf" if single > 0 else "-.inf"
    digits = 0
    while digits < 8 and struct.pack("f", float(f"{single:.{digits}e}")) != struct.pack("f", single):
        digits += 1
    text = f"{single:.{digits}e}"
    exponent = int(text.partition("e")[2])
    return text if exponent < -4 or exponent >= 6 else f"{single:.{max(digits - exponent, 0)}f}"


def _json_number(event: yaml.ScalarEvent, value: Any) -> Any:
    """A float as it is after a passage through JSON: whole ones become ints."""
    if value != value or value in (float("inf"), float("-inf")):
        raise YamlError(f"{_line(event)}: {event.value} cannot be written as JSON")
    return int(value) if value == int(value) and abs(value) < 1 << 63 else value


def _resolve(tag: str, text: str) -> tuple[str, Any]:
    """A scalar's kind and value; an explicit tag must fit the text."""
    if tag not in ("", "bool", "int", "float", "null", "timestamp"):
        return "str", text
    kind, value = _implied(text)
    if tag in ("", kind):
        return kind, value
    if tag == "timestamp" and _DATE.fullmatch(text):
        return "str", text
    if tag == "float" and kind == "int":
        return "float", float(value)
    raise YamlError(f"yaml: cannot decode !!{kind} `{text}` as a !!{tag}")


def _implied(text: str) -> tuple[str, Any]:
    word = _WORDS.get(text)
    if word is not None:
        return word
    if text[0] not in _NUMBER_START:
        return "str", text
    if text[0] == "." and not _DOTTED.fullmatch(text):
        return "str", text
    plain = text.replace("_", "")
    integer = _INTEGER.fullmatch(plain)
    if integer is not None:
        name = integer.lastgroup or "dec"
        digits = integer[name]
        number = int(digits, _BASES[name]) if len(digits) < 100 else 1 << 70
        if integer["sign"] == "-":
            number = -number
        if -(1 << 63) <= number < 1 << 63 or (number < 1 << 64 and not integer["sign"]):
            return "int", number
    if _FLOAT.fullmatch(plain):
        value = float(plain)
        if abs(value) != float("inf"):
            return "float", value
    return "str", text


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    def ignore_aliases(self, data: Any) -> bool:
        return True


_STYLE: Final[dict[str, Any]] = {
    "default_flow_style": False,
    "sort_keys": False,
    "allow_unicode": True,
    "width": 1 << 30,
}


def _needs_quotes(text: str) -> bool:
    """Whether some YAML reader takes the bare text for something other than a string."""
    if text in _WORDS or text in ("=", "<<"):
        return True
    if not text or text[0] not in _NUMBER_START:
        return False
    return (
        _implied(text)[0] != "str"
        or _SEXAGESIMAL.fullmatch(text) is not None
        or _DATE.fullmatch(text) is not None
        or _implied(text.replace("_", ""))[0] != "str"
    )


def _represent_text(dumper: Any, text: str) -> Any:
    if "\n" in text and text.strip() and all(letter.isprintable() or letter == "\n" for letter in text):
        return dumper.represent_scalar(_STR, text, style="|")
    return dumper.represent_scalar(_STR, text, style='"' if _needs_quotes(text) else None)


_Dumper.add_representer(str, _represent_text)
