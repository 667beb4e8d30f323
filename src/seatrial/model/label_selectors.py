"""Label selectors: the string form of list requests, the matchLabels/matchExpressions form of documents.

Follows k8s.io/apimachinery/pkg/labels and metav1.LabelSelectorAsSelector (v0.36.3), error texts included. The
requirements of node selectors have two more operators (Gt, Lt) and are matched by the same `Requirement`; their terms
follow k8s.io/component-helpers/scheduling/corev1/nodeaffinity.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Self

from seatrial.model.errors import BadRequest

Labels = Mapping[str, str]

_NAME: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_SUBDOMAIN: Final = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_IS_NAME: Final = re.compile(_NAME)
_IS_SUBDOMAIN: Final = re.compile(_SUBDOMAIN)
_CHARACTERS: Final = (
    "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
)
_KEY_WRONG: Final = (
    f"must {_CHARACTERS} (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_NAME}')"
)
_VALUE_WRONG: Final = (
    f"a valid label must be an empty string or {_CHARACTERS} "
    f"(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '({_NAME})?')"
)
_PREFIX_WRONG: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
    f"and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '{_SUBDOMAIN}')"
)
_MOST_LETTERS: Final = 63
_DOCUMENT_OPERATORS: Final = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "!"}
_NODE_OPERATORS: Final = {**_DOCUMENT_OPERATORS, "Gt": "gt", "Lt": "lt"}
_BINARY_OPERATORS: Final = "in, notin, =, ==, !=, gt, lt"
_SIGNS: Final = {"=": "=", "==": "==", "!=": "!=", "in": " in ", "notin": " notin ", "gt": ">", "lt": "<"}
_TOKENS: Final = {")", ",", "!", "==", "=", ">", "in", "<", "!=", "notin", "("}
_SPECIAL: Final = frozenset("=!(),><")
_BLANK: Final = frozenset(" \t\r\n")
_INTEGER: Final = re.compile(r"[+-]?[0-9]+")


class SelectorError(BadRequest):
    """A selector that cannot be understood; the message is upstream's."""


def label_key_faults(key: str) -> tuple[str, ...]:
    """Why `key` is no label key; nothing when it is one."""
    prefix, slash, name = key.rpartition("/")
    if key.count("/") > 1:
        return (
            f"a valid label key {_KEY_WRONG} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
        )
    faults = []
    if slash:
        if not prefix:
            faults.append("prefix part must be non-empty")
        if len(prefix.encode()) > 253:
            faults.append("prefix part must be no more than 253 bytes")
        if prefix and not _IS_SUBDOMAIN.fullmatch(prefix):
            faults.append(f"prefix part {_PREFIX_WRONG}")
    if not name:
        faults.append("name part must be non-empty")
    elif len(name.encode()) > _MOST_LETTERS:
        faults.append(f"name part must be no more than {_MOST_LETTERS} bytes")
    if not _IS_NAME.fullmatch(name):
        faults.append(f"name part {_KEY_WRONG}")
    return tuple(faults)


def label_value_faults(value: str) -> tuple[str, ...]:
    """Why `value` is no label value; nothing when it is one."""
    faults = []
    if len(value.encode()) > _MOST_LETTERS:
        faults.append(f"must be no more than {_MOST_LETTERS} bytes")
    if value and not _IS_NAME.fullmatch(value):
        faults.append(_VALUE_WRONG)
    return tuple(faults)


