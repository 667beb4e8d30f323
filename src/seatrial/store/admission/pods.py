"""Defaults of every pod: a service account, tolerations of short outages, and selectors from matchLabelKeys.

Upstream: plugin/pkg/admission/{serviceaccount,defaulttolerationseconds}, and the pod strategy's matchLabelKeys
(pkg/registry/core/pod/strategy.go).
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from seatrial.model.documents import Document, encode_sorted
from seatrial.store.admission.namespaced_reader import Reader, forbidden
from seatrial.store.requests import Request

TOLERATION_SECONDS: Final = 300
_OUTAGES: Final = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_MIRROR: Final = "kubernetes.io/config.mirror"


def set_service_account(request: Request, reader: Reader) -> None:
    """Set the account `default` if the pod names no account, in both spellings, and the account's pull secrets.

    An account that a user names must exist; `default` is taken to, since a controller makes it soon. Pods of
    controllers and scenarios need no account: a simulation has the objects that matter to it.
    """
    if request.operation != "CREATE" or request.subresource:
        return
    spec = request.document.setdefault("spec", {})
    if _MIRROR in (request.document["metadata"].get("annotations") or {}):
        if spec.get("serviceAccountName"):
            raise forbidden(request, "a mirror pod may not reference service accounts")
        return
    name = spec.get("serviceAccountName") or spec.get("serviceAccount") or "default"
    spec["serviceAccountName"] = spec["serviceAccount"] = name
    account = reader.find(request.store, "v1", "ServiceAccount", name, request.namespace)
    if account is None and name != "default" and request.user is not None:
        why = f'error looking up service account {request.namespace}/{name}: serviceaccount "{name}" not found'
        raise forbidden(request, why)
    if account is not None and account.get("imagePullSecrets") and not spec.get("imagePullSecrets"):
        spec["imagePullSecrets"] = [dict(secret) for secret in account["imagePullSecrets"]]


def tolerate_outages(request: Request, reader: Reader) -> None:
    """Five minutes on a node that is not ready or unreachable, unless the pod says something of them itself."""
    if request.subresource:
        return
    spec = request.document.setdefault("spec", {})
    given = spec.get("tolerations") or []
    added = [
        {"key": taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": TOLERATION_SECONDS}
        for taint in _OUTAGES
        if not any(_concerns(toleration, taint) for toleration in given)
    ]
    if added:
        spec["tolerations"] = [*given, *added]


def merge_label_keys(request: Request, reader: Reader) -> None:
    """Selectors of spreading and (anti-)affinity, narrowed by the pod's own values of the keys they name."""
    if request.operation != "CREATE" or request.subresource:
        return
    spec = request.document.get("spec") or {}
    labels = request.document["metadata"].get("labels") or {}
    for constraint in spec.get("topologySpreadConstraints") or ():
        _narrow(constraint, labels, (("matchLabelKeys", "In"),))
    for term in _affinity_terms(spec.get("affinity") or {}):
        _narrow(term, labels, (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")))


def _concerns(toleration: Mapping[str, Any], taint: str) -> bool:
    return toleration.get("key") in (taint, "", None) and toleration.get("effect") in ("NoExecute", "", None)


def _affinity_terms(affinity: Document) -> Iterator[Document]:
    for name in ("podAffinity", "podAntiAffinity"):
        terms = affinity.get(name) or {}
        for weighted in terms.get("preferredDuringSchedulingIgnoredDuringExecution") or ():
            yield weighted.get("podAffinityTerm") or {}
        yield from terms.get("requiredDuringSchedulingIgnoredDuringExecution") or ()


def _narrow(term: Document, labels: Mapping[str, str], keys: tuple[tuple[str, str], ...]) -> None:
    """Add the requirements to a selector; a pod that comes from a snapshot has them already."""
    selector = term.get("labelSelector")
    if selector is None:
        return
    added = [
        {"key": key, "operator": operator, "values": [labels[key]]}
        for field, operator in keys
        for key in term.get(field) or ()
        if key in labels
    ]
    present = selector.get("matchExpressions") or []
    known = {encode_sorted(requirement) for requirement in present} if added else set()
    missing = [requirement for requirement in added if encode_sorted(requirement) not in known]
    if missing:
        term["labelSelector"] = {**selector, "matchExpressions": [*present, *missing]}
