"""Validation of the kinds whose rules are about their spec: pods by a template, and counts in the status."""

from collections.abc import Callable, Iterable

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.registry.strategy import Validation
from seatrial.store.validation.workloads import workload_statuses

SpecCauses = Callable[[Document, Document | None], Iterable[Cause]]


def of_spec(kind: str, rules: SpecCauses) -> Validation:
    """The validation of a workload kind, from the rules for its spec (given the old one in an update)."""

    def on_update(document: Document, old: Document, subresource: str) -> Iterable[Cause]:
        if subresource == "status":
            return workload_statuses.status_causes(kind, document, old)
        spec, before = document.get("spec") or {}, old.get("spec") or {}
        return rules(spec, before) if spec != before else ()

    return Validation(lambda document: rules(document.get("spec") or {}, None), on_update)