class Requirement:
    """One condition on one label; `operator` is upstream's selection.Operator."""

    __slots__ = ("_number", "key", "operator", "values")

    def __init__(self, key: str, operator: str, values: Sequence[str] = ()) -> None:
        self.key = key
        self.operator = operator
        self.values = tuple(values)
        self._number = _integer(self.values[0]) if operator in ("gt", "lt") and len(self.values) == 1 else None

    @classmethod
    def checked(cls, key: str, operator: str, values: Sequence[str] | None, path: str = "") -> Self:
        """A requirement whose key, values and their number are right for its operator, else SelectorError."""
        given = values or ()
        faults = [_invalid(f"{path}key", key, "; ".join(label_key_faults(key)))] if label_key_faults(key) else []
        if fault := _count_fault(operator, len(given)):
            faults.append(_invalid(f"{path}values", values, fault))
        if operator in ("gt", "lt"):
            text = "for 'Gt', 'Lt' operators, the value must be an integer"
            faults += [
                _invalid(f"{path}values[{i}]", value, text) for i, value in enumerate(given) if _integer(value) is None
            ]
        for i, value in enumerate(given):
            if wrong := label_value_faults(value):
                faults.append(_invalid(f"{path}values[{i}][{key}]", value, "; ".join(wrong)))
        if faults:
            raise SelectorError(_aggregate(faults))
        return cls(key, operator, given)

    def matches(self, labels: Labels) -> bool:
        value = labels.get(self.key)
        operator = self.operator
        if operator == "=" or operator == "in" or operator == "==":
            return value is not None and value in self.values
        if operator == "exists":
            return value is not None
        if operator == "!":
            return value is None
        if operator in ("notin", "!="):
            return value is None or value not in self.values
        number = None if value is None else _integer(value)
        if number is None or self._number is None:
            return False
        return number > self._number if operator == "gt" else number < self._number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Requirement) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[str, str, tuple[str, ...]]:
        return self.key, self.operator, self.values

    def __str__(self) -> str:
        if self.operator == "exists":
            return self.key
        if self.operator == "!":
            return f"!{self.key}"
        values = ",".join(sorted(self.values))
        return f"{self.key}{_SIGNS[self.operator]}" + (f"({values})" if self.operator in ("in", "notin") else values)

    def __repr__(self) -> str:
        return f"Requirement({str(self)!r})"


class LabelSelector:
    """Requirements that must all hold. Without any it selects everything, `NOTHING` selects nothing."""

    __slots__ = ("requirements", "selects_nothing")

    def __init__(self, requirements: Iterable[Requirement] = (), *, selects_nothing: bool = False) -> None:
        self.requirements = tuple(sorted(requirements, key=lambda requirement: requirement.key))
        self.selects_nothing = selects_nothing

    @classmethod
    def parse(cls, text: str) -> "LabelSelector":
        """Read the string form (`a=b,c in (d,e),!f`); SelectorError if the text is no selector."""
        return cls(_Parser(text).requirements())

    @classmethod
    def from_document(cls, document: Mapping[str, Any] | None) -> "LabelSelector":
        """Read metav1.LabelSelector; a missing one selects nothing, an empty one everything."""
        if document is None:
            return NOTHING
        requirements = [
            Requirement.checked(key, "=", (value,)) for key, value in (document.get("matchLabels") or {}).items()
        ]
        for expression in document.get("matchExpressions") or ():
            operator = _DOCUMENT_OPERATORS.get(expression.get("operator", ""))
            if operator is None:
                raise SelectorError(f"{_quote(expression.get('operator', ''))} is not a valid label selector operator")
            requirements.append(
                Requirement.checked(expression.get("key", ""), operator, expression.get("values") or None)
            )
        return cls(requirements)

    @classmethod
    def from_labels(cls, labels: Labels | None) -> "LabelSelector":
        """Select exactly these labels, unchecked (spec.nodeSelector, a Service's selector)."""
        return cls(Requirement(key, "=", (value,)) for key, value in (labels or {}).items())

    def matches(self, labels: Labels | None) -> bool:
        if self.selects_nothing:
            return False
        present = labels or {}
        for requirement in self.requirements:  # noqa: SIM110 (a third of the time of `all`, and called very often)
            if not requirement.matches(present):
                return False
        return True

    @property
    def selects_everything(self) -> bool:
        return not self.requirements and not self.selects_nothing

    def required_value(self, key: str) -> str | None:
        """The one value that `key` must have, if the selector requires one."""
        for requirement in self.requirements:
            if requirement.key == key:
                exact = requirement.operator in ("=", "==", "in") and len(requirement.values) == 1
                return requirement.values[0] if exact else None
        return None

    def __and__(self, other: "LabelSelector") -> "LabelSelector":
        if self.selects_nothing or other.selects_nothing:
            return NOTHING
        return LabelSelector((*self.requirements, *other.requirements))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, LabelSelector)
            and self.selects_nothing == other.selects_nothing
            and self.requirements == other.requirements
        )

    def __hash__(self) -> int:
        return hash((self.selects_nothing, self.requirements))

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements))

    def __repr__(self) -> str:
        return "LabelSelector(nothing)" if self.selects_nothing else f"LabelSelector({str(self)!r})"


