"""Kubernetes' CEL libraries: quantities, semantic versions, URLs, IP addresses, CIDRs and formatted text.

Follows k8s.io/apiserver/pkg/cel/library (v0.36.3); semantic versions as github.com/blang/semver/v4 reads them.
"""

import ipaddress
import re
from urllib.parse import SplitResult, parse_qs, quote, urlsplit

from seatrial.model.cel.errors import CelError
from seatrial.model.cel.functions import function, to_string
from seatrial.model.cel.times import DURATION_PARTS, MOMENT_PARTS, moment_part
from seatrial.model.cel.values import Duration, Opaque, UInt, is_number, show, type_of
from seatrial.model.quantity import DECIMAL_EXPONENT, Quantity, QuantityError

QUANTITY, SEMVER, URL = "kubernetes.Quantity", "kubernetes.Semver", "kubernetes.URL"
IP, CIDR = "net.IP", "net.CIDR"
TIMESTAMP, DURATION = "google.protobuf.Timestamp", "google.protobuf.Duration"


class CelQuantity(Opaque):
    """A resource quantity."""

    type_name = QUANTITY
    __slots__ = ("quantity",)

    def __init__(self, quantity: Quantity) -> None:
        self.quantity = quantity

    def equals(self, other: object) -> bool:
        return isinstance(other, CelQuantity) and self.quantity.compare(other.quantity) == 0


class Semver(Opaque):
    """A semantic version; build metadata does not count in comparisons."""

    type_name = SEMVER
    __slots__ = ("key", "numbers")

    def __init__(self, numbers: tuple[int, int, int], prerelease: tuple[str, ...]) -> None:
        self.numbers = numbers
        # A release comes after its pre-releases; numbers come before words.
        words = tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in prerelease)
        self.key = (numbers, not prerelease, words)

    def equals(self, other: object) -> bool:
        return isinstance(other, Semver) and self.key == other.key

    def compare(self, other: "Semver") -> int:
        return (self.key > other.key) - (self.key < other.key)


