"""Node selectors of volumes, device slices and allocated claims.

Upstream: component-helpers/scheduling/corev1/nodeaffinity (NodeSelector). A term without requirements picks nothing,
terms are alternatives, requirements of a term must all hold; the only field is `metadata.name`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from seatrial.model.documents import Document


class NodeView(Protocol):
    """What a selector looks at."""

    @property
    def name(self) -> str: ...

    @property
    def labels(self) -> Mapping[str, str]: ...


def _integer(text: str) -> int | None:
    try:
        return int(text) if text.lstrip("+-").isdigit() and text.isascii() else None
    except ValueError:
        return None


def requirement_holds(requirement: Mapping[str, Any], present: bool, value: str) -> bool:
    """One requirement of a term against a label or field."""
    operator: str = requirement.get("operator") or ""
    values: Sequence[str] = requirement.get("values") or ()
    match operator:
        case "In":
            return present and value in values
        case "NotIn":
            return not present or value not in values
        case "Exists":
            return present
        case "DoesNotExist":
            return not present
        case "Gt" | "Lt":
            have, want = _integer(value) if present else None, _integer(values[0]) if len(values) == 1 else None
            if have is None or want is None:
                return False
            return have > want if operator == "Gt" else have < want
    return False


def term_holds(term: Document, node: NodeView) -> bool:
    """Whether a node satisfies all requirements of a term."""
    expressions, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    if not expressions and not fields:
        return False
    return all(
        requirement_holds(r, r.get("key", "") in node.labels, node.labels.get(r.get("key", ""), ""))
        for r in expressions
    ) and all(requirement_holds(r, r.get("key") == "metadata.name", node.name) for r in fields)


def selects(selector: Document | None, node: NodeView) -> bool:
    """Whether a node selector picks the node; an absent one picks every node."""
    if selector is None:
        return True
    terms: Sequence[Document] = selector.get("nodeSelectorTerms") or ()
    return any(term_holds(term, node) for term in terms)
