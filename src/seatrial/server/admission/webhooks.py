"""Mutating and validating admission webhooks.

Mutating ones are called one after the other in the order of their configurations; those with reinvocationPolicy
IfNeeded once more where a later one changed the object. A call waits on another thread (see store.deferral), since the
webhook may itself ask this server.

Upstream: k8s.io/apiserver/pkg/admission/plugin/webhook (mutating, validating, generic, errors).
"""

import base64
import binascii
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from seatrial.model.documents import Document, decode, encode
from seatrial.model.errors import BadRequest, Cause, StatusError, status_error
from seatrial.model.kinds import Kind
from seatrial.model.patches import PatchRefused, apply_json_patch
from seatrial.server.admission.matching import (
    ConditionError,
    conditions_match,
    is_exempt,
    rules_match,
    selectors_match,
)
from seatrial.server.admission.webhook_client import DEFAULT_SECONDS, CallError, address_of, call
from seatrial.store import Admission, Request, Store, User
from seatrial.store.deferral import elsewhere
from seatrial.store.field_errors import quoted

OUR_OWN = User("system:serviceaccount:kube-system:seatrial", ("system:serviceaccounts", "system:authenticated"))
"""The user of writes that our own controllers and scheduler make."""
PATH = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")


@dataclass(frozen=True, slots=True)
class Webhook:
    """One webhook of a configuration."""

    configuration: str
    document: Document

    @property
    def name(self) -> str:
        return str(self.document.get("name", ""))

    @property
    def ignores_failure(self) -> bool:
        return self.document.get("failurePolicy") == "Ignore"


class WebhookAdmission:
    """Calls the webhooks that are configured, around the steps of the API server itself."""

    def __init__(self, inner: Admission, store: Store, *, mutates: bool = True, validates: bool = True) -> None:
        self._inner = inner
        self._mutates, self._validates = mutates, validates
        self._mutating, self._validating = (_kind(store, name) for name in PATH)
        self._known: dict[str, tuple[int, tuple[Webhook, ...]]] = {}

    def admit(self, request: Request) -> None:
        """Run the inner steps, then the mutating webhooks."""
        self._inner.admit(request)
        if not self._mutates or is_exempt(request):
            return
        called: list[tuple[Webhook, bytes]] = []
        for webhook in self._matching(self._mutating, request):
            self._mutate(webhook, request)
            called.append((webhook, encode_object(request)))
        latest = encode_object(request) if called else b""
        for webhook, seen in called:
            if webhook.document.get("reinvocationPolicy") == "IfNeeded" and seen != latest:
                self._mutate(webhook, request)

    def validate(self, request: Request) -> None:
        """Run the validating webhooks, then the inner steps, of which the last charges a quota."""
        if self._validates and not is_exempt(request):
            for webhook in self._matching(self._validating, request):
                self._ask(webhook, request)
        self._inner.validate(request)

    def binding_labels(self, store: Store, node: str) -> Mapping[str, str]:
        """The labels that a pod takes over from the node it is bound to."""
        return self._inner.binding_labels(store, node)

    def inputs(self, store: Store, kind: Kind, namespace: str) -> tuple[int, ...] | None:
        """Those of the inner steps; None while a webhook is configured."""
        if any(len(store.index(configured)) for configured in (self._mutating, self._validating)):
            return None
        return self._inner.inputs(store, kind, namespace)

    def _matching(self, kind: Kind, request: Request) -> Iterator[Webhook]:
        index = request.store.index(kind)
        if not len(index):
            return
        for webhook in self._webhooks(request.store, kind):
            document = webhook.document
            if not rules_match(document.get("rules") or (), request) or not selectors_match(document, request):
                continue
            try:
                if conditions_match(document, request, review_request(request, "")):
                    yield webhook
            except ConditionError as error:
                if not webhook.ignores_failure:
                    raise _failed(webhook, f"failed to evaluate match conditions: {error}") from error

    def _webhooks(self, store: Store, kind: Kind) -> tuple[Webhook, ...]:
        found = store.list(kind)
        newest = max((stored.revision for stored in found), default=0) * (len(found) + 1)
        known = self._known.get(kind.kind)
        if known is None or known[0] != newest:
            hooks = tuple(
                Webhook(stored.name, hook) for stored in found for hook in stored.document().get("webhooks") or ()
            )
            known = self._known[kind.kind] = (newest, hooks)
        return known[1]

    def _mutate(self, webhook: Webhook, request: Request) -> None:
        response = self._ask(webhook, request)
        patch = (response or {}).get("patch")
        if not patch or response is None:
            return
        if response.get("patchType") != "JSONPatch":
            raise _failed(webhook, f"webhook returned response.patchType {quoted(str(response.get('patchType')))}")
        try:
            operations = decode(base64.b64decode(patch))
            changed = apply_json_patch(decode(encode_object(request)), operations)
        except (ValueError, binascii.Error) as error:
            raise _failed(webhook, f"couldn't decode the patch: {error}") from error
        except PatchRefused as error:
            raise _failed(webhook, error.why) from error
        metadata = request.document["metadata"]
        kept = {key: metadata[key] for key in ("name", "managedFields") if key in metadata}
        request.document.clear()
        request.document.update(changed)
        request.document["metadata"].update(kept)

    def _ask(self, webhook: Webhook, request: Request) -> Document | None:
        """The response that allows a request; None where the call failed and that is ignored."""
        if request.dry_run and webhook.document.get("sideEffects") not in ("None", "NoneOnDryRun"):
            raise BadRequest(f'admission webhook "{webhook.name}" does not support dry run')
        try:
            response = self._call(webhook, request)
        except CallError as error:
            if webhook.ignores_failure:
                return None
            raise _failed(webhook, f"failed to call webhook: {error}") from error
        for warning in response.get("warnings") or ():
            request.warn(str(warning))
        if not response.get("allowed"):
            raise _denied(webhook, response.get("status") or {})
        return response

    def _call(self, webhook: Webhook, request: Request) -> Document:
        about = [webhook.configuration, webhook.document, request.operation, request.subresource, request.dry_run]
        seen = encode([*about, (request.user or OUR_OWN).document()]) + _meaning(request)
        digest = hashlib.blake2b(seen, digest_size=16).hexdigest()
        uid = f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:]}"
        version = (webhook.document.get("admissionReviewVersions") or ["v1"])[0]
        review = {
            "kind": "AdmissionReview",
            "apiVersion": f"admission.k8s.io/{version}",
            "request": review_request(request, uid),
        }
        client = webhook.document.get("clientConfig") or {}
        url = address_of(request.store, client)
        seconds = webhook.document.get("timeoutSeconds") or DEFAULT_SECONDS

        def work() -> Document | CallError:
            try:
                return call(url, client, review, seconds)
            except CallError as error:
                return error

        answer = elsewhere("webhook", seen, work)
        if isinstance(answer, CallError):
            raise answer
        return answer


