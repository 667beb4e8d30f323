"""One object in several versions: what is stored once can be read and written in each version that is served."""

from seatrial.model.documents import decode, encode
from seatrial.model.kinds import Kind, Kinds
from seatrial.store.conversions import convert, is_converted

__all__ = ["convert", "convert_data", "storage_kind", "type_head"]


def storage_kind(kinds: Kinds, kind: Kind) -> Kind:
    """The kind whose index a request for `kind` reads and writes."""
    if kind.group == "events.k8s.io" and kind.kind == "Event":
        return kinds.named("v1", "Event") or kind
    if kind.group == "autoscaling" and kind.version == "v1" and kind.kind == "HorizontalPodAutoscaler":
        return kinds.named("autoscaling/v2", kind.kind) or kind
    return kind


def convert_data(data: bytes, source: Kind, kind: Kind) -> bytes:
    """The encoded object in the version of `kind`; a mere change of apiVersion costs no decoding."""
    if not is_converted(source, kind):
        head = type_head(source)
        if data.startswith(head):
            return type_head(kind) + data[len(head) :]
    return encode(convert(decode(data), kind))


def type_head(kind: Kind) -> bytes:
    """How the bytes of every stored object of this kind begin."""
    return b'{"kind":"%s","apiVersion":"%s",' % (kind.kind.encode(), kind.api_version.encode())