EVERYTHING: Final = LabelSelector()
NOTHING: Final = LabelSelector(selects_nothing=True)


class NodeSelectorTerm:
    """Conditions on a node's labels and name that must all hold; an empty term matches no node."""

    __slots__ = ("fields", "is_empty", "labels")

    def __init__(self, document: Mapping[str, Any], path: str = "") -> None:
        expressions, fields = document.get("matchExpressions") or (), document.get("matchFields") or ()
        self.is_empty = not expressions and not fields
        faults: list[str] = []
        requirements = []
        for i, expression in enumerate(expressions):
            where = f"{path}matchExpressions[{i}]."
            operator = _NODE_OPERATORS.get(expression.get("operator", ""))
            if operator is None:
                faults.append(_unsupported(f"{where}operator", expression.get("operator", ""), _NODE_OPERATORS))
                continue
            try:
                requirements.append(
                    Requirement.checked(expression.get("key", ""), operator, expression.get("values") or None, where)
                )
            except SelectorError as error:
                faults.append(error.message)
        for i, field in enumerate(fields):
            operator, values = field.get("operator", ""), field.get("values") or None
            if operator not in ("In", "NotIn"):
                faults.append(_unsupported(f"{path}matchFields[{i}].operator", operator, ("In", "NotIn")))
            elif values is None or len(values) != 1:
                faults.append(_invalid(f"{path}matchFields[{i}].values", values, "must have one element"))
        if faults:
            raise SelectorError(_aggregate(faults))
        self.labels = LabelSelector(requirements)
        self.fields = tuple((field["key"], field["operator"] == "In", field["values"][0]) for field in fields)

    def matches(self, labels: Labels, name: str) -> bool:
        if self.is_empty or not self.labels.matches(labels):
            return False
        known = {"metadata.name": name}
        return not name or all((known.get(key, "") == value) == wanted for key, wanted, value in self.fields)


def _count_fault(operator: str, count: int) -> str:
    if operator in ("in", "notin"):
        return "" if count else "for 'in', 'notin' operators, values set can't be empty"
    if operator in ("=", "==", "!="):
        return "" if count == 1 else "exact-match compatibility requires one single value"
    if operator in ("exists", "!"):
        return "" if not count else "values set must be empty for exists and does not exist"
    return "" if count == 1 else "for 'Gt', 'Lt' operators, exactly one value is required"


def _integer(text: str) -> int | None:
    """An int64 as strconv.ParseInt reads it."""
    if not _INTEGER.fullmatch(text) or len(text) > 1000:
        return None
    number = int(text)
    return number if -(1 << 63) <= number < 1 << 63 else None


