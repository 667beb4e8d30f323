"""ConfigMaps and Secrets.

Upstream: ValidateConfigMap… and ValidateSecret… of pkg/apis/core/validation/validation.go.
"""

from collections.abc import Iterator

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import forbidden, invalid, required, too_long
from seatrial.store.object_meta import IMMUTABLE
from seatrial.store.validation.formats import each, key_faults

MOST_BYTES = 1024 * 1024
_ACCOUNT = "kubernetes.io/service-account.name"
_ONCE = "field is immutable when `immutable` is set"
_NEEDED = {
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
}


def config_causes(document: Document) -> Iterator[Cause]:
    """Validation errors of a ConfigMap."""
    data, binary = document.get("data") or {}, document.get("binaryData") or {}
    for key in data:
        yield from each(key_faults, key, f"data[{key}]")
        if key in binary:
            yield invalid(f"data[{key}]", key, "duplicate of key present in binaryData")
    for key in binary:
        yield from each(key_faults, key, f"binaryData[{key}]")
    size = sum(len(value.encode()) for value in data.values()) + sum(map(_decoded, binary.values()))
    if size > MOST_BYTES:
        yield too_long("[]", MOST_BYTES)


def config_update_causes(document: Document, old: Document, subresource: str) -> Iterator[Cause]:
    """Validation errors of an update of a ConfigMap."""
    yield from _unchanged(document, old, ("data", "binaryData"))
    yield from config_causes(document)


def _unchanged(document: Document, old: Document, keys: tuple[str, ...]) -> Iterator[Cause]:
    if not old.get("immutable"):
        return
    if not document.get("immutable"):
        yield forbidden("immutable", _ONCE)
    for key in keys:
        if document.get(key) != old.get(key):
            yield forbidden(key, _ONCE)


def _decoded(text: str) -> int:
    return len(text) * 3 // 4 - text[-2:].count("=")


def secret_causes(document: Document) -> Iterator[Cause]:
    """Validation errors of a Secret."""
    data, kind = document.get("data") or {}, document.get("type", "")
    for key in data:
        yield from each(key_faults, key, f"data[{key}]")
    if sum(map(_decoded, data.values())) > MOST_BYTES:
        yield too_long("data", MOST_BYTES)
    if kind == "kubernetes.io/service-account-token":
        if not (document["metadata"].get("annotations") or {}).get(_ACCOUNT):
            yield required(f"metadata.annotations[{_ACCOUNT}]")
    elif kind == "kubernetes.io/basic-auth":
        if "username" not in data and "password" not in data:
            yield required("data[username]")
            yield required("data[password]")
    elif kind == "kubernetes.io/ssh-auth":
        if not data.get("ssh-privatekey"):
            yield required("data[ssh-privatekey]")
    else:
        for key in _NEEDED.get(kind, ()):
            if key not in data:
                yield required(f"data[{key}]")


def secret_update_causes(document: Document, old: Document, subresource: str) -> Iterator[Cause]:
    """Validation errors of an update of a Secret."""
    if document.get("type", "") != old.get("type", ""):
        yield invalid("type", document.get("type", ""), IMMUTABLE)
    yield from _unchanged(document, old, ("data",))
    yield from secret_causes(document)
