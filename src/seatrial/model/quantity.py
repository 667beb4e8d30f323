"""Quantities: exact decimal numbers with a memory for how they were written.

Follows k8s.io/apimachinery/pkg/api/resource (v0.36.3). Upstream keeps a number either as an int64 with a decimal
exponent or, where that does not fit, as a big decimal, and the two differ at the edges: how a negative fraction is
rounded, what an overflowing `value()` gives, where the cap of int64 applies. Both forms are kept apart here
(`is_big`), since a scheduler compares these very numbers. One deliberate difference: texts of
more than a thousand letters, and big decimals with exponents on which upstream would work for hours, are refused.

A parsed text that is "almost canonical" is written back as it came (`01`, `1.500`, `+1`), as upstream does.
"""

from functools import lru_cache
from math import inf
from typing import Final

DECIMAL_SI: Final = "DecimalSI"
BINARY_SI: Final = "BinarySI"
DECIMAL_EXPONENT: Final = "DecimalExponent"

NANO, MILLI, UNIT = -9, -3, 0
MAX_INT64: Final = (1 << 63) - 1
MIN_INT64: Final = -(1 << 63)
MAX_MILLI_VALUE: Final = MAX_INT64 // 1000

FORMAT_WRONG: Final = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"  # as upstream says it
)
NUMBER_WRONG: Final = "unable to parse numeric part of quantity"
SUFFIX_WRONG: Final = "unable to parse quantity's suffix"

