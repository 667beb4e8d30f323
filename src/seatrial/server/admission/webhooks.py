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
    matched,
    selectors_match,
    take_over,
)
from seatrial.server.webhooks.client import CallError, address_of, call
from seatrial.store import Admission, Request, Store, User
from seatrial.store.deferral import elsewhere
from seatrial.store.field_errors import quoted

OUR_OWN = User("system:serviceaccount:kube-system:seatrial", ("system:serviceaccounts", "system:authenticated"))
"""The user of writes that our own controllers and scheduler make."""
DEFAULT_SECONDS = 10
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
        for webhook, seen in self._matching(self._mutating, request):
            self._mutate(webhook, seen, request)
            called.append((webhook, encode_object(request)))
        latest = encode_object(request) if called else b""
        for webhook, before in called:
            if webhook.document.get("reinvocationPolicy") == "IfNeeded" and before != latest:
                again = matched(webhook.document.get("rules") or (), _policy(webhook), request)
                self._mutate(webhook, again or request, request)

    def validate(self, request: Request) -> None:
        """Run the validating webhooks, then the inner steps, of which the last charges a quota."""
        if self._validates and not is_exempt(request):
            for webhook, seen in self._matching(self._validating, request):
                self._ask(webhook, seen, request.kind)
        self._inner.validate(request)

    def binding_labels(self, store: Store, node: str) -> Mapping[str, str]:
        """The labels that a pod takes over from the node it is bound to."""
        return self._inner.binding_labels(store, node)

    def inputs(self, store: Store, kind: Kind, namespace: str) -> tuple[int, ...] | None:
        """Those of the inner steps; None while a webhook is configured."""
        if store.index(self._mutating) or store.index(self._validating):
            return None
        return self._inner.inputs(store, kind, namespace)

    def _matching(self, kind: Kind, request: Request) -> Iterator[tuple[Webhook, Request]]:
        """The webhooks to call, each with the request in the version that its rules name."""
        index = request.store.index(kind)
        if not len(index):
            return
        for webhook in self._webhooks(request.store, kind):
            document = webhook.document
            seen = matched(document.get("rules") or (), _policy(webhook), request)
            if seen is None or not selectors_match(document, seen):
                continue
            try:
                if conditions_match(document, seen, review_request(seen, "", request.kind)):
                    yield webhook, seen
            except ConditionError as error:
                if not webhook.ignores_failure:
                    raise _failed(webhook, f"failed to evaluate match conditions: {error}") from error

    def _webhooks(self, store: Store, kind: Kind) -> tuple[Webhook, ...]:
        writes = store.writes(kind.group_kind)
        known = self._known.get(kind.kind)
        if known is None or known[0] != writes:
            found = store.list(kind)
            hooks = tuple(
                Webhook(stored.name, hook) for stored in found for hook in stored.document().get("webhooks") or ()
            )
            known = self._known[kind.kind] = (writes, hooks)
        return known[1]

    def _mutate(self, webhook: Webhook, seen: Request, request: Request) -> None:
        self._patch(webhook, seen, request.kind)
        take_over(request, seen)

    def _patch(self, webhook: Webhook, request: Request, asked: Kind) -> None:
        response = self._ask(webhook, request, asked)
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

    def _ask(self, webhook: Webhook, request: Request, asked: Kind) -> Document | None:
        """The response that allows a request; None where the call failed and that is ignored."""
        if request.dry_run and webhook.document.get("sideEffects") not in ("None", "NoneOnDryRun"):
            raise BadRequest(f'admission webhook "{webhook.name}" does not support dry run')
        try:
            response = self._call(webhook, request, asked)
        except CallError as error:
            if webhook.ignores_failure:
                return None
            raise _failed(webhook, f"failed to call webhook: {error}") from error
        for warning in response.get("warnings") or ():
            request.warn(str(warning))
        if not response.get("allowed"):
            raise _denied(webhook, response.get("status") or {})
        return response

    def _call(self, webhook: Webhook, request: Request, asked: Kind) -> Document:
        about = (webhook.configuration, webhook.document, request.kind.api_version, request.operation)
        seen = encode([*about, request.subresource, request.dry_run, (request.user or OUR_OWN).document()]) + _meaning(
            request
        )
        digest = hashlib.blake2b(seen, digest_size=16).hexdigest()
        uid = f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:]}"
        version = (webhook.document.get("admissionReviewVersions") or ["v1"])[0]
        review = {
            "kind": "AdmissionReview",
            "apiVersion": f"admission.k8s.io/{version}",
            "request": review_request(request, uid, asked),
        }
        client = webhook.document.get("clientConfig") or {}
        address = address_of(request.store, client)
        seconds = webhook.document.get("timeoutSeconds") or DEFAULT_SECONDS

        def work() -> Document | CallError:
            try:
                return _response(call(address, client, review, seconds), review)
            except CallError as error:
                return error

        answer = elsewhere("webhook", seen, work)
        if isinstance(answer, CallError):
            raise answer
        return answer


def review_request(request: Request, uid: str, asked: Kind | None = None) -> Document:
    """The AdmissionRequest of a write; `asked` is the kind of the request where it is shown in another version."""
    kind, wanted, user = request.kind, asked or request.kind, request.user or OUR_OWN
    document: Document = {
        "uid": uid,
        "kind": {"group": kind.group, "version": kind.version, "kind": kind.kind},
        "resource": {"group": kind.group, "version": kind.version, "resource": kind.plural},
        "requestKind": {"group": wanted.group, "version": wanted.version, "kind": wanted.kind},
        "requestResource": {"group": wanted.group, "version": wanted.version, "resource": wanted.plural},
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


def _policy(webhook: Webhook) -> str:
    return str(webhook.document.get("matchPolicy") or "Equivalent")


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


def _response(answer: Document, review: Document) -> Document:
    """The response in an answer; CallError if it does not answer the review."""
    response = answer.get("response")
    if not isinstance(response, dict):
        raise CallError("webhook response was absent")
    if answer.get("kind") != "AdmissionReview" or answer.get("apiVersion") != review["apiVersion"]:
        wanted = f"{review['apiVersion']}, Kind=AdmissionReview"
        given = f"{answer.get('apiVersion', '')}, Kind={answer.get('kind', '')}"
        raise CallError(f"expected webhook response of {wanted}, got {given}")
    if response.get("uid") != review["request"]["uid"]:
        raise CallError(f'expected response.uid="{review["request"]["uid"]}", got "{response.get("uid", "")}"')
    return response


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
