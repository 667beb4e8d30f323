"""Label selectors and node selectors in documents, and what may become of them.

Upstream: k8s.io/apimachinery/pkg/apis/meta/v1/validation/validation.go and the node selectors of
pkg/apis/core/validation/validation.go.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import duplicate, forbidden, invalid, required
from seatrial.store.object_meta import label_causes
from seatrial.store.validation.formats import label_value, qualified, subdomain

_WITH = "must be specified when `operator` is 'In' or 'NotIn'"
_WITHOUT = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
_SINGLE = "must be specified single value when `operator` is 'Lt' or 'Gt'"
_NO_OPERATOR = "not a valid selector operator"


def label_selector(selector: Document | None, path: str) -> Iterator[Cause]:
    """A selector of matchLabels and matchExpressions."""
    if not selector:
        return
    yield from label_causes(selector.get("matchLabels") or {}, f"{path}.matchLabels")
    for index, requirement in enumerate(selector.get("matchExpressions") or ()):
        yield from _requirement(requirement, f"{path}.matchExpressions[{index}]", ())


def node_selector(selector: Document, path: str) -> Iterator[Cause]:
    """Terms of which a node must match one."""
    terms = selector.get("nodeSelectorTerms")
    if not terms:
        yield required(f"{path}.nodeSelectorTerms", "must have at least one node selector term")
        return
    for index, term in enumerate(terms):
        yield from node_selector_term(term, f"{path}.nodeSelectorTerms[{index}]")


def node_selector_term(term: Document, path: str, *, any_value: bool = False) -> Iterator[Cause]:
    """Conditions on the labels and the name of a node."""
    for index, requirement in enumerate(term.get("matchExpressions") or ()):
        yield from _requirement(requirement, f"{path}.matchExpressions[{index}]", ("Gt", "Lt"), any_value=any_value)
    for index, requirement in enumerate(term.get("matchFields") or ()):
        yield from _field_requirement(requirement, f"{path}.matchFields[{index}]")


def _requirement(
    requirement: Document, path: str, numeric: Sequence[str], *, any_value: bool = False
) -> Iterator[Cause]:
    operator, values = requirement.get("operator", ""), requirement.get("values") or ()
    if operator in ("In", "NotIn"):
        if not values:
            yield required(f"{path}.values", _WITH)
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            yield forbidden(f"{path}.values", _WITHOUT)
    elif operator in numeric:
        if len(values) != 1:
            yield required(f"{path}.values", _SINGLE)
    else:
        yield invalid(f"{path}.operator", operator, _NO_OPERATOR)
    yield from qualified(requirement.get("key", ""), f"{path}.key")
    if not any_value:
        for index, value in enumerate(values):
            yield from label_value(value, f"{path}.values[{index}]")


def _field_requirement(requirement: Document, path: str) -> Iterator[Cause]:
    key, operator, values = requirement.get("key", ""), requirement.get("operator", ""), requirement.get("values") or ()
    if operator not in ("In", "NotIn"):
        yield invalid(f"{path}.operator", operator, _NO_OPERATOR)
    elif len(values) != 1:
        why = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        yield required(f"{path}.values", why)
    if key != "metadata.name":
        yield invalid(f"{path}.key", key, "not a valid field selector key")
        return
    for index, value in enumerate(values):
        yield from subdomain(value, f"{path}.values[{index}]")


def topology_terms(terms: Sequence[Document], path: str) -> Iterator[Cause]:
    """Validate allowedTopologies of a storage class."""
    seen: list[Any] = []
    for index, term in enumerate(terms):
        where = f"{path}[{index}]"
        yield from _topology_term(term, where)
        meaning = {e.get("key", ""): set(e.get("values") or ()) for e in term.get("matchLabelExpressions") or ()}
        if not meaning or meaning in seen:
            yield duplicate(f"{where}.matchLabelExpressions", "")
        seen.append(meaning)


def _topology_term(term: Document, path: str) -> Iterator[Cause]:
    keys: set[str] = set()
    for index, requirement in enumerate(term.get("matchLabelExpressions") or ()):
        where = f"{path}.matchLabelExpressions[{index}]"
        values = requirement.get("values") or ()
        if not values:
            yield required(f"{where}.values")
        for position, value in enumerate(values):
            if value in values[:position]:
                yield duplicate(f"{where}.values[{position}]", value)
        key = requirement.get("key", "")
        yield from qualified(key, f"{where}.key")
        if key in keys:
            yield duplicate(f"{where}.key", key)
        keys.add(key)
