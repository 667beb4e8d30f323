"""The address of a webhook: its URL or its Service, and the versions of reviews that it takes.

Upstream: k8s.io/apiserver/pkg/util/webhook/validation.go.
"""

import base64
import binascii
from collections.abc import Iterator
from urllib.parse import urlsplit

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import invalid, required
from seatrial.store.object_meta import label_1035_faults, subdomain_faults

REVIEWS = ("v1", "v1beta1")
_FORM = "; desired format: https://host[/path]"
_NO_PEM = "unable to load root certificates: unable to parse bytes as PEM block"


def client_causes(client: Document, path: str) -> Iterator[Cause]:
    """The errors of a clientConfig, but for those of its caBundle."""
    url, service = client.get("url"), client.get("service")
    if (url is None) == (service is None):
        yield required(path, "exactly one of url or service is required")
    elif url is not None:
        yield from _url_causes(url, f"{path}.url")
    elif service is not None:
        yield from _service_causes(service, f"{path}.service")


def bundle_causes(bundle: str, path: str) -> Iterator[Cause]:
    """The error of a caBundle that holds no certificate."""
    import ssl

    try:
        ssl.create_default_context(cadata=base64.b64decode(bundle).decode())
    except (ValueError, binascii.Error, ssl.SSLError):
        yield invalid(path, bundle, _NO_PEM)


def review_causes(versions: list[str], path: str, missing: str = "", *, must_know: bool = True) -> Iterator[Cause]:
    """The errors of a list of versions of reviews; `missing` is the text for an empty list."""
    if not versions:
        yield required(path, missing)
        return
    for index, version in enumerate(versions):
        if version in versions[:index]:
            yield invalid(f"{path}[{index}]", version, "duplicate version")
            continue
        yield from (invalid(f"{path}[{index}]", version, fault) for fault in label_1035_faults(version))
    if must_know and not knows_reviews(versions):
        yield invalid(path, versions, f"must include at least one of {', '.join(REVIEWS)}")


def knows_reviews(versions: list[str]) -> bool:
    """Whether one of the versions of reviews is known."""
    return any(version in REVIEWS for version in versions)


def _url_causes(url: str, path: str) -> Iterator[Cause]:
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


def _service_causes(service: Document, path: str) -> Iterator[Cause]:
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
