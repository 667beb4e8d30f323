"""Looks for damage in a write-ahead log that SQLite itself would take for a write that was cut off.

SQLite reads the log up to the first frame whose checksum is wrong and ignores the rest. Each commit is synced before
the next one begins, so a write that was cut off leaves at most the frames of one transaction behind. Sound frames of a
later transaction after a bad frame therefore prove damage.

Format: https://sqlite.org/fileformat2.html#walformat. The checksum is s0 += x0 + s1, s1 += x1 + s0 over pairs of 32-bit
words; as this is linear, the checksums of all frames are computed at once as products with precomputed weights.
"""

import struct
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

_HEADER = struct.Struct(">8I")
_MAGIC_LITTLE, _MAGIC_BIG = 0x377F0682, 0x377F0683
_FRAME_HEADER = 24
_MASK = 0xFFFFFFFF

Words = npt.NDArray[np.uint32]


def is_damaged(path: Path) -> bool:
    """Whether sound frames of a later transaction follow a bad one."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return False
    if len(data) < _HEADER.size:
        return False
    magic, _, page, _, salt0, salt1, *seed = _HEADER.unpack_from(data)
    if magic not in (_MAGIC_LITTLE, _MAGIC_BIG) or page & (page - 1) or not 512 <= page <= 65536:
        return False
    size = _FRAME_HEADER + page
    number = (len(data) - _HEADER.size) // size
    frames = np.frombuffer(data, np.uint8, number * size, _HEADER.size).reshape(number, size)
    sound, commits = _judge(frames, (salt0, salt1), (seed[0], seed[1]), little=magic == _MAGIC_LITTLE)
    if sound.all():
        return False
    after = np.flatnonzero(sound[int(np.argmin(sound)) :])
    first_commit = np.flatnonzero(commits[int(np.argmin(sound)) :][after])
    return bool(first_commit.size and first_commit[0] < after.size - 1)


def _judge(frames: npt.NDArray[np.uint8], salts: tuple[int, int], seed: tuple[int, int], *, little: bool) -> Any:
    """Which frames are sound, each judged by the checksum that the frame before it claims; and which of them commit."""
    heads = frames[:, :_FRAME_HEADER].copy().view(">u4").astype(np.uint32)
    order = "<u4" if little else ">u4"
    words = np.hstack((frames[:, :8], frames[:, _FRAME_HEADER:])).view(order).astype(np.uint32)
    claimed = heads[:, 4:6]
    seeds = np.vstack((np.array([seed], np.uint32), claimed[:-1]))
    sound = np.all(_checksums(words, seeds) == claimed, axis=1) & np.all(
        heads[:, 2:4] == np.array(salts, np.uint32), axis=1
    )
    return sound, heads[:, 1] != 0


def _checksums(words: Words, seeds: Words) -> Words:
    """SQLite's checksum of each row of words, continued from its seed."""
    of_even, of_odd, of_seed = _weights(words.shape[1] // 2)
    even, odd = words[:, 0::2], words[:, 1::2]
    sums = [even @ of_even[:, n] + odd @ of_odd[:, n] + seeds @ of_seed[:, n] for n in (0, 1)]
    return np.stack(sums, axis=1)


@lru_cache(4)
def _weights(pairs: int) -> tuple[Words, Words, Words]:
    """How much each word and each seed adds to the two sums in the end, modulo 2^32.

    One pair (x0, x1) turns (s0, s1) into (s0 + s1 + x0, s0 + 2 s1 + x0 + x1).
    """
    even, odd = np.zeros((pairs, 2), np.uint32), np.zeros((pairs, 2), np.uint32)
    first, second = (1, 0), (0, 1)  # what a unit in s0 and one in s1 become after the pairs that follow
    for place in reversed(range(pairs)):
        even[place] = [(a + b) & _MASK for a, b in zip(first, second, strict=True)]
        odd[place] = second
        first, second = (
            ((first[0] + second[0]) & _MASK, (first[1] + second[1]) & _MASK),
            ((first[0] + 2 * second[0]) & _MASK, (first[1] + 2 * second[1]) & _MASK),
        )
    return even, odd, np.array([first, second], np.uint32)
