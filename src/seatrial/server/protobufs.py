"""Kubernetes' protobuf on the wire: enveloped objects, lists, and length-delimited watch events."""

MAGIC = b"k8s\x00"


def frame(type: str, body: bytes) -> bytes:
    """A watch event as the protobuf stream has it: its length, then a metav1.WatchEvent around the enveloped object."""
    event = _field(1, type.encode()) + _field(2, _field(1, body))
    return len(event).to_bytes(4, "big") + event


def _field(number: int, data: bytes) -> bytes:
    return bytes((number << 3 | 2,)) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    parts.append(value)
    return bytes(parts)
