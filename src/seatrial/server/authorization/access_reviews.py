"""Reads access reviews: their validation, and the action under review.

Upstream: pkg/apis/authorization/validation/validation.go and pkg/registry/authorization/util/helpers.go.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from seatrial.model.documents import Document
from seatrial.model.errors import Cause, Invalid
from seatrial.model.field_selectors import FieldSelector
from seatrial.model.kinds import Kind
from seatrial.model.label_selectors import LabelSelector, Requirement, SelectorError
from seatrial.server.authorization.attributes import Attributes
from seatrial.store import User
from seatrial.store.field_errors import Struct, forbidden, invalid, required

VALUED, BARE = ("In", "NotIn"), ("Exists", "DoesNotExist")
IGNORED = "spec.resourceAttributes.{} {}ignored due to parse error"


def validate(kind: Kind, review: Document) -> None:
    """Raise Invalid where an access review is not valid."""
    causes = list(_spec_causes(kind, review.setdefault("spec", {})))
    metadata = {key: value for key, value in (review.get("metadata") or {}).items() if key != "managedFields"}
    if kind.namespaced:
        causes += _local_causes(review["spec"], metadata)
    elif any(value for value in metadata.values()):
        causes.append(invalid("metadata", Struct(metadata), "must be empty"))
    if causes:
        raise _refusal(kind, causes)


def action(spec: Document, user: User | None) -> Attributes:
    """The action under review: of `user`, or of the user that the review names."""
    if user is None:
        extra = {key: tuple(values) for key, values in (spec.get("extra") or {}).items()}
        user = User(spec.get("user") or "", tuple(spec.get("groups") or ()), spec.get("uid") or "", extra)
    asked = spec.get("resourceAttributes")
    if asked is None:
        path = spec["nonResourceAttributes"]
        return Attributes(user, path.get("verb", ""), path=path.get("path", ""), resource_request=False)
    return Attributes(
        user,
        asked.get("verb", ""),
        asked.get("group", ""),
        asked.get("version") or "*",
        asked.get("resource", ""),
        asked.get("subresource", ""),
        asked.get("namespace", ""),
        asked.get("name", ""),
    )


def ignored_selectors(asked: Document) -> str:
    """Which selectors of a review cannot be understood; RBAC does not use them, so the review is answered."""
    texts = []
    for key, unreadable in (("fieldSelector", _unreadable_field), ("labelSelector", _unreadable_label)):
        selector = asked.get(key) or {}
        requirements: list[Document] = selector.get("requirements") or []
        if selector.get("rawSelector"):
            parse: Any = FieldSelector.parse if key == "fieldSelector" else LabelSelector.parse
            try:
                parse(selector["rawSelector"])
            except SelectorError:
                texts.append(IGNORED.format(key, ""))
        elif wrong := [requirement for requirement in requirements if unreadable(requirement)]:
            texts.append(IGNORED.format(key, "" if len(wrong) == len(requirements) else "partially "))
    return "; ".join(texts)


def _unreadable_field(requirement: Document) -> bool:
    return requirement.get("operator") not in VALUED or len(requirement.get("values") or ()) != 1


def _unreadable_label(requirement: Document) -> bool:
    try:
        Requirement.checked(
            requirement.get("key", ""), _OPERATORS.get(requirement.get("operator", ""), ""), requirement.get("values")
        )
    except SelectorError:
        return True
    return requirement.get("operator") not in _OPERATORS


_OPERATORS = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "!"}


def _spec_causes(kind: Kind, spec: Document) -> Iterator[Cause]:
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if resource is not None and path is not None:
        # The value is printed from the internal type, whose fields have no JSON names.
        shown = Struct(Path=path.get("path", ""), Verb=path.get("verb", ""))
        why = "cannot be specified in combination with resourceAttributes"
        yield invalid("spec.nonResourceAttributes", shown, why)
    if resource is None and path is None:
        why = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        yield invalid("spec.resourceAttributes", None, why)
    if not kind.kind.startswith("Self") and not spec.get("user") and not spec.get("groups"):
        yield invalid("spec.user", "", "at least one of user or group must be specified")
    for key in ("fieldSelector", "labelSelector"):
        selector = (resource or {}).get(key)
        if selector is not None:
            yield from _selector_causes(selector, f"spec.resourceAttributes.{key}")


def _selector_causes(selector: Document, path: str) -> Iterator[Cause]:
    raw, requirements = selector.get("rawSelector"), selector.get("requirements")
    if raw and requirements:
        yield invalid(f"{path}.rawSelector", raw, "may not specified at the same time as requirements")
    if not raw and not requirements:
        yield required(f"{path}.requirements", f"when {path} is specified, requirements or rawSelector is required")
    for number, requirement in enumerate(requirements or ()):
        here, values = f"{path}.requirements[{number}]", requirement.get("values")
        if not requirement.get("key") and path.endswith("fieldSelector"):
            yield required(f"{here}.key", "must be specified")
        if requirement.get("operator") in VALUED and not values:
            yield required(f"{here}.values", "must be specified when `operator` is 'In' or 'NotIn'")
        if requirement.get("operator") in BARE and values:
            yield forbidden(f"{here}.values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")


def _local_causes(spec: Document, metadata: Document) -> Iterator[Cause]:
    if any(value for key, value in metadata.items() if key != "namespace"):
        yield invalid("metadata", Struct(metadata), "must be empty except for namespace")
    asked = spec.get("resourceAttributes")
    if asked is not None and asked.get("namespace", "") != metadata.get("namespace", ""):
        yield invalid("spec.resourceAttributes.namespace", asked.get("namespace", ""), "must match metadata.namespace")
    path = spec.get("nonResourceAttributes")
    if path is not None:
        shown = Struct(Path=path.get("path", ""), Verb=path.get("verb", ""))
        yield invalid("spec.nonResourceAttributes", shown, "disallowed on this kind of request")


def _refusal(kind: Kind, causes: Iterable[Cause]) -> Invalid:
    """The refusal of a review, which names no kind: the decoded object has lost it."""
    found = list(causes)
    texts = [f"{cause.field}: {cause.message}" for cause in found]
    text = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    return Invalid(f'.{kind.group} "" is invalid: {text}', group=kind.group, causes=found)
