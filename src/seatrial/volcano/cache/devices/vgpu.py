"""The GPUs of a node that HAMi or MIG divide (vGPU).

Upstream: pkg/scheduler/api/devices/nvidia/vgpu (device_info.go, utils.go), pkg/scheduler/api/devices/util.go.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from seatrial.model.documents import Document
from seatrial.model.quantity import Quantity
from seatrial.model.times import SECOND
from seatrial.scheduler.cache import PodInfo
from seatrial.volcano.apis.labels import GROUP_NAME
from seatrial.volcano.cache.devices.interface import Annotations
from seatrial.volcano.cache.devices.sharing import Card, HamiCore, Mig, Sharing, Use
from seatrial.volcano.cache.devices.vgpu_config import CORES, MEMORY, NUMBER, VgpuConfig

REGISTER = "volcano.sh/node-vgpu-register"
NODE, IDS, TIME = "volcano.sh/vgpu-node", "volcano.sh/vgpu-ids-new", "volcano.sh/vgpu-time"
TO_ALLOCATE, BIND_PHASE, BIND_TIME = "volcano.sh/devices-to-allocate", "volcano.sh/bind-phase", "volcano.sh/bind-time"
MODE, GROUP_POLICY = "volcano.sh/vgpu-mode", "volcano.sh/vgpu-podgroup-policy"
USE_TYPE, AVOID_TYPE = "nvidia.com/use-gputype", "nvidia.com/nouse-gputype"
USE_UUID, AVOID_UUID = "volcano.sh/vgpu-use-gpuuuid", "volcano.sh/vgpu-nouse-gpuuuid"
VOLCANO_GROUP = "scheduling.volcano.sh/group-name"
MIG, HAMI_CORE = "mig", "hami-core"
BINPACK, SPREAD = "binpack", "spread"
KIND = "NVIDIA"
REFUSED = "hami-vgpuDeviceSharing error"
WHOLE_CARD = 100
"""Cores, and percent of memory."""
NO_PERCENTAGE = 101


class Request(NamedTuple):
    """What a container asks of each card, and of how many."""

    number: int
    memory: int
    percentage: int
    cores: int


class Held(NamedTuple):
    """What a container holds of a card."""

    device: str
    memory: int
    cores: int


@dataclass(slots=True)
class Vgpus:
    """The cards of one node."""

    node: str
    cards: dict[int, Card]
    mode: str
    config: VgpuConfig
    policy: str
    now: int
    sharing: Sharing = field(init=False)
    score: float = 0.0

    def __post_init__(self) -> None:
        self.sharing = Mig(self.config.memory_factor) if self.mode == MIG else HamiCore()

    @classmethod
    def read(cls, node: Document, config: VgpuConfig, policy: str, now: int) -> "Vgpus | None":
        """The cards that the device plugin has registered; None where there are none."""
        metadata, status = node["metadata"], node.get("status") or {}
        text = (metadata.get("annotations") or {}).get(REGISTER, "")
        offered = status.get("allocatable") or {}
        if ":" not in text or not all(Quantity.parse(offered.get(name, 0)).value() for name in (NUMBER, CORES, MEMORY)):
            return None
        cards: dict[int, Card] = {}
        mode = HAMI_CORE
        for index, entry in enumerate(text.split(":")):
            if "," not in entry:
                continue
            items = entry.split(",")
            if len(items) < 6:
                return None
            card = cards[index] = Card(items[0], _integer(items[1]), _integer(items[2]), items[3])
            geometries = config.geometries_of(card.type) if items[5] == MIG else None
            card.geometries, mode = geometries or (), HAMI_CORE if geometries is None else MIG
        return cls(metadata["name"], cards, mode, config, policy, now) if cards else None

    def asks(self, pod: PodInfo) -> bool:
        return any(name in limits for limits in _limits(pod) for name in (self.config.memory, self.config.count))

    def add(self, pod: PodInfo) -> None:
        for held in held_in(pod.annotations.get(IDS, "")):
            for card in self.cards.values():
                if card.uuid in held.device:
                    is_read = self.sharing.add(card, held.memory, held.cores, pod.uid, held.device)
                    if is_read and pod.uid in card.pods:
                        card.pods[pod.uid].group = _group(pod)
                    break

    def remove(self, pod: PodInfo) -> None:
        for held in held_in(pod.annotations.get(IDS, "")):
            for card in self.cards.values():
                if card.uuid in held.device:
                    self.sharing.remove(card, held.memory, held.cores, pod.uid, held.device)
                    break

    def refusal(self, pod: PodInfo, policy: str) -> str:
        return REFUSED if self._tried(pod, policy) is None else ""

    def passed(self, pod: PodInfo, policy: str) -> None:
        found = self._tried(pod, policy)
        if found is not None:
            self.score = found[1]

    def allocate(self, pod: PodInfo) -> Annotations | None:
        found = self._place(pod, self.policy)
        if found is None:
            return None
        ids = ";".join("".join(f"{h.device},{KIND},{h.memory},{h.cores}:" for h in each) for each in found[0])
        for held in held_in(ids):
            for card in self.cards.values():
                if card.uuid in held.device:
                    use = card.pods.setdefault(pod.uid, Use())
                    use.memory, use.cores, use.group = use.memory + held.memory, use.cores + held.cores, _group(pod)
        time = str(self.now // SECOND)
        phase = {BIND_PHASE: "allocating"}
        return {NODE: self.node, TIME: time, IDS: ids, TO_ALLOCATE: ids, BIND_TIME: time} | phase

    def release(self, pod: PodInfo) -> tuple[str, ...]:
        self.remove(pod)
        return (
            ()
            if pod.annotations.get(BIND_PHASE) == "success"
            else (NODE, TIME, IDS, TO_ALLOCATE, BIND_PHASE, BIND_TIME)
        )

    def held_by(self, pod: PodInfo) -> Mapping[str, float]:
        found: dict[str, float] = {}
        for held in held_in(pod.annotations.get(IDS, "")):
            for card in self.cards.values():
                if card.uuid in held.device:
                    for name, amount in ((self.config.memory, held.memory), (self.config.cores, held.cores)):
                        found[name] = found.get(name, 0.0) + amount * 1000.0
        return found

    def _tried(self, pod: PodInfo, policy: str) -> tuple[list[list[Held]], float] | None:
        """What a pod would get; the cards stay as they are."""
        before = [card.used for card in self.cards.values()]
        found = self._place(pod, policy)
        for card, used in zip(self.cards.values(), before, strict=True):
            card.used_number, card.used_memory, card.used_cores = used
        return found

    def _place(self, pod: PodInfo, policy: str) -> tuple[list[list[Held]], float] | None:
        """What each container of a pod gets, and what that scores; None where one gets too little."""
        mode = pod.annotations.get(MODE)
        if mode is not None and mode != self.mode:
            return None
        group = _group(pod) if pod.annotations.get(GROUP_POLICY) == SPREAD else ""
        charged: list[tuple[Card, int, int]] = []
        given: list[list[Held]] = []
        score = 0.0
        for request in self._requests(pod):
            held: list[Held] = []
            for card in self._ordered(policy) if request.number <= len(self.cards) else ():
                memory = _memory(request, card)
                if not _is_free(card, request, memory) or _is_taken(card, group) or not _is_wanted(pod, card):
                    continue
                device = self.sharing.try_add(card, memory, request.cores)
                if not device:
                    continue
                charged.append((card, memory, request.cores))
                if request.number > 0:
                    held.append(Held(device, memory, request.cores))
                    score += _score(policy, card)
                if len(held) == request.number:
                    break
            if len(held) < request.number:
                _take_back(charged)
                return None
            given.append(held)
        return given, score

    def _ordered(self, policy: str) -> list[Card]:
        order = sorted(self.cards)
        if policy == BINPACK:
            order.sort(key=lambda index: -self.cards[index].used_memory)
        elif policy == SPREAD:
            order.sort(key=lambda index: self.cards[index].used_number)
        else:
            order.reverse()
        return [self.cards[index] for index in order]

    def _requests(self, pod: PodInfo) -> Iterator[Request]:
        config = self.config
        for container in pod.spec.get("containers") or ():
            resources = container.get("resources") or {}
            limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
            if config.count not in limits and config.memory not in limits:
                continue
            number = _whole(limits[config.count]) if config.count in limits else 1
            either = {**requests, **limits}
            memory, cores = _whole(either.get(config.memory, 0)), _whole(either.get(config.cores, 0))
            percentage = NO_PERCENTAGE
            if config.percentage and config.percentage in either:
                percentage = _whole(either[config.percentage], NO_PERCENTAGE)
            if percentage == NO_PERCENTAGE and not memory:
                percentage = WHOLE_CARD
            yield Request(number, memory, percentage, cores if config.cores else 0)


def _memory(request: Request, card: Card) -> int:
    if request.percentage == NO_PERCENTAGE:
        return request.memory
    return int(float(card.memory) * float(request.percentage) / 100.0)


def _is_free(card: Card, request: Request, memory: int) -> bool:
    """Whether a card has room for one more container."""
    if card.number <= card.used_number or card.memory - card.used_memory < memory:
        return False
    if card.used_cores + request.cores > WHOLE_CARD or (request.cores == WHOLE_CARD and card.used_number > 0):
        return False
    return not (card.used_cores == WHOLE_CARD and request.cores == 0)


def _is_taken(card: Card, group: str) -> bool:
    """Whether a pod of the same PodGroup uses the card."""
    return bool(group) and any(use.group == group and (use.memory or use.cores) for use in card.pods.values())


def _is_wanted(pod: PodInfo, card: Card) -> bool:
    """Whether a card is one that the pod's annotations allow."""
    notes = pod.annotations
    use, avoid = _list(notes.get(USE_UUID, "")), _list(notes.get(AVOID_UUID, ""))
    if (not card.uuid and (use or avoid)) or (use and card.uuid not in use) or card.uuid in avoid:
        return False
    if KIND not in card.type:
        return False
    for key, wants in ((USE_TYPE, True), (AVOID_TYPE, False)):
        if key in notes:
            return wants == any(part.upper() in card.type.upper() for part in notes[key].split(","))
    return True


