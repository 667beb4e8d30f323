"""The approval that definitions of the groups of the Kubernetes community need: an annotation says who gave it.

Upstream: apiextensions-apiserver/pkg/apihelpers/helpers.go and pkg/controller/apiapproval.
"""

from collections.abc import Iterator
from urllib.parse import urlsplit

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import invalid, required

ANNOTATION = "api-approved.kubernetes.io"
CONDITION = "KubernetesAPIApprovalPolicyConformant"
_SEE = "see https://github.com/kubernetes/enhancements/pull/1111"
_OWNED = ("k8s.io", "kubernetes.io")


def approval(document: Document) -> tuple[str, str] | None:
    """Reason and message of the condition; None for a group that needs no approval."""
    group = (document.get("spec") or {}).get("group") or ""
    if not any(group == owned or group.endswith(f".{owned}") for owned in _OWNED):
        return None
    given = _given(document)
    needed = f'protected groups must have approval annotation "{ANNOTATION}"'
    if not given:
        return "MissingAnnotation", f"{needed}, {_SEE}"
    if given.startswith("unapproved"):
        return "UnapprovedAnnotation", f'not approved: "{given}"'
    if _is_url(given):
        return "ApprovedAnnotation", f"approved in {given}"
    return "InvalidAnnotation", f'{needed} with either a URL or a reason starting with "unapproved", {_SEE}'


def approval_causes(document: Document, old: Document | None) -> Iterator[Cause]:
    """The error of a definition whose approval is missing or not readable, unless it was so before."""
    state = approval(document)
    if state is None or (old is not None and (approval(old) or ("",))[0] == state[0]):
        return
    path = f"metadata.annotations[{ANNOTATION}]"
    if state[0] == "MissingAnnotation":
        yield required(path, state[1])
    elif state[0] == "InvalidAnnotation":
        yield invalid(path, _given(document), state[1])


def _given(document: Document) -> str:
    return str((document["metadata"].get("annotations") or {}).get(ANNOTATION) or "")


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return bool(parts.scheme and parts.netloc)
