"""The object store: revisions, watch, admission, snapshots, durable log."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.store.event_ttl import EventExpiry
    from seatrial.store.fragments import new_bytes
    from seatrial.store.memo import Memo
    from seatrial.store.metadata import not_found
    from seatrial.store.object_meta import annotation_causes, label_causes, label_faults, subdomain_faults
    from seatrial.store.objects import Change, Facets, Stored
    from seatrial.store.registry.templates import Family
    from seatrial.store.requests import Admission, Request
    from seatrial.store.store import Store
    from seatrial.store.uids import SeededIdentities, suffix_from
    from seatrial.store.users import MASTERS, User

__all__ = [
    "MASTERS",
    "Admission",
    "Change",
    "EventExpiry",
    "Facets",
    "Family",
    "Memo",
    "Request",
    "SeededIdentities",
    "Store",
    "Stored",
    "User",
    "annotation_causes",
    "label_causes",
    "label_faults",
    "new_bytes",
    "not_found",
    "subdomain_faults",
    "suffix_from",
]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "Admission": "requests",
            "Change": "objects",
            "EventExpiry": "event_ttl",
            "Facets": "objects",
            "Family": "registry.templates",
            "MASTERS": "users",
            "Memo": "memo",
            "Request": "requests",
            "SeededIdentities": "uids",
            "Store": "store",
            "Stored": "objects",
            "User": "users",
            "annotation_causes": "object_meta",
            "label_causes": "object_meta",
            "label_faults": "object_meta",
            "new_bytes": "fragments",
            "not_found": "metadata",
            "subdomain_faults": "object_meta",
            "suffix_from": "uids",
        },
    )