def _score(policy: str, card: Card) -> float:
    if policy == BINPACK and card.memory:
        return 100 * (card.used_memory / card.memory)
    return 100.0 if policy == SPREAD and card.used_number == 0 else 0.0


def _take_back(charged: list[tuple[Card, int, int]]) -> None:
    for card, memory, cores in charged:
        card.used_number = max(card.used_number - 1, 0)
        card.used_memory = max(card.used_memory - memory, 0)
        card.used_cores = max(card.used_cores - cores, 0)


def held_in(text: str) -> Iterator[Held]:
    """What the annotation of a pod says that its containers hold."""
    for part in text.replace(";", ":").split(":"):
        fields = part.split(",")
        if len(fields) >= 4 and _is_uint32(fields[2]) and _is_uint32(fields[3]):
            yield Held(fields[0], int(fields[2]), int(fields[3]))


def _is_uint32(text: str) -> bool:
    return text.isascii() and text.isdecimal() and int(text) < 1 << 32


def _group(pod: PodInfo) -> str:
    """The PodGroup of a pod."""
    name = pod.annotations.get(GROUP_NAME) or pod.annotations.get(VOLCANO_GROUP)
    return f"{pod.namespace}/{name}" if name else ""


def _limits(pod: PodInfo) -> Iterator[Document]:
    for container in pod.spec.get("containers") or ():
        yield (container.get("resources") or {}).get("limits") or {}


def _list(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _whole(text: str | int, otherwise: int = 0) -> int:
    """A quantity that is a whole number."""
    value = Quantity.parse(text).as_int64()
    return otherwise if value is None else value


def _integer(text: str) -> int:
    return int(text) if text.lstrip("+-").isdecimal() else 0