def parse_semver(text: str) -> Semver:
    """A version in its strict form."""
    if not text:
        raise CelError("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise CelError("No Major.Minor.Patch elements found")
    patch, _, build = parts[2].partition("+")
    patch, dash, prerelease = patch.partition("-")
    numbers = [_number(part, name) for part, name in zip((*parts[:2], patch), ("major", "minor", "patch"), strict=True)]
    words = tuple(prerelease.split(".")) if dash else ()
    for word in words:
        _check_word(word, "Prerelease")
        if word.isdigit() and len(word) > 1 and word[0] == "0":
            raise CelError(f'Numeric PreRelease version must not contain leading zeroes "{word}"')
    for word in build.split(".") if "+" in parts[2] else ():
        if not word:
            raise CelError("Build meta data is empty")
        if not re.fullmatch(r"[0-9A-Za-z-]+", word):
            raise CelError(f'Invalid character(s) found in build meta data "{word}"')
    return Semver((numbers[0], numbers[1], numbers[2]), words)


def _check_word(word: str, what: str) -> None:
    if not word:
        raise CelError(f"{what} is empty")
    if not re.fullmatch(r"[0-9A-Za-z-]+", word):
        raise CelError(f'Invalid character(s) found in prerelease "{word}"')


def _number(text: str, name: str) -> int:
    if not re.fullmatch(r"[0-9]*", text):
        raise CelError(f'Invalid character(s) found in {name} number "{text}"')
    if len(text) > 1 and text[0] == "0":
        raise CelError(f'{name.capitalize()} number must not contain leading zeroes "{text}"')
    if not text:
        raise CelError('strconv.ParseUint: parsing "": invalid syntax')
    return int(text)


def _normalised(text: str) -> str:
    parts = text.removeprefix("v").split(".", 2)
    for i, part in enumerate(parts):
        if len(part) > 1:
            bare = part.lstrip("0")
            parts[i] = bare if bare[:1].isdigit() else "0" + bare
    if len(parts) < 3 and set("+-") & set(parts[-1]):
        raise CelError("short version cannot contain PreRelease/Build meta data")
    return ".".join(parts + ["0"] * (3 - len(parts)))


@function("semver", "string")
@function("semver", "string", "bool")
def semver(text: str, normalize: bool = False) -> Semver:
    return parse_semver(_normalised(text) if normalize else text)


@function("isSemver", "string")
@function("isSemver", "string", "bool")
def is_semver(text: str, normalize: bool = False) -> bool:
    try:
        semver(text, normalize)
    except CelError:
        return False
    return True


function("isGreaterThan", SEMVER, SEMVER)(lambda a, b: a.compare(b) > 0)
function("isLessThan", SEMVER, SEMVER)(lambda a, b: a.compare(b) < 0)
function("compareTo", SEMVER, SEMVER)(lambda a, b: a.compare(b))
function("major", SEMVER)(lambda a: a.numbers[0])
function("minor", SEMVER)(lambda a: a.numbers[1])
function("patch", SEMVER)(lambda a: a.numbers[2])


@function("quantity", "string")
def quantity(text: str) -> CelQuantity:
    try:
        return CelQuantity(Quantity.parse(text))
    except QuantityError as problem:
        raise CelError(str(problem)) from problem


@function("isQuantity", "string")
def is_quantity(text: str) -> bool:
    try:
        Quantity.parse(text)
    except QuantityError:
        return False
    return True


@function("asInteger", QUANTITY)
def quantity_as_integer(value: CelQuantity) -> int:
    number = value.quantity.as_int64()
    if number is None:
        raise CelError("cannot convert value to integer")
    return number


@function("add", QUANTITY, QUANTITY)
@function("add", QUANTITY, "int")
def quantity_add(value: CelQuantity, other: CelQuantity | int) -> CelQuantity:
    return CelQuantity(value.quantity + _quantity(other))


@function("sub", QUANTITY, QUANTITY)
@function("sub", QUANTITY, "int")
def quantity_sub(value: CelQuantity, other: CelQuantity | int) -> CelQuantity:
    return CelQuantity(value.quantity - _quantity(other))


def _quantity(value: CelQuantity | int) -> Quantity:
    return Quantity(value, 0, DECIMAL_EXPONENT) if isinstance(value, int) else value.quantity


function("sign", QUANTITY)(lambda a: a.quantity.sign)
function("isGreaterThan", QUANTITY, QUANTITY)(lambda a, b: a.quantity.compare(b.quantity) > 0)
function("isLessThan", QUANTITY, QUANTITY)(lambda a, b: a.quantity.compare(b.quantity) < 0)
function("compareTo", QUANTITY, QUANTITY)(lambda a, b: a.quantity.compare(b.quantity))
function("asApproximateFloat", QUANTITY)(lambda a: a.quantity.as_float())
function("isInteger", QUANTITY)(lambda a: a.quantity.as_int64() is not None)


class CelUrl(Opaque):
    """An absolute URL or path."""

    type_name = URL
    __slots__ = ("parts", "source")

    def __init__(self, source: str, parts: SplitResult) -> None:
        self.source, self.parts = source, parts

    def equals(self, other: object) -> bool:
        return isinstance(other, CelUrl) and self.source == other.source


@function("url", "string")
def url(text: str) -> CelUrl:
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError as problem:
        raise CelError(f"URL parse error during conversion from string: {problem}") from problem
    if not (parts.scheme or text.startswith("/")):
        raise CelError(f'URL parse error during conversion from string: parse "{text}": invalid URI for request')
    return CelUrl(text, parts)


@function("isURL", "string")
def is_url(text: str) -> bool:
    try:
        url(text)
    except CelError:
        return False
    return True


function("getScheme", URL)(lambda u: u.parts.scheme)
function("getHost", URL)(lambda u: u.parts.netloc.rpartition("@")[2])
function("getHostname", URL)(lambda u: _hostname(u.parts))
function("getPort", URL)(lambda u: "" if u.parts.port is None else str(u.parts.port))
function("getEscapedPath", URL)(lambda u: quote(u.parts.path, safe="/%:@!$&'()*+,;=~-._"))
function("getQuery", URL)(lambda u: parse_qs(u.parts.query, keep_blank_values=True))


def _hostname(parts: SplitResult) -> str:
    host = parts.netloc.rpartition("@")[2]
    return host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]


