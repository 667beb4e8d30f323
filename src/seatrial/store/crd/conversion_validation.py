"""Validation of a definition's conversion, and of the versions that it has stored.

Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go (validateCustomResourceConversion,
ValidateCustomResourceDefinitionStoredVersions), k8s.io/apiserver/pkg/util/webhook/validation.go.
"""

import base64
import binascii
import ssl
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import forbidden, invalid, required, unsupported
from seatrial.store.object_meta import label_1035_faults, subdomain_faults

PATH = "spec.conversion"
REVIEWS = ("v1", "v1beta1")
_FORM = "; desired format: https://host[/path]"
_NO_PEM = "unable to load root certificates: unable to parse bytes as PEM block"


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
            yield from _client_causes(client, f"{PATH}.webhookClientConfig", allows_bad_bundle(old))
        yield from _review_causes(versions, f"{PATH}.conversionReviewVersions", _reviews_known(old))
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


def allows_bad_bundle(old: Document | None) -> bool:
    """Whether a caBundle need not be valid: until the definition is established, or where it was not valid before."""
    conditions = ((old or {}).get("status") or {}).get("conditions") or ()
    if not any((each.get("type"), each.get("status")) == ("Established", "True") for each in conditions):
        return True
    bundle = _client(old).get("caBundle") or ""
    return bool(bundle) and not _is_bundle(bundle)


def _client_causes(client: Document, path: str, any_bundle: bool) -> Iterator[Cause]:
    url, service, bundle = client.get("url"), client.get("service"), client.get("caBundle") or ""
    if (url is None) == (service is None):
        yield required(path, "exactly one of url or service is required")
    elif url is not None:
        yield from url_causes(url, f"{path}.url")
    elif service is not None:
        yield from service_causes(service, f"{path}.service")
    if bundle and not any_bundle and not _is_bundle(bundle):
        yield invalid(f"{path}.caBundle", bundle, _NO_PEM)


def url_causes(url: str, path: str) -> Iterator[Cause]:
    """The errors of the URL of a webhook."""
    try:
        parts = urlsplit(url)
    except ValueError as error:
        yield required(path, f"url must be a valid URL: parse {url!r}: {error}{_FORM}")
        return
    if parts.scheme != "https":
        yield invalid(path, parts.scheme, f"'https' is the only allowed URL scheme{_FORM}")
    user, _, host = parts.netloc.rpartition("@")
    if not host:
        yield invalid(path, host, f"host must be specified{_FORM}")
    if user:
        yield invalid(path, user, "user information is not permitted in the URL")
    if parts.fragment:
        yield invalid(path, parts.fragment, "fragments are not permitted in the URL")
    if parts.query:
        yield invalid(path, parts.query, "query parameters are not permitted in the URL")


def service_causes(service: Document, path: str) -> Iterator[Cause]:
    """The errors of the Service of a webhook."""
    for key in ("name", "namespace"):
        if not service.get(key):
            yield required(f"{path}.{key}")
    port = service.get("port", 443)
    if not 1 <= port <= 65535:
        yield invalid(f"{path}.port", port, "port is not valid: must be between 1 and 65535, inclusive")
    where, here = service.get("path") or "/", f"{path}.path"
    if where == "/":
        return
    if where == "//":
        yield invalid(here, where, "segment[0] may not be empty")
        return
    if not where.startswith("/"):
        yield invalid(here, where, "must start with a '/'")
    for number, step in enumerate(where[1:].removesuffix("/").split("/")):
        if not step:
            yield invalid(here, where, f"segment[{number}] may not be empty")
        else:
            yield from (invalid(here, where, f"segment[{number}]: {fault}") for fault in subdomain_faults(step))


def _review_causes(versions: list[str], path: str, must_know: bool) -> Iterator[Cause]:
    if not versions:
        yield required(path)
        return
    for index, version in enumerate(versions):
        if version in versions[:index]:
            yield invalid(f"{path}[{index}]", version, "duplicate version")
            continue
        yield from (invalid(f"{path}[{index}]", version, fault) for fault in label_1035_faults(version))
    if must_know and not any(version in REVIEWS for version in versions):
        yield invalid(path, versions, f"must include at least one of {', '.join(REVIEWS)}")


def _reviews_known(old: Document | None) -> bool:
    """Whether the definition before, if any, named a version of reviews that is known."""
    before = _webhook(old).get("conversionReviewVersions") or []
    return not before or any(version in REVIEWS for version in before)


def _webhook(document: Document | None) -> Document:
    webhook: Any = (((document or {}).get("spec") or {}).get("conversion") or {}).get("webhook") or {}
    found: Document = webhook
    return found


def _client(document: Document | None) -> Document:
    found: Document = _webhook(document).get("clientConfig") or {}
    return found


def _is_bundle(bundle: str) -> bool:
    try:
        ssl.create_default_context(cadata=base64.b64decode(bundle).decode())
    except (ValueError, binascii.Error, ssl.SSLError):
        return False
    return True
