"""Converts custom resources between versions by the webhook of their definition.

The request that needs a conversion waits on another thread (see store.deferral). Its key leaves out what differs each
time the request is repeated, and the metadata of the answer is replaced by the object's own, but for labels and
annotations. Objects of a list are sent in one review; upstream sends one review for each.

Upstream: apiextensions-apiserver/pkg/apiserver/conversion/webhook_converter.go.
"""

import hashlib
from collections.abc import Sequence
from typing import Any

from seatrial.model.documents import Document, decode, encode
from seatrial.model.errors import StatusError, status_error
from seatrial.model.kinds import Kind
from seatrial.server.webhooks.client import CallError, address_of, call
from seatrial.store import Store, annotation_causes, label_causes
from seatrial.store.deferral import elsewhere
from seatrial.store.field_errors import quoted

SECONDS = 30
GROUP = "apiextensions.k8s.io"
KNOWN_REVIEWS = ("v1", "v1beta1")


class ConversionWebhooks:
    """The conversion of objects by the webhooks of definitions."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __call__(self, kind: Kind, webhook: Document, documents: Sequence[Document]) -> list[Document]:
        """The documents in the version of `kind`; a StatusError tells what the webhook did wrong."""
        client = webhook.get("clientConfig") or {}
        address = address_of(self._store, client)
        version = next((v for v in webhook.get("conversionReviewVersions") or () if v in KNOWN_REVIEWS), "")
        if not version:
            raise status_error(500, "", "no supported conversion review versions")
        seen = encode([kind.api_version, webhook, [_lasting(document) for document in documents]])
        digest = hashlib.blake2b(seen, digest_size=16).hexdigest()
        uid = f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:]}"
        sent = [decode(encode(document)) for document in documents]
        review = {
            "kind": "ConversionReview",
            "apiVersion": f"{GROUP}/{version}",
            "request": {"uid": uid, "desiredAPIVersion": kind.api_version, "objects": sent},
        }

        def work() -> list[Document] | StatusError:
            try:
                answer = call(address, client, review, SECONDS)
                return [_checked(*pair, kind) for pair in zip(sent, _objects(answer, review), strict=True)]
            except (CallError, _Refused) as error:
                fault = f"failed: {error}" if isinstance(error, CallError) else str(error)
                return status_error(500, "", f"conversion webhook for {_type_of(sent[0])} {fault}")

        converted = elsewhere("conversion", seen, work)
        if isinstance(converted, StatusError):
            raise converted
        return [_with_metadata(*pair) for pair in zip(documents, converted, strict=True)]


class _Refused(Exception):
    """An answer that does not convert what was sent."""


def _lasting(document: Document) -> Document:
    """An object without what another attempt at the same request gives it."""
    metadata = document.get("metadata") or {}
    kept = {key: metadata[key] for key in ("labels", "annotations", "generateName") if key in metadata}
    if not metadata.get("generateName"):
        kept["name"] = metadata.get("name")
    return {**document, "metadata": kept}


def _objects(answer: Document, review: Document) -> list[Any]:
    """The objects of an answer; CallError where it is no answer to the review, or no success."""
    response = answer.get("response")
    if review["apiVersion"] == f"{GROUP}/v1" and (answer.get("apiVersion"), answer.get("kind")) != (
        review["apiVersion"],
        review["kind"],
    ):
        raise CallError(f"expected webhook response of {_type_of(review)}, got {_type_of(answer)}")
    if not isinstance(response, dict):
        raise CallError("no response provided")
    uid = review["request"]["uid"]
    if review["apiVersion"] == f"{GROUP}/v1" and response.get("uid") != uid:
        raise CallError(f"expected response.uid={quoted(uid)}, got {quoted(str(response.get('uid') or ''))}")
    result = response.get("result") or {}
    if result.get("status") != "Success":
        text = f"response.result.status was '{result.get('status') or ''}', not 'Success'"
        raise CallError(str(result.get("message") or text))
    objects = response.get("convertedObjects") or []
    if len(objects) != len(review["request"]["objects"]):
        raise _Refused(f"returned {len(objects)} objects, expected {len(review['request']['objects'])}")
    return list(objects)


def _checked(sent: Document, converted: Any, kind: Kind) -> Document:
    """A converted object that may replace the one that was sent."""
    if not isinstance(converted, dict):
        raise _Refused("returned invalid object at index 0: it is no object")
    if converted.get("apiVersion") != kind.api_version:
        what = f"(expected {kind.api_version}, received {converted.get('apiVersion', '')})"
        raise _Refused(f"returned invalid object at index 0: invalid groupVersion {what}")
    if converted.get("kind") != sent["kind"]:
        what = f"(expected {sent['kind']}, received {converted.get('kind', '')})"
        raise _Refused(f"returned invalid object at index 0: invalid kind {what}")
    metadata = converted.get("metadata")
    given = metadata if isinstance(metadata, dict) else {}
    for key, name in (("name", "name"), ("namespace", "namespace"), ("uid", "UID")):
        before, after = sent["metadata"].get(key) or "", given.get(key) or ""
        if before != after:
            raise _Refused(f"returned invalid object: must have the same {name}: {before} != {after}")
    if not isinstance(metadata, dict):
        why = "missing metadata" if metadata is None else f"invalid metadata of type {type(metadata).__name__}"
        raise _Refused(f"returned invalid metadata: {why} in converted object")
    for key in ("labels", "annotations"):
        _check_texts(key, metadata.get(key), sent["metadata"].get(key))
    return converted


def _check_texts(key: str, given: Any, before: Any) -> None:
    """Labels and annotations that the webhook changed must be valid."""
    if given is None or given == before:
        return
    if not isinstance(given, dict):
        raise _Refused(f"returned invalid metadata: invalid metadata.{key} in converted object")
    for name, value in given.items():
        if not isinstance(value, str):
            raise _Refused(f"returned invalid metadata: metadata.{key}[{name}] must be a string in converted object")
    causes = list(label_causes(given, "metadata.labels") if key == "labels" else annotation_causes(given))
    if causes:
        texts = [f"{cause.field}: {cause.message}" for cause in causes]
        listed = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
        raise _Refused(f"returned invalid metadata: {listed}")


def _with_metadata(original: Document, converted: Document) -> Document:
    """The converted object with the metadata of the original, but for labels and annotations."""
    document: Document = decode(encode(converted))
    given = document["metadata"]
    metadata = {key: value for key, value in original["metadata"].items() if key not in ("labels", "annotations")}
    metadata |= {key: given[key] for key in ("labels", "annotations") if given.get(key) is not None}
    head = {"kind": document["kind"], "apiVersion": document["apiVersion"], "metadata": metadata}
    return head | {key: value for key, value in document.items() if key not in head}


def _type_of(document: Document) -> str:
    return f"{document.get('apiVersion') or ''}, Kind={document.get('kind') or ''}"
