"""The types of what functions and operators return, as far as they follow from the arguments."""

from collections.abc import Sequence

from seatrial.model.cel.declarations import BOOL, BYTES, DOUBLE, DYN, INT, STRING, UINT, DeclType, list_of

_RESULTS: dict[str, DeclType] = {
    **dict.fromkeys(
        ("_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_", "_&&_", "_||_", "!_", "@in", "has", "bool", "startsWith",
         "endsWith", "contains", "matches", "isSorted", "hasValue", "sets.contains", "sets.intersects",
         "sets.equivalent", "isIP", "isCIDR", "isQuantity", "isSemver", "isURL", "ip.isCanonical", "containsIP",
         "containsCIDR", "isInteger", "isGreaterThan", "isLessThan", "isUnspecified", "isLoopback",
         "isLinkLocalMulticast", "isLinkLocalUnicast", "isGlobalUnicast", "all", "exists", "exists_one", "existsOne"),
        BOOL,
    ),
    **dict.fromkeys(
        ("size", "int", "indexOf", "lastIndexOf", "compareTo", "sign", "asInteger", "major", "minor", "patch",
         "prefixLength", "family"),
        INT,
    ),
    **dict.fromkeys(
        ("string", "charAt", "lowerAscii", "upperAscii", "replace", "substring", "trim", "join", "format",
         "strings.quote", "find", "base64.encode", "getScheme", "getHostname", "getHost", "getPort",
         "getEscapedPath", "jsonpatch.escapeKey"),
        STRING,
    ),
    **dict.fromkeys(("bytes", "base64.decode"), BYTES),
    **dict.fromkeys(("double", "asApproximateFloat"), DOUBLE),
    "uint": UINT,
    "split": list_of(STRING),
    "findAll": list_of(STRING),
    "lists.range": list_of(INT),
    "timestamp": DeclType("timestamp"),
    "duration": DeclType("duration"),
}  # fmt: skip
_LIKE_FIRST = frozenset(("_+_", "_-_", "_*_", "_/_", "_%_", "-_", "slice", "sort", "distinct", "reverse"))
_ELEMENT = frozenset(("min", "max", "sum"))


def result_type(name: str, arguments: Sequence[DeclType]) -> DeclType:
    """The type of a call's value; `dyn` where it is not known."""
    if name == "_?_:_":
        return arguments[1] if arguments[1].name == arguments[2].name else DYN
    if name == "_-_" and arguments[0].name == "timestamp":
        return DeclType("duration") if arguments[1].name == "timestamp" else arguments[0]
    if name == "_+_" and arguments[1].name == "timestamp":
        return arguments[1]
    if name in _LIKE_FIRST:
        return _of_type(next((each for each in arguments if each.name != "dyn"), DYN))
    if name in _ELEMENT:
        return arguments[0].element or DYN
    return _RESULTS.get(name, DYN)


def _of_type(declared: DeclType) -> DeclType:
    return declared if declared.name in ("list", "map") else DeclType(declared.name)
