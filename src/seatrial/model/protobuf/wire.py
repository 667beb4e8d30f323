"""The bytes of protobuf: varints, keys, and the fields of a message one by one."""

from collections.abc import Iterator

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
_NEGATIVE = 1 << 63
_MODULUS = 1 << 64


class WireError(ValueError):
    """Bytes that are no protobuf message."""


def varint(number: int) -> bytes:
    """A number as a varint; negative ones as 64-bit two's complement."""
    if 0 <= number < 128:
        return _SMALL[number]
    if number < 0:
        number += _MODULUS
    parts = bytearray()
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    parts.append(number)
    return bytes(parts)


_SMALL = [bytes((number,)) for number in range(128)]


def key(number: int, wire_type: int) -> bytes:
    """The key of a field: number and wire type."""
    return varint(number << 3 | wire_type)


def delimited(prefix: bytes, data: bytes) -> bytes:
    """A length-delimited field behind its key."""
    return prefix + varint(len(data)) + data


def read_varint(data: bytes, position: int) -> tuple[int, int]:
    """The varint at a position, as an unsigned number, and where it ends."""
    result = shift = 0
    while True:
        if position >= len(data) or shift > 63:
            raise WireError("unexpected EOF" if shift <= 63 else "proto: integer overflow")
        byte = data[position]
        position += 1
        result |= (byte & 127) << shift
        if byte < 128:
            return result & (_MODULUS - 1), position
        shift += 7


def signed(number: int) -> int:
    """An unsigned 64-bit number reinterpreted as signed."""
    return number - _MODULUS if number >= _NEGATIVE else number


def read_fields(data: bytes) -> Iterator[tuple[int, int, int | bytes]]:
    """The fields of a message: number, wire type and raw value (an unsigned number or bytes)."""
    position, end = 0, len(data)
    while position < end:
        tag = data[position]
        position += 1
        if tag > 127:
            tag, position = read_varint(data, position - 1)
        wire_type = tag & 7
        if wire_type in (VARINT, LENGTH):
            number = data[position] if position < end else 128
            position += 1
            if number > 127:
                number, position = read_varint(data, position - 1)
            if wire_type == VARINT:
                yield tag >> 3, wire_type, number
                continue
        elif wire_type in (FIXED64, FIXED32):
            number = 8 if wire_type == FIXED64 else 4
        else:
            raise WireError(f"proto: illegal wireType {wire_type}")
        start, position = position, position + number
        if position > end:
            raise WireError("unexpected EOF")
        yield tag >> 3, wire_type, data[start:position]
