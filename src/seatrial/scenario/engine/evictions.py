"""A createOperation whose object is an Eviction (policy/v1): a request to the eviction subresource of a pod.

The server's answer, a Status, is the operation's result. A PodDisruptionBudget that refuses (429) is an answer as well:
the scenario goes on, as a client does that tries again later. Any other refusal fails the scenario, as it does for
every operation.
"""

from typing import Any

import msgspec

from seatrial.model.documents import Document, encode
from seatrial.model.errors import BadRequest, TooManyRequests
from seatrial.model.kinds import Kind
from seatrial.scenario.spec.kind import DeleteOptions
from seatrial.store import Store, Stored

EVICTION = Kind("policy", "v1", "Eviction", "evictions")
EVICTED: Document = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}


def is_eviction(document: Document | None) -> bool:
    """Whether the object of a createOperation is an Eviction."""
    return document is not None and document.get("kind") == EVICTION.kind and document["apiVersion"] == "policy/v1"


def eviction_options(document: Document) -> DeleteOptions:
    """The deleteOptions of an Eviction; BadRequest where they are none."""
    given: Any = document.get("deleteOptions") or {}
    try:
        return msgspec.convert(given, DeleteOptions)
    except msgspec.ValidationError as error:
        raise BadRequest(f"deleteOptions: {error}") from error


def answered(store: Store, namespace: str, name: str, refusal: TooManyRequests | None) -> Stored:
    """The answer of the server, in the place of the object that other creations give."""
    data = encode(EVICTED if refusal is None else refusal.status())
    return Stored(EVICTION, namespace, name, store.revision, data)
