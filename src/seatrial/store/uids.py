"""Sources of uids and generated names.

Inside a run they derive from the seed and from what the object is, so that the same run gives the same uids and a
different order of creation does not change them; a server hands in a random source instead.
"""

from hashlib import blake2b
from typing import Protocol

from seatrial.model.kinds import Kind

SUFFIX_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
SUFFIX_LENGTH = 5
LONGEST_BASE = 63 - SUFFIX_LENGTH


class Identities(Protocol):
    """Gives each new object its uid, and its name where only a prefix was given."""

    def uid(self, kind: Kind, namespace: str, name: str) -> str: ...

    def suffix(self, kind: Kind, namespace: str, prefix: str) -> str: ...


class SeededIdentities:
    """Identities derived from a seed: the n-th object of a name always has the same uid."""

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self._uses: dict[str, int] = {}

    def uid(self, kind: Kind, namespace: str, name: str) -> str:
        return uid_from(self._digest(f"uid\0{kind.resource}\0{namespace}\0{name}"))

    def suffix(self, kind: Kind, namespace: str, prefix: str) -> str:
        number = int.from_bytes(self._digest(f"suffix\0{kind.resource}\0{namespace}\0{prefix}"))
        return suffix_from(number)

    def _digest(self, key: str) -> bytes:
        use = self._uses[key] = self._uses.get(key, 0) + 1
        return blake2b(f"{key}\0{use}\0{self._seed}".encode(), digest_size=16).digest()


def uid_from(digest: bytes) -> str:
    """A uid of version 4 from sixteen bytes."""
    text = digest.hex()
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-{_VARIANT[text[16]]}{text[17:20]}-{text[20:]}"


_VARIANT = {f"{digit:x}": "89ab"[digit & 3] for digit in range(16)}
"""By hexadecimal digit: with the two upper bits that a uid of version 4 has."""


def suffix_from(number: int) -> str:
    """Five letters that spell no word, from a large number."""
    letters = []
    for _ in range(SUFFIX_LENGTH):
        number, digit = divmod(number, len(SUFFIX_ALPHABET))
        letters.append(SUFFIX_ALPHABET[digit])
    return "".join(letters)