_DECIMAL_SUFFIXES: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY_SUFFIXES: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_OUTPUT: Final = {exponent: suffix for suffix, exponent in _DECIMAL_SUFFIXES.items()}
_BINARY_OUTPUT: Final = {exponent // 10: suffix for suffix, exponent in _BINARY_SUFFIXES.items()} | {0: ""}
_MOST_DIGITS: Final = 18
_DIGITS: Final = frozenset("0123456789")
_SUFFIX_LETTERS: Final = frozenset("eEinumkKMGTP")
# Beyond this exponent a big decimal is not written out; upstream would not come back.
_LARGEST_BIG_EXPONENT: Final = 1_000
_LONGEST_TEXT: Final = 1_000


class QuantityError(ValueError):
    """A text that is no quantity; the message is upstream's."""


class Quantity:
    """An immutable exact number with a format; equal numbers are equal however they are written."""

    __slots__ = ("_text", "exponent", "format", "is_big", "unscaled")

    def __init__(
        self, unscaled: int, exponent: int = 0, format: str = DECIMAL_SI, *, is_big: bool = False, text: str = ""
    ) -> None:
        self.unscaled = unscaled
        self.exponent = exponent
        self.format = format
        self.is_big = is_big
        self._text = text

    @classmethod
    def parse(cls, value: str | int | float) -> "Quantity":
        """Read a quantity as a document holds it: a string or a JSON number."""
        return _parse(_text_of(value))

    @classmethod
    def milli(cls, value: int, format: str = DECIMAL_SI) -> "Quantity":
        """`value` thousandths."""
        return cls(value, MILLI, format)

    def value(self) -> int:
        """The number as an int64, rounded up."""
        return self.scaled_value(UNIT)

    def milli_value(self) -> int:
        """Thousandths as an int64, rounded up."""
        return self.scaled_value(MILLI)

    def scaled_value(self, scale: int) -> int:
        """ceil(number / 10**scale) as an int64; an overflow gives what Go gives."""
        difference = self.exponent - scale
        if self.is_big:
            return _scale_big(self.unscaled, -difference)
        if difference >= 0:
            return _scale_up(self.unscaled, difference)
        return _round_away(self.unscaled, -difference)[0]

    def as_int64(self) -> int | None:
        """The number when it is a whole int64 in the small form, else None (upstream's AsInt64)."""
        if self.is_big or self.exponent < 0:
            return None
        if self.unscaled and self.exponent > _MOST_DIGITS:
            return None
        result = self.unscaled * 10**self.exponent if self.unscaled else 0
        return result if MIN_INT64 <= result <= MAX_INT64 else None

    def as_float(self) -> float:
        """The nearest float by upstream's quick way (AsApproximateFloat64)."""
        try:
            base = float(self.unscaled)
        except OverflowError:
            base = inf if self.unscaled > 0 else -inf
        return base if self.exponent == 0 else base * _pow10(self.exponent)

    @property
    def sign(self) -> int:
        return (self.unscaled > 0) - (self.unscaled < 0)

    def is_zero(self) -> bool:
        return self.unscaled == 0

    def round_up(self, scale: int) -> "Quantity":
        """This number with no digit below 10**scale, rounded away from zero."""
        if self.exponent >= scale:
            return self
        return Quantity(_round_away(self.unscaled, scale - self.exponent)[0], scale, self.format, is_big=self.is_big)

    def compare(self, other: "Quantity") -> int:
        """-1, 0 or 1."""
        if self.exponent == other.exponent:
            return (self.unscaled > other.unscaled) - (self.unscaled < other.unscaled)
        if self.sign != other.sign or self.sign == 0:
            return (self.sign > other.sign) - (self.sign < other.sign)
        mine, theirs = _magnitude(self), _magnitude(other)
        if abs(mine - theirs) > 2:
            return self.sign if mine > theirs else -self.sign
        lowest = min(self.exponent, other.exponent)
        left: int = self.unscaled * 10 ** (self.exponent - lowest)
        right: int = other.unscaled * 10 ** (other.exponent - lowest)
        return (left > right) - (left < right)

    def __add__(self, other: "Quantity") -> "Quantity":
        format = other.format if self.unscaled == 0 else self.format
        is_big = self.is_big or other.is_big
        if not is_big and not (self.unscaled and other.unscaled):
            kept = other if other.unscaled else self
            return Quantity(kept.unscaled, kept.exponent, format)
        lowest = min(self.exponent, other.exponent)
        if max(self.exponent, other.exponent) - lowest > _LARGEST_BIG_EXPONENT:
            raise QuantityError(NUMBER_WRONG)
        left = self.unscaled * 10 ** (self.exponent - lowest)
        right = other.unscaled * 10 ** (other.exponent - lowest)
        total = left + right
        small = not is_big and all(MIN_INT64 <= number <= MAX_INT64 for number in (left, right, total))
        return Quantity(total, lowest, format, is_big=not small)

    def __sub__(self, other: "Quantity") -> "Quantity":
        return self + -other

    def __neg__(self) -> "Quantity":
        return Quantity(-self.unscaled, self.exponent, self.format, is_big=self.is_big)

    def __mul__(self, factor: int) -> "Quantity":
        product = self.unscaled * factor
        fits = product == 0 or (
            MIN_INT64 <= product <= MAX_INT64
            and (self.exponent <= 0 or abs(product) * 10 ** min(self.exponent, 19) <= MAX_INT64)
        )
        return Quantity(product, self.exponent if product else 0, self.format, is_big=self.is_big or not fits)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self.compare(other) == 0

    def __lt__(self, other: "Quantity") -> bool:
        return self.compare(other) < 0

    def __le__(self, other: "Quantity") -> bool:
        return self.compare(other) <= 0

    def __gt__(self, other: "Quantity") -> bool:
        return self.compare(other) > 0

    def __ge__(self, other: "Quantity") -> bool:
        return self.compare(other) >= 0

    def __bool__(self) -> bool:
        return self.unscaled != 0

    def __hash__(self) -> int:
        return hash(_without_factors(self.unscaled, 10, self.exponent)) if self.unscaled else 0

    def __str__(self) -> str:
        if not self._text:
            self._text = _canonical(self)
        return self._text

    def __repr__(self) -> str:
        return f"Quantity({str(self)!r})"


def quantity_value(value: str | int | float) -> int:
    """A quantity's whole number, rounded up, as an int64."""
    return _parse(_text_of(value)).value()


def quantity_milli(value: str | int | float) -> int:
    """A quantity's thousandths, rounded up, as an int64."""
    return _parse(_text_of(value)).milli_value()


def canonical_quantity(value: str | int | float) -> str:
    """A quantity as the API writes it."""
    return str(_parse(_text_of(value)))


def _text_of(value: str | int | float) -> str:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, bool):
        raise QuantityError(FORMAT_WRONG)
    return repr(value).replace("e+", "e")


