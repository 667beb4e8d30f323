"""The objects that kube-apiserver creates when it starts: default roles and bindings, and what later modules add.

Upstream: plugin/pkg/auth/authorizer/rbac/bootstrappolicy. The objects are data, recorded from a kube-apiserver
v1.36.3 by `scripts/record_bootstrap.py`.
"""

import zlib
from functools import cache
from importlib.resources import files

from seatrial.model.documents import Document, decode
from seatrial.store import Store
from seatrial.store.options import CreateOptions

WRITER = "system:apiserver"
OPTIONS = CreateOptions(field_manager="kube-apiserver", restored=True)
"""Restored, since some of the objects come with their status."""


def bootstrap(store: Store) -> None:
    """Create the objects that are not there."""
    for document in recorded():
        create_once(store, document)


def create_once(store: Store, document: Document) -> None:
    """Create an object unless one of its name exists."""
    kind = store.kinds.served(document["apiVersion"], document["kind"])
    metadata = document["metadata"]
    namespace = metadata.get("namespace", "")
    if store.find(kind, metadata["name"], namespace) is None:
        store.create(kind, document, writer=WRITER, namespace=namespace, options=OPTIONS)


@cache
def recorded() -> tuple[Document, ...]:
    """The recorded objects, without what the store sets."""
    data = files(__package__).joinpath("objects.json.z").read_bytes()
    return tuple(decode(zlib.decompress(data)))
