"""A GPU card that pods share, and the two ways to share it: by HAMi's software, or split by MIG.

Upstream: pkg/scheduler/api/devices/nvidia/vgpu (device_info.go, hamicore.go, mig.go). A card split by MIG keeps its
split for the rest of a session, and what a session gives to a pod does not take a part away before the pod is bound.
"""

from dataclasses import dataclass, field
from typing import Protocol

from seatrial.volcano.cache.devices.vgpu_config import Geometry


@dataclass(slots=True)
class Use:
    """What a pod takes of a card."""

    memory: int = 0
    cores: int = 0
    group: str = ""
    """The PodGroup of the pod."""


@dataclass(slots=True)
class Parts:
    """The parts of one kind that are in use."""

    name: str
    memory: int
    used: set[int]


@dataclass(slots=True)
class Card:
    """One GPU."""

    uuid: str
    number: int
    """How many pods may share it."""
    memory: int
    type: str
    geometries: tuple[Geometry, ...] = ()
    used_number: int = 0
    used_memory: int = 0
    used_cores: int = 0
    pods: dict[str, Use] = field(default_factory=dict)
    """By uid."""
    split: int = -1
    """Which geometry is in use."""
    parts: list[Parts] = field(default_factory=list)

    @property
    def used(self) -> tuple[int, int, int]:
        return self.used_number, self.used_memory, self.used_cores

    def charge(self, memory: int, cores: int) -> None:
        self.used_number += 1
        self.used_memory += memory
        self.used_cores += cores

    def discharge(self, memory: int, cores: int) -> None:
        self.used_number -= 1
        self.used_memory -= memory
        self.used_cores -= cores


class Sharing(Protocol):
    """A way to share cards."""

    def try_add(self, card: Card, memory: int, cores: int) -> str:
        """Charges a card for one more pod: the name of what it gets; empty where it gets nothing."""
        ...

    def add(self, card: Card, memory: int, cores: int, uid: str, device: str) -> bool:
        """A pod holds a device; whether it could be read."""
        ...

    def remove(self, card: Card, memory: int, cores: int, uid: str, device: str) -> None:
        """A pod holds a device no longer."""
        ...


class HamiCore:
    """Pods get memory and cores of a card."""

    def try_add(self, card: Card, memory: int, cores: int) -> str:
        card.charge(memory, cores)
        return card.uuid

    def add(self, card: Card, memory: int, cores: int, uid: str, device: str) -> bool:
        if uid not in card.pods:
            card.pods[uid] = Use(memory, cores)
            card.charge(memory, cores)
        return True

    def remove(self, card: Card, memory: int, cores: int, uid: str, device: str) -> None:
        if uid in card.pods:
            card.discharge(memory, cores)
            del card.pods[uid]


@dataclass(frozen=True, slots=True)
class Mig:
    """Pods get a part of a card."""

    factor: int
    """By which memory of parts is larger than memory of requests."""

    def try_add(self, card: Card, memory: int, cores: int) -> str:
        found = self._match(card, memory * self.factor if self.factor > 1 else memory)
        if found is None:
            return ""
        geometry, position, part_memory = found
        card.charge(self._real(part_memory), cores)
        return f"{card.uuid}[{geometry.group}-{position}]"

    def add(self, card: Card, memory: int, cores: int, uid: str, device: str) -> bool:
        place = _place(device)
        if place is None:
            return False
        if uid not in card.pods:
            real = self._real(_take(card, *place))
            card.pods[uid] = Use(real, cores)
            card.charge(real, cores)
        return True

    def remove(self, card: Card, memory: int, cores: int, uid: str, device: str) -> None:
        place = _place(device)
        if place is not None and uid in card.pods:
            card.discharge(self._real(_give_back(card, *place)), cores)
            del card.pods[uid]

    def _real(self, memory: int) -> int:
        return memory // self.factor if self.factor > 1 else memory

    def _match(self, card: Card, memory: int) -> tuple[Geometry, int, int] | None:
        """The smallest free part that is large enough, of the split in use or of the first that has one."""
        is_split = card.split >= 0
        for geometry in (card.geometries[card.split],) if is_split else card.geometries:
            found = _pick(geometry, card.parts if is_split else [], memory)
            if found is not None:
                return geometry, *found
        return None


def _pick(geometry: Geometry, parts: list[Parts], memory: int) -> tuple[int, int] | None:
    """The position and memory of a free part. A kind of part of which none is in use is free only before any is."""
    for index in sorted(range(len(geometry.instances)), key=lambda place: geometry.instances[place].memory):
        instance = geometry.instances[index]
        if instance.memory < memory:
            continue
        if not parts:
            return _position(geometry, index, set()), instance.memory
        for each in parts:
            if each.name == instance.name and instance.count > len(each.used):
                return _position(geometry, index, each.used), instance.memory
    return None


def _position(geometry: Geometry, index: int, used: set[int]) -> int:
    before = sum(instance.count for instance in geometry.instances[:index])
    free = (place for place in range(geometry.instances[index].count) if place not in used)
    return before + next(free, 0)


def _place(device: str) -> tuple[str, int] | None:
    """The geometry and the position that the name of a device has in brackets."""
    start, end = device.find("["), device.find("]")
    if start < 0 or end < 0 or start > end:
        return None
    group, dash, position = device[start + 1 : end].partition("-")
    return (group, int(position)) if dash and position.isdecimal() else None


def _find(card: Card, group: str, position: int) -> tuple[int, str, int, int] | None:
    """Which split a position belongs to; the name, the memory and the number of its part."""
    for split, geometry in enumerate(card.geometries):
        if geometry.group == group:
            for instance in geometry.instances:
                if position < instance.count:
                    return split, instance.name, instance.memory, position
                position -= instance.count
            return None
    return None


def _take(card: Card, group: str, position: int) -> int:
    """Marks a part as used: its memory."""
    found = _find(card, group, position)
    if found is None:
        return 0
    card.split, name, memory, place = found
    for each in card.parts:
        if each.name == name:
            each.used.add(place)
            return each.memory
    card.parts.append(Parts(name, memory, {place}))
    return memory


def _give_back(card: Card, group: str, position: int) -> int:
    """Marks a part as free: its memory."""
    found = _find(card, group, position)
    if found is None:
        return 0
    card.split, name, _, place = found
    for each in card.parts:
        if each.name == name:
            each.used.discard(place)
            if not each.used:
                card.parts.remove(each)
            return each.memory
    return 0
