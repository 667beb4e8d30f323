"""Server-side apply and managedFields.

`apply` carries out an apply patch; `track_create` and `track_update` keep managedFields for all other writes.
`owned_fields(kind, subresource)` says which fields such a write can own at all, and is handed to each of them.

The lazy form. Most objects are written by internal code, and a creator's entry names every field
of the object. `track_lazily` therefore writes an entry without `fieldsV1`, which means "owns every field of this
object that no other entry owns". It stays true under `track_update`: a later writer's entry is spelled out and takes
its fields away from the rest by being there, and a field that the creator takes back simply leaves the other entry.
`materialise` works it out, when the object is read by name; `apply` does so by itself. A list may show the lazy
entry as it is: `fieldsV1` is optional in the API. (Fields that admission adds on creation count as the creator's in the
lazy form; upstream leaves them without an owner.)
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.model.apply.applying import ApplyConflict, apply
    from seatrial.model.apply.comparing import Filter
    from seatrial.model.apply.overlaying import AtomicPart, overlay
    from seatrial.model.apply.updating import materialise, track_create, track_lazily, track_update

__all__ = [
    "ApplyConflict",
    "AtomicPart",
    "Filter",
    "apply",
    "materialise",
    "overlay",
    "track_create",
    "track_lazily",
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
            "apply": "applying",
            "materialise": "updating",
            "overlay": "overlaying",
            "track_create": "updating",
            "track_lazily": "updating",
            "track_update": "updating",
        },
    )
