"""Server-side apply and managedFields.

`apply` carries out an apply patch; `track_create` and `track_update` keep managedFields for all other writes.
`owned_fields(kind, subresource)` says which fields such a write can own at all, and is handed to each of them.

An entry without `fieldsV1`, which earlier versions stored, means "owns every field of this object that no other entry
owns"; `apply` and `track_update` work it out.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.model.apply.applying import ApplyConflict, apply
    from seatrial.model.apply.comparing import Filter
    from seatrial.model.apply.overlaying import AtomicPart, overlay
    from seatrial.model.apply.updating import track_create, track_update
    from seatrial.model.apply.versions import InVersion

__all__ = [
    "ApplyConflict",
    "AtomicPart",
    "Filter",
    "InVersion",
    "apply",
    "overlay",
    "track_create",
    "track_update",
]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "ApplyConflict": "applying",
            "AtomicPart": "overlaying",
            "Filter": "comparing",
            "InVersion": "versions",
            "apply": "applying",
            "overlay": "overlaying",
            "track_create": "updating",
            "track_update": "updating",
        },
    )
