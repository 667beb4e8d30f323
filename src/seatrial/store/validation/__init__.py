"""The semantic rules of built-in kinds: what types and required fields cannot say, and what may never change."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.store.validation.cluster.admission_policies import VARIABLES
    from seatrial.store.validation.cluster.certificates import APPROVED, FAILED, organizations, parsed
    from seatrial.store.validation.pods.templates import template_causes

__all__ = ["APPROVED", "FAILED", "VARIABLES", "organizations", "parsed", "template_causes"]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "APPROVED": "cluster.certificates",
            "FAILED": "cluster.certificates",
            "VARIABLES": "cluster.admission_policies",
            "organizations": "cluster.certificates",
            "parsed": "cluster.certificates",
            "template_causes": "pods.templates",
        },
    )
