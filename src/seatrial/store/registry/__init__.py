"""Writes to objects: create, update, patch, delete, subresources, and the strategy of each kind."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.store.registry.finalizers import drop_finalizer, remove_finalizer
    from seatrial.store.registry.kinds import selectable_fields, strategy_of
    from seatrial.store.registry.kinds.variable_fields import owners
    from seatrial.store.registry.patching import patched
    from seatrial.store.registry.qos import quality_of_service
    from seatrial.store.registry.status_apart import Apart
    from seatrial.store.registry.status_writes import annotate, document_without_status, write_status
    from seatrial.store.registry.strategy import VariableFields
else:
    __getattr__, __dir__ = lazy_exports(__name__)