@lru_cache(maxsize=16384)
def _parse(text: str) -> Quantity:
    if text == "0":
        return Quantity(0, text=text)
    if len(text) > _LONGEST_TEXT:
        raise QuantityError(NUMBER_WRONG)
    positive, written, whole, fraction, suffix = _split(text)
    binary, exponent, format = _interpret(suffix)
    digits = len(whole) + len(fraction)
    if binary:
        scale, factor = 0, 1 << exponent
        room = _MOST_DIGITS - 4 - len(whole) - exponent * 3 // 10 if not fraction else -1
    else:
        scale, factor = exponent, 1
        room = _MOST_DIGITS - digits
    if room >= 0 and (scale := scale - len(fraction)) >= NANO:
        shifted = whole + fraction
        number = int(shifted)
        tidy = scale % 3 == 0 and not shifted.endswith("000") and shifted[0] != "0"
        kept = number & 7 != 0 if binary else tidy
        unscaled = number * factor if positive else -number * factor
        return Quantity(unscaled, scale, format, text=text if kept else "")
    if not written.lstrip("+-").replace(".", "", 1):
        raise QuantityError(NUMBER_WRONG)
    return _parse_big(int(whole + fraction) * factor, (0 if binary else exponent) - len(fraction), format, positive)


def _parse_big(unscaled: int, scale: int, format: str, positive: bool) -> Quantity:
    """The big form: never finer than nano (rounded up), and capped where the suffix is binary."""
    if unscaled == 0:
        return Quantity(0, max(-_LARGEST_BIG_EXPONENT, min(scale, _LARGEST_BIG_EXPONENT)), format, is_big=True)
    if scale > _LARGEST_BIG_EXPONENT:
        raise QuantityError(NUMBER_WRONG)
    if scale < NANO:
        unscaled, _ = _round_away(unscaled, NANO - scale)
    else:
        unscaled *= 10 ** (scale - NANO)
    unit = 10**-NANO
    if format == BINARY_SI:
        unscaled = min(unscaled, MAX_INT64 * unit)
        if unscaled < unit:
            format = DECIMAL_SI
    scale = NANO
    if unscaled == MAX_INT64 * unit and format == BINARY_SI:
        unscaled, scale = MAX_INT64, 0
    return Quantity(unscaled if positive else -unscaled, scale, format, is_big=True)


def _split(text: str) -> tuple[bool, str, str, str, str]:
    """Sign, the written number, its digits before and after the point, and the suffix."""
    if not text:
        raise QuantityError(FORMAT_WRONG)
    end = len(text)
    start = 1 if text[0] in "+-" else 0
    positive = text[0] != "-"
    first = start
    while first < end and text[first] == "0":
        first += 1
    if first == end:
        return positive, "0", "0", "", ""
    position = _skip(text, first, _DIGITS)
    whole = text[first:position] or "0"
    fraction = ""
    if position < end and text[position] == ".":
        point = position + 1
        position = _skip(text, point, _DIGITS)
        fraction = text[point:position]
    written, suffix = text[:position], text[position:]
    after = _skip(suffix, 0, _SUFFIX_LETTERS)
    if after < len(suffix) and suffix[after] in "+-":
        after += 1
    if _skip(suffix, after, _DIGITS) < len(suffix):
        raise QuantityError(FORMAT_WRONG)
    return positive, written, whole, fraction, suffix


def _skip(text: str, position: int, letters: frozenset[str]) -> int:
    while position < len(text) and text[position] in letters:
        position += 1
    return position