class CelAddress(Opaque):
    """An IP address."""

    type_name = IP
    __slots__ = ("address",)

    def __init__(self, address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
        self.address = address

    def equals(self, other: object) -> bool:
        return isinstance(other, CelAddress) and self.address == other.address

    def text(self) -> str:
        return str(self.address)


class CelNetwork(Opaque):
    """An IP prefix; the address keeps its host bits."""

    type_name = CIDR
    __slots__ = ("interface",)

    def __init__(self, interface: ipaddress.IPv4Interface | ipaddress.IPv6Interface) -> None:
        self.interface = interface

    def equals(self, other: object) -> bool:
        return isinstance(other, CelNetwork) and self.interface == other.interface

    def text(self) -> str:
        return str(self.interface)


_IP_WRONG = 'IP Address "{}" parse error during conversion from string'
_CIDR_WRONG = "network address parse error during conversion from string"


@function("ip", "string")
def ip(text: str) -> CelAddress:
    try:
        address = ipaddress.ip_address(text)
    except ValueError as problem:
        raise CelError(f'{_IP_WRONG.format(text)}: ParseAddr("{text}"): unable to parse IP') from problem
    if isinstance(address, ipaddress.IPv6Address) and (address.ipv4_mapped or address.scope_id):
        raise CelError(_IP_WRONG.format(text))
    return CelAddress(address)


@function("isIP", "string")
def is_ip(text: str) -> bool:
    try:
        ip(text)
    except CelError:
        return False
    return True


@function("cidr", "string")
def cidr(text: str) -> CelNetwork:
    if not re.fullmatch(r"[^/]+/\d+", text):
        raise CelError(f"{_CIDR_WRONG}: {_CIDR_WRONG}: netip.ParsePrefix(\"{text}\"): no '/'")
    try:
        return CelNetwork(ipaddress.ip_interface(text))
    except ValueError as problem:
        raise CelError(f'{_CIDR_WRONG}: {_CIDR_WRONG}: netip.ParsePrefix("{text}"): {problem}') from problem


@function("isCIDR", "string")
def is_cidr(text: str) -> bool:
    try:
        cidr(text)
    except CelError:
        return False
    return True


@function("containsIP", CIDR, "string")
@function("containsIP", CIDR, IP)
def contains_ip(network: CelNetwork, address: str | CelAddress) -> bool:
    return (ip(address) if isinstance(address, str) else address).address in network.interface.network


@function("containsCIDR", CIDR, "string")
@function("containsCIDR", CIDR, CIDR)
def contains_cidr(network: CelNetwork, other: str | CelNetwork) -> bool:
    outer, inner = network.interface.network, (cidr(other) if isinstance(other, str) else other).interface.network
    return outer.version == inner.version and outer.prefixlen <= inner.prefixlen and inner.network_address in outer


_LINK_LOCAL_MULTICAST = {4: ipaddress.ip_network("224.0.0.0/24"), 6: ipaddress.ip_network("ff02::/16")}

function("family", IP)(lambda a: a.address.version)
function("ip.isCanonical", "string")(lambda text: str(ip(text).address) == text)
function("jsonpatch.escapeKey", "string")(lambda key: key.replace("~", "~0").replace("/", "~1"))
function("isUnspecified", IP)(lambda a: a.address.is_unspecified)
function("isLoopback", IP)(lambda a: a.address.is_loopback)
function("isLinkLocalMulticast", IP)(lambda a: a.address in _LINK_LOCAL_MULTICAST[a.address.version])
function("isLinkLocalUnicast", IP)(lambda a: a.address.is_link_local)
function("isGlobalUnicast", IP)(
    lambda a: (
        not (a.address.is_unspecified or a.address.is_loopback or a.address.is_multicast or a.address.is_link_local)
    )
)
function("ip", CIDR)(lambda network: CelAddress(network.interface.ip))
function("prefixLength", CIDR)(lambda network: network.interface.network.prefixlen)
function("masked", CIDR)(lambda network: CelNetwork(ipaddress.ip_interface(str(network.interface.network))))

for _name, _read in MOMENT_PARTS.items():
    function(_name, TIMESTAMP)(moment_part(_read))
    function(_name, TIMESTAMP, "string")(moment_part(_read))


def _duration_part(name: str, unit: int) -> None:
    @function(name, DURATION)
    def part(value: Duration) -> int:
        whole = abs(value.nanos) // unit
        whole = whole if value.nanos >= 0 else -whole
        return whole % 1000 if name == "getMilliseconds" else whole


for _name, _unit in DURATION_PARTS.items():
    _duration_part(_name, _unit)


_LONGEST_PRECISION = 3
"""Digits; more decimals than a thousand would only fill the memory."""
_CLAUSE = re.compile(r"%(?:(%)|(?:\.(\d+))?([sdfebxXo]))|%")


@function("format", "string", "list")
def format_text(text: str, values: list[object]) -> str:
    """`"%s has %d".format([a, b])`."""
    left = iter(enumerate(values))

    def clause(match: re.Match[str]) -> str:
        if match.group(1):
            return "%"
        if match.group(3) is None:
            verb = text[match.end() : match.end() + 1]
            raise CelError(f'could not parse formatting clause: unrecognized formatting clause "{verb}"')
        try:
            _, value = next(left)
        except StopIteration as problem:
            raise CelError(f"index {len(values)} out of range") from problem
        precision = match.group(2) or "6"
        if len(precision) > _LONGEST_PRECISION:
            raise CelError(f"could not parse formatting clause: precision {precision[:20]} is too large")
        return _formatted(match.group(3), int(precision), value)

    return _CLAUSE.sub(clause, text)


def _formatted(verb: str, precision: int, value: object) -> str:
    if verb == "s":
        return _shown(value)
    if verb in "fe" and is_number(value):
        return format(float(value), f".{precision}{verb}")  # type: ignore[arg-type]
    if verb in "dboxX":
        if verb == "b" and isinstance(value, bool):
            return str(int(value))
        if isinstance(value, int) and not isinstance(value, bool):
            return format(int(value), verb)
        if verb in "xX" and isinstance(value, str | bytes):
            digits = (value.encode() if isinstance(value, str) else value).hex()
            return digits.upper() if verb == "X" else digits
    raise CelError(f"error during formatting: no formatting function for {type_of(value)}")


def _shown(value: object) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_shown, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_shown(k)}: {_shown(v)}" for k, v in sorted(value.items(), key=str)) + "}"
    return show(value) if value is None or isinstance(value, UInt | bool | int | float) else to_string(value)
