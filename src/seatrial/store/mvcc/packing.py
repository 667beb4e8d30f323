"""Keeps what objects of one kind have in common once: managedFields, templates, annotations.

Encoded objects are cut at their quotation marks. Two of one kind that have as many pieces share a skeleton, the text
that is equal in both; of each object only the values in its gaps are kept, and values that are equal wherever they
occur (a name, a time) only once. The bytes are joined again when they are read. Larger objects, such as pods with the
results of a scheduler for 500 nodes, are compressed.

A skeleton is learnt from two objects and made more general for others that nearly fit. The latest changes
stay as they are: by the time that an object is packed, the writes that follow a creation are done.
"""

import zlib
from collections import deque
from itertools import pairwise
from operator import itemgetter

import msgspec

from seatrial.store.memo import Memo
from seatrial.store.objects import SEPARATOR, Compressed, Packed, Skeleton, Stored

WHOLE = 16 * 1024 * 1024
"""Bytes of the latest changes that are not packed: a small cluster pays nothing."""
SHORTEST, LONGEST = 256, 512 * 1024
"""Bytes of an object that is packed; of a larger one it would take too long."""
LONGEST_CUT = 16 * 1024
"""Bytes of an object that is kept by a skeleton; a larger one is compressed."""
FAMILIES_KEPT = 128
MOST_LEARNT = 24
"""Objects that the skeletons of a family are learnt from; after that, objects that fit none are kept whole."""
MOST_VALUES = 16
"""Values in which two objects of one skeleton may differ."""
_QUOTE = b'"'


class Packing:
    """The skeletons of one store, and the objects that are to be packed."""

    def __init__(self, whole: int = WHOLE) -> None:
        self._most, self._bytes = whole, 0
        self._whole: deque[Stored] = deque()
        self._known: Memo[tuple[str, str, int], _Family] = Memo(FAMILIES_KEPT)

    def add(self, stored: Stored) -> None:
        """Take in a new state of an object, and pack those that are old enough."""
        data = stored.content
        if not isinstance(data, bytes) or not SHORTEST <= len(data) <= LONGEST:
            return
        self._whole.append(stored)
        self._bytes += len(data)
        while self._bytes > self._most:
            oldest = self._whole.popleft()
            self._bytes -= oldest.size
            self.pack(oldest)

    def pack(self, stored: Stored) -> None:
        """Keep an object in another form, if that takes less than half of its bytes."""
        if stored.facets is not None and not stored.facets.status:
            # Of an old object without a status they are hardly ever asked for, and take more than its values.
            msgspec.structs.force_setattr(stored, "facets", None)
        data = stored.data
        form = self._skeletal(stored, data) if len(data) <= LONGEST_CUT else _compressed(data)
        if form is not None:
            # The bytes are the same, so that holders of the object see no difference.
            msgspec.structs.force_setattr(stored, "content", form)

    def _skeletal(self, stored: Stored, data: bytes) -> Packed | None:
        key = *stored.kind.group_kind, data.count(_QUOTE)
        family = self._known.get(key)
        if family is None:
            family = self._known[key] = _Family()
        packed = family.packed(data)
        return packed if packed is not None and len(packed.values) * 2 < len(data) and SEPARATOR not in data else None


class _Family:
    """The skeletons of objects of one kind with as many pieces, the latest first."""

    def __init__(self) -> None:
        self._members: list[_Learning] = []
        self._learnt = 0

    def packed(self, data: bytes) -> Packed | None:
        """The object by a skeleton; None if none fits."""
        for place, member in enumerate(self._members):
            packed = member.packed(data)
            if packed is not None:
                if place:
                    self._members.insert(0, self._members.pop(place))
                return packed
        if self._learnt == MOST_LEARNT:
            return None
        self._learnt += 1
        for member in self._members:
            if member.learn(data):
                return member.packed(data)
        self._members.insert(0, _Learning(data))
        return None


class _Learning:
    """A skeleton and the differences between the objects that it was learnt from."""

    def __init__(self, sample: bytes) -> None:
        self._sample = sample
        self._classes: dict[int, int] = {}
        """The places in which objects differ; those of one class have had equal values in each object."""
        self._skeleton: Skeleton | None = None

    def packed(self, data: bytes) -> Packed | None:
        """The object by its skeleton; None if it does not fit."""
        skeleton = self._skeleton
        values = _values(skeleton, data) if skeleton is not None else None
        return Packed(skeleton, values, len(data)) if skeleton is not None and values is not None else None

    def learn(self, data: bytes) -> bool:
        """Make gaps where an object differs from those before; False if it is another sort of object."""
        sample, other, classes = self._sample.split(_QUOTE), data.split(_QUOTE), self._classes
        pairs = enumerate(zip(sample, other, strict=True))
        gaps = {place: (classes.get(place, one), two) for place, (one, two) in pairs if one != two or place in classes}
        numbers: dict[tuple[int | bytes, bytes], int] = {}
        slots = [numbers.setdefault(differing, len(numbers)) for differing in gaps.values()]
        if len(gaps) < 2 or len(numbers) > MOST_VALUES:
            return False
        self._classes = dict(zip(gaps, slots, strict=True))
        edges = [-1, *gaps, len(sample)]
        texts = [
            _QUOTE.join((b"", *sample[begin + 1 : end], b"")[begin < 0 : None if end < len(sample) else -1])
            for begin, end in pairwise(edges)
        ]
        parts = [part for text in texts for part in (text, b"")][:-1]
        self._skeleton = Skeleton(parts, tuple(slots), itemgetter(*slots))
        return True


def _compressed(data: bytes) -> Compressed | None:
    zipped = zlib.compress(data, 1)
    return Compressed(zipped, len(data)) if len(zipped) * 2 < len(data) else None


def _values(skeleton: Skeleton, data: bytes) -> bytes | None:
    """What an object has in the gaps; None if it does not fit."""
    first, *texts = skeleton.parts[::2]
    if not data.startswith(first):
        return None
    place = len(first)
    found: list[bytes] = []
    for text, slot in zip(texts, skeleton.slots, strict=True):
        # A value ends at the next quotation mark, with which all texts begin.
        end = data.find(_QUOTE, place) if text else len(data)
        if not data.startswith(text, end):
            return None
        value = data[place:end]
        if slot == len(found):
            found.append(value)
        elif found[slot] != value:
            return None
        place = end + len(text)
    return SEPARATOR.join(found) if place == len(data) else None