def _interpret(suffix: str) -> tuple[bool, int, str]:
    """Whether the suffix is a power of two, its exponent, and its format."""
    decimal = _DECIMAL_SUFFIXES.get(suffix)
    if decimal is not None:
        return False, decimal, DECIMAL_SI
    binary = _BINARY_SUFFIXES.get(suffix)
    if binary is not None:
        return True, binary, BINARY_SI
    if len(suffix) > 1 and suffix[0] in "eE":
        digits = suffix[2:] if suffix[1] in "+-" else suffix[1:]
        if digits and _skip(digits, 0, _DIGITS) == len(digits):
            exponent = -int(digits) if suffix[1] == "-" else int(digits)
            if MIN_INT64 <= exponent <= MAX_INT64:
                return False, _wrap(exponent, 32), DECIMAL_EXPONENT
    raise QuantityError(SUFFIX_WRONG)


def _canonical(quantity: Quantity) -> str:
    if quantity.unscaled == 0:
        return "0"
    format = quantity.format
    if format == BINARY_SI:
        whole, exact = _round_away(quantity.unscaled, -quantity.exponent) if quantity.exponent < 0 else (0, True)
        if exact and not Quantity(-1024) < quantity < Quantity(1024):
            number = whole if quantity.exponent < 0 else quantity.unscaled * 10**quantity.exponent
            number, times = _without_factors(number, 1024, 0)
            return f"{number}{_BINARY_OUTPUT.get(times, '')}"
        format = DECIMAL_SI
    number, exponent = _without_factors(quantity.unscaled, 10, quantity.exponent)
    surplus = exponent % 3
    number, exponent = number * 10**surplus, exponent - surplus
    if format == DECIMAL_EXPONENT:
        return f"{number}e{exponent}" if exponent else str(number)
    return f"{number}{_DECIMAL_OUTPUT.get(exponent, '')}"


def _without_factors(number: int, factor: int, times: int) -> tuple[int, int]:
    while number % factor == 0:
        number //= factor
        times += 1
    return number, times


def _round_away(number: int, digits: int) -> tuple[int, bool]:
    """`number` without its last `digits` digits, rounded away from zero, and whether nothing was lost."""
    if number == 0:
        return 0, True
    sign, number = (1, number) if number > 0 else (-1, -number)
    if digits > number.bit_length():
        return sign, False
    result, rest = divmod(number, 10**digits)
    return sign * (result + (rest != 0)), rest == 0


def _scale_up(number: int, digits: int) -> int:
    """number * 10**digits; on overflow 0, or the wrapped product for the factors upstream multiplies by at once."""
    if number == 0:
        return 0
    if digits > _MOST_DIGITS + 1:
        return 0
    result: int = number * 10**digits
    if MIN_INT64 <= result <= MAX_INT64:
        return result
    if digits not in (1, 2, 3, 6, 9) or number == MIN_INT64:
        return 0
    return _wrap(result, 64)


def _scale_big(number: int, digits: int) -> int:
    """`number` of a big decimal without `digits` digits, as upstream's scaledValue, its wrapping included."""
    if digits == 0:
        return _wrap(number, 64)
    if digits < 0:
        power: int = 10**-digits if -digits < 19 else MIN_INT64
        return _wrap(_wrap(number, 64) * power, 64)
    divisor: int = 10**digits
    if number < MAX_INT64 and digits < 19:
        number = _wrap(number, 64)
        quotient, rest = divmod(abs(number), divisor)
        return (quotient if number >= 0 else -quotient) + (rest != 0)
    quotient, rest = divmod(number, divisor)
    return _wrap(_wrap(quotient, 64) + (rest != 0), 64)


def _wrap(number: int, bits: int) -> int:
    half = 1 << (bits - 1)
    return (number + half) % (half << 1) - half


def _magnitude(quantity: Quantity) -> int:
    """The number's decimal digits before the point, give or take one."""
    return quantity.unscaled.bit_length() * 30103 // 100000 + quantity.exponent


def _pow10(exponent: int) -> float:
    """10**exponent from the two tables that Go multiplies; not always the nearest float."""
    if not -323 <= exponent <= 308:
        return 0.0 if exponent < 0 else inf
    high, low = divmod(abs(exponent), 32)
    if exponent < 0:
        return float(f"1e-{high * 32}") / float(f"1e{low}")
    return float(f"1e{high * 32}") * float(f"1e{low}")