def review_request(request: Request, uid: str) -> Document:
    """The AdmissionRequest of a write."""
    kind, user = request.kind, request.user or OUR_OWN
    gvk = {"group": kind.group, "version": kind.version, "kind": kind.kind}
    gvr = {"group": kind.group, "version": kind.version, "resource": kind.plural}
    document: Document = {
        "uid": uid,
        "kind": gvk,
        "resource": gvr,
        "requestKind": gvk,
        "requestResource": gvr,
        "name": "" if request.generated_name else request.name,
        "operation": request.operation,
        "userInfo": user.document(),
        "object": None if request.operation == "DELETE" else decode(encode_object(request)),
        "oldObject": request.old,
        "dryRun": request.dry_run,
    }
    if request.subresource:
        document |= {"subResource": request.subresource, "requestSubResource": request.subresource}
    if request.namespace:
        document["namespace"] = request.namespace
    return document


def encode_object(request: Request) -> bytes:
    """The object as a webhook sees it; a generated name is not yet known."""
    document = request.document
    if not request.generated_name:
        return encode(document)
    metadata = {key: value for key, value in document["metadata"].items() if key != "name"}
    return encode({**document, "metadata": metadata})


def _meaning(request: Request) -> bytes:
    """What a call depends on: an object that is made again has another uid and perhaps another name."""
    parts = []
    for each in (request.document, request.old):
        metadata = (each or {}).get("metadata") or {}
        left_out = {"uid", "creationTimestamp", "managedFields", *(("name",) if request.generated_name else ())}
        kept = {key: value for key, value in metadata.items() if key not in left_out}
        parts.append({**(each or {}), "metadata": kept})
    return encode(parts)


def _failed(webhook: Webhook, why: str) -> StatusError:
    text = f'failed calling webhook "{webhook.name}": {why}'
    return StatusError(f"Internal error occurred: {text}", causes=[Cause("", text, "")])


def _denied(webhook: Webhook, status: Document) -> StatusError:
    """The refusal of a webhook, with the code, reason and details that it gives."""
    by = f'admission webhook "{webhook.name}" denied the request'
    why = status.get("message") or status.get("reason")
    code = max(int(status.get("code") or 0), BadRequest.code)
    text = f"{by}: {why}" if why else f"{by} without explanation"
    return status_error(code, str(status.get("reason") or ""), text, status.get("details"))


def _kind(store: Store, name: str) -> Kind:
    return store.kinds.served("admissionregistration.k8s.io/v1", name)
