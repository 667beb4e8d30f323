"""Server-side apply and managedFields.

`apply` carries out an apply patch; `track_create` and `track_update` keep managedFields for all other writes.
`owned_fields(kind, subresource)` says which fields such a write can own at all, and is handed to each of them.

An entry without `fieldsV1`, which earlier versions stored, means "owns every field of this object that no other entry
owns"; `apply` and `track_update` work it out.
"""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.model.apply.applying import ApplyConflict, apply
    from seatrial.model.apply.comparing import Filter
    from seatrial.model.apply.overlaying import AtomicPart, overlay
    from seatrial.model.apply.updating import track_create, track_update
    from seatrial.model.apply.versions import InVersion
else:
    __getattr__, __dir__ = lazy_exports(__name__)