def _quote(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _invalid(path: str, value: Any, why: str) -> str:
    shown = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return f"{path}: Invalid value: {shown}: {why}"


def _unsupported(path: str, value: str, supported: Iterable[str]) -> str:
    return f"{path}: Unsupported value: {_quote(value)}: supported values: {', '.join(map(_quote, supported))}"


def _aggregate(faults: Sequence[str]) -> str:
    unique = list(dict.fromkeys(faults))
    return unique[0] if len(unique) == 1 else f"[{', '.join(unique)}]"


def _scan(text: str) -> list[tuple[str, str]]:
    """Tokens as (kind, literal); a kind is the literal itself, "id", "error", or "" at the end."""
    tokens, position, end = [], 0, len(text)
    while position < end and text[position] != "\0":
        letter = text[position]
        start = position
        if letter in _BLANK:
            position += 1
        elif letter in _SPECIAL:
            while position < end and text[position] in _SPECIAL:
                position += 1
                if text[start:position] not in _TOKENS and text[start : position - 1] in _TOKENS:
                    position -= 1
                    break
            literal = text[start:position]
            tokens.append((literal, literal))
        else:
            while position < end and text[position] not in _SPECIAL and text[position] not in _BLANK:
                position += 1
            literal = text[start:position]
            tokens.append((literal if literal in _TOKENS else "id", literal))
    tokens.append(("", ""))
    return tokens


class _Parser:
    """One pass over the tokens, as upstream's recursive descent, with its texts."""

    def __init__(self, text: str) -> None:
        self._tokens = _scan(text)
        self._position = 0

    def requirements(self) -> list[Requirement]:
        found: list[Requirement] = []
        while True:
            kind, literal = self._peek()
            if kind == "":
                return found
            if kind not in ("id", "!"):
                raise SelectorError(f"found '{literal}', expected: !, identifier, or 'end of string'")
            try:
                found.append(self._requirement())
            except SelectorError as error:
                raise SelectorError(f"unable to parse requirement: {error.message}") from None
            kind, literal = self._next()
            if kind == "":
                return found
            if kind != ",":
                raise SelectorError(f"found '{literal}', expected: ',' or 'end of string'")
            kind, literal = self._peek()
            if kind not in ("id", "!"):
                raise SelectorError(f"found '{literal}', expected: identifier after ','")

    def _requirement(self) -> Requirement:
        kind, key = self._next()
        absent = kind == "!"
        if absent:
            kind, key = self._next()
        if kind != "id":
            raise SelectorError(f"found '{key}', expected: identifier")
        if faults := label_key_faults(key):
            raise SelectorError(_invalid("<nil>", key, "; ".join(faults)))
        if absent or self._peek()[0] in ("", ","):
            return Requirement.checked(key, "!" if absent else "exists", ())
        kind, literal = self._next(as_value=False)
        operator = {">": "gt", "<": "lt"}.get(kind, kind)
        if operator not in _SIGNS:
            raise SelectorError(f"found '{literal}', expected: {_BINARY_OPERATORS}")
        values = self._values() if operator in ("in", "notin") else {self._value()}
        return Requirement.checked(key, operator, sorted(values))

    def _value(self) -> str:
        if self._peek()[0] in ("", ","):
            return ""
        kind, literal = self._next()
        if kind != "id":
            raise SelectorError(f"found '{literal}', expected: identifier")
        return literal

    def _values(self) -> set[str]:
        kind, literal = self._next()
        if kind != "(":
            raise SelectorError(f"found '{literal}' expected: '('")
        kind, literal = self._peek()
        if kind not in ("id", ",", ")"):
            raise SelectorError(f"found '{literal}', expected: ',', ')' or identifier")
        values: set[str] = set()
        while True:
            kind, literal = self._next()
            if kind == ")":
                return values or {""}
            if kind == "id":
                values.add(literal)
                following, literal = self._peek()
                if following not in (",", ")"):
                    raise SelectorError(f"found '{literal}', expected: ',' or ')'")
            elif kind == ",":
                if not values or self._peek()[0] in (")", ","):
                    values.add("")
            else:
                raise SelectorError(f"found '{literal}', expected: ',', or identifier")

    def _peek(self) -> tuple[str, str]:
        kind, literal = self._tokens[min(self._position, len(self._tokens) - 1)]
        return ("id" if kind in ("in", "notin") else kind), literal

    def _next(self, as_value: bool = True) -> tuple[str, str]:
        token = self._peek() if as_value else self._tokens[min(self._position, len(self._tokens) - 1)]
        self._position += 1
        return token
