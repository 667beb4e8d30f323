"""Uids and name suffixes for objects that clients make: random, as a real API server's are."""

import secrets
import uuid

from seatrial.model.kinds import Kind
from seatrial.store import suffix_from


class RandomIdentities:
    """Gives every object a fresh uid, and a random suffix where only a prefix was given."""

    def uid(self, kind: Kind, namespace: str, name: str) -> str:
        return str(uuid.uuid4())

    def suffix(self, kind: Kind, namespace: str, prefix: str) -> str:
        return suffix_from(secrets.randbits(64))
