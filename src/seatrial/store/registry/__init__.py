"""Writes to objects: create, update, patch, delete, subresources, and the strategy of each kind."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.store.registry.finalizers import drop_finalizer, remove_finalizer
    from seatrial.store.registry.kinds import selectable_fields, strategy_of
    from seatrial.store.registry.kinds.variable_fields import owners
    from seatrial.store.registry.patching import patched
    from seatrial.store.registry.qos import quality_of_service
    from seatrial.store.registry.status_writes import document_without_status, encoded_status, write_status
    from seatrial.store.registry.strategy import VariableFields

__all__ = [
    "VariableFields",
    "document_without_status",
    "drop_finalizer",
    "encoded_status",
    "owners",
    "patched",
    "quality_of_service",
    "remove_finalizer",
    "selectable_fields",
    "strategy_of",
    "write_status",
]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "VariableFields": "strategy",
            "document_without_status": "status_writes",
            "drop_finalizer": "finalizers",
            "encoded_status": "status_writes",
            "owners": "kinds.variable_fields",
            "patched": "patching",
            "quality_of_service": "qos",
            "remove_finalizer": "finalizers",
            "selectable_fields": "kinds",
            "strategy_of": "kinds",
            "write_status": "status_writes",
        },
    )
