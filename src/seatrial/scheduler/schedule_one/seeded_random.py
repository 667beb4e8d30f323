"""A seeded source of choices: the same seed gives the same choices on every machine and version of Python."""

_MASK = (1 << 64) - 1


class SeededRandom:
    """SplitMix64, which is three lines long and good enough to settle ties."""

    def __init__(self, seed: int) -> None:
        self._state = seed & _MASK

    def randrange(self, stop: int) -> int:
        """A number from 0 up to but not including `stop`."""
        self._state = (self._state + 0x9E3779B97F4A7C15) & _MASK
        mixed = ((self._state ^ (self._state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        return (mixed ^ (mixed >> 31)) % stop
