"""The object store: revisions, watch, admission, snapshots, durable log."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.store.event_ttl import EventExpiry
    from seatrial.store.fragments import new_bytes
    from seatrial.store.memo import Memo
    from seatrial.store.metadata import not_found
    from seatrial.store.object_meta import annotation_causes, label_causes, label_faults, subdomain_faults
    from seatrial.store.objects import Change, ChangeType, Stored
    from seatrial.store.registry.templates import PreparedCreate
    from seatrial.store.requests import Admission, Request
    from seatrial.store.selection import LABELS
    from seatrial.store.store import Store
    from seatrial.store.uids import Identities, SeededIdentities, suffix_from
    from seatrial.store.users import MASTERS, User
    from seatrial.store.views import Condition, OwnerReference, StatusView, View, shared_document
else:
    __getattr__, __dir__ = lazy_exports(__name__)
