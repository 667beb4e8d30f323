"""The semantic rules of built-in kinds: what types and required fields cannot say, and what may never change."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.store.validation.cluster.admission_policies import VARIABLES
    from seatrial.store.validation.cluster.certificates import APPROVED, FAILED, organizations, parsed
    from seatrial.store.validation.pods.templates import template_causes
else:
    __getattr__, __dir__ = lazy_exports(__name__)
