"""Validation of a definition's conversion, and of the versions that it has stored.

Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go (validateCustomResourceConversion,
ValidateCustomResourceDefinitionStoredVersions).
"""

from collections.abc import Iterator
from typing import Any

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import forbidden, invalid, required, unsupported
from seatrial.store.validation.cluster.webhook_clients import (
    bundle_causes,
    client_causes,
    knows_reviews,
    review_causes,
)

PATH = "spec.conversion"


def conversion_causes(spec: Document, old: Document | None) -> Iterator[Cause]:
    """The errors of spec.conversion; `old` is the definition before."""
    conversion = spec.get("conversion") or {}
    strategy, webhook = conversion.get("strategy") or "", conversion.get("webhook") or {}
    if spec.get("preserveUnknownFields") and strategy != "None":
        yield invalid(f"{PATH}.strategy", strategy, "must be None if spec.preserveUnknownFields is true")
    if not strategy:
        yield required(f"{PATH}.strategy")
    elif strategy not in ("None", "Webhook"):
        yield unsupported(f"{PATH}.strategy", strategy, ("None", "Webhook"))
    client, versions = webhook.get("clientConfig"), webhook.get("conversionReviewVersions") or []
    if strategy == "Webhook":
        if client is None:
            yield required(f"{PATH}.webhookClientConfig", "required when strategy is set to Webhook")
        else:
            yield from client_causes(client, f"{PATH}.webhookClientConfig")
            if client.get("caBundle") and not _allows_bad_bundle(old):
                yield from bundle_causes(client["caBundle"], f"{PATH}.webhookClientConfig.caBundle")
        yield from review_causes(versions, f"{PATH}.conversionReviewVersions", must_know=_reviews_known(old))
    else:
        why = "should not be set when strategy is not set to Webhook"
        if client is not None:
            yield forbidden(f"{PATH}.webhookClientConfig", why)
        if versions:
            yield forbidden(f"{PATH}.conversionReviewVersions", why)


def stored_version_causes(document: Document) -> Iterator[Cause]:
    """Versions in which objects may be stored must stay in the definition."""
    versions = [version.get("name") for version in document["spec"].get("versions") or ()]
    for index, name in enumerate((document.get("status") or {}).get("storedVersions") or ()):
        if name not in versions:
            why = (
                f"missing from spec.versions; {name} was previously a storage version, and must remain in "
                f"spec.versions until a storage migration ensures no data remains persisted in {name} and removes "
                f"{name} from status.storedVersions"
            )
            yield invalid(f"status.storedVersions[{index}]", name, why)


def _allows_bad_bundle(old: Document | None) -> bool:
    """Whether a caBundle need not be valid: until the definition is established, or where it was not valid before."""
    conditions = ((old or {}).get("status") or {}).get("conditions") or ()
    if not any((each.get("type"), each.get("status")) == ("Established", "True") for each in conditions):
        return True
    bundle = (_webhook(old).get("clientConfig") or {}).get("caBundle") or ""
    return bool(bundle) and any(bundle_causes(bundle, ""))


def _reviews_known(old: Document | None) -> bool:
    """Whether the definition before, if any, named a version of reviews that is known."""
    before = _webhook(old).get("conversionReviewVersions") or []
    return not before or knows_reviews(before)


def _webhook(document: Document | None) -> Document:
    webhook: Any = (((document or {}).get("spec") or {}).get("conversion") or {}).get("webhook") or {}
    found: Document = webhook
    return found
