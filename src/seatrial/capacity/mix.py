"""The cheapest mix of several kinds of nodes that is found, and a price that no mix is below.

Every mix that is tried runs the whole scenario. The search begins with the cheapest kind that is enough alone, or with
as many of each; then it takes nodes away, and puts more of a cheaper kind in the place of a dearer one, as long as
that makes the mix cheaper. So the answer is enough, and may not be the cheapest: the bound says how far off it can be.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from seatrial.capacity.nodes import Counts, NodeTemplate, Search, Shortage, without_nodes
from seatrial.capacity.trial import Setting, Trial
from seatrial.model.documents import Document
from seatrial.model.quantity import quantity_milli

MOST_TRIES = 200


@dataclass(frozen=True, slots=True)
class MixAnswer:
    """How many nodes of each kind, what they cost an hour, and what no mix is below."""

    scenario: str
    counts: dict[str, int] | None
    price: float
    bound: float
    tries: int
    shortage: Shortage | None = None

    @property
    def sentence(self) -> str:
        if self.counts is None:
            assert self.shortage is not None
            return f"No mix that was tried is enough for {self.scenario}: {self.shortage.pod} {self.shortage.why}."
        chosen = [f"{count} of {name}" for name, count in self.counts.items() if count]
        if not chosen:
            return f"{self.scenario} needs no more nodes."
        within = f"no mix costs less than {self.bound:g}" if self.bound < self.price else "no mix costs less"
        return f"{self.scenario} needs {' and '.join(chosen)}, {self.price:g} an hour; {within} ({self.tries} tried)."


def find_mix(
    setting: Setting, kinds: Sequence[tuple[Document, float]], limit: int, *, add: bool = False,
    advance: Callable[[int, int], None] = lambda *_: None,
) -> MixAnswer:  # fmt: skip
    """Search for a cheap mix of kinds with their prices an hour; `add` keeps the scenario's own nodes."""
    if not add and setting.scenario is not None:
        setting = replace(setting, scenario=without_nodes(setting.scenario, setting), folder=None)
    templates = [NodeTemplate(node) for node, _ in kinds]
    names, prices = [each.name for each in templates], [price for _, price in kinds]
    search = Search(setting, templates, advance)
    found = _cheapest_start(search, prices, limit)
    bound = _bound(setting, kinds)
    if found is None:
        return MixAnswer(search.name, None, 0.0, bound, len(search.tried), next(reversed(search.shortages.values())))
    while len(search.tried) < MOST_TRIES and (better := _improved(search, found, prices)) is not None:
        found = better
    return MixAnswer(search.name, dict(zip(names, found, strict=True)), _price(found, prices), bound, len(search.tried))


def _price(counts: Counts, prices: Sequence[float]) -> float:
    return round(sum(count * price for count, price in zip(counts, prices, strict=True)), 6)


def _cheapest_start(search: Search, prices: Sequence[float], limit: int) -> Counts | None:
    """The cheapest kind that is enough alone; else equal numbers of all."""

    def alone(place: int) -> Callable[[int], Counts]:
        return lambda count: tuple(count if at == place else 0 for at in range(len(prices)))

    starts = []
    for counts in [alone(place) for place in range(len(prices))]:
        _, fewest = search.fewest(counts, limit)
        if fewest is not None:
            starts.append(counts(fewest))
    if not starts:
        _, fewest = search.fewest(lambda count: (count,) * len(prices), limit)
        starts = [(fewest,) * len(prices)] if fewest is not None else []
    return min(starts, key=lambda counts: _price(counts, prices), default=None)


def _improved(search: Search, counts: Counts, prices: Sequence[float]) -> Counts | None:
    """The first cheaper mix next to this one that is enough."""
    now = _price(counts, prices)
    for other in _neighbours(counts, prices):
        if len(search.tried) >= MOST_TRIES:
            return None
        if _price(other, prices) < now and search.is_enough(other):
            return other
    return None


def _neighbours(counts: Counts, prices: Sequence[float]) -> Iterator[Counts]:
    """One node of a kind less, the dearest first; or instead as many of another kind as cost less, fewest first."""
    order = sorted(range(len(prices)), key=lambda place: -prices[place])
    for place in order:
        if not counts[place]:
            continue
        fewer = [count - (at == place) for at, count in enumerate(counts)]
        yield tuple(fewer)
        for other in order:
            most = int(Fraction(prices[place]) / Fraction(prices[other])) if prices[other] else 1
            for more in range(1, most + 1) if other != place else ():
                yield tuple(count + more * (at == other) for at, count in enumerate(fewer))


def _bound(setting: Setting, kinds: Sequence[tuple[Document, float]]) -> float:
    """What the resources cost at least that pods ask for beyond what the nodes that are there have."""
    trial = Trial(setting)
    if setting.scenario is None:
        trial.settle()
    short: dict[str, Fraction] = {}
    for pod in trial.unfinished():
        for resource, amount in {**_requests(pod), "pods": Fraction(1)}.items():
            short[resource] = short.get(resource, Fraction(0)) + amount
    for node in trial.all_nodes():
        for resource, amount in _room(node).items():
            short[resource] = short.get(resource, Fraction(0)) - amount
    bounds = [0.0]
    for resource, amount in short.items():
        shares = [(price, _room(node).get(resource, Fraction(0))) for node, price in kinds]
        costs = [float(amount * Fraction(price) / room) for price, room in shares if room]
        if amount > 0 and costs:
            bounds.append(min(costs))
    return round(max(bounds), 6)


def _requests(pod: Document) -> dict[str, Fraction]:
    """What the containers ask for; init containers and overhead only add to it, and a bound may leave them out."""
    found: dict[str, Fraction] = {}
    for container in pod["spec"].get("containers") or ():
        for resource, text in ((container.get("resources") or {}).get("requests") or {}).items():
            found[resource] = found.get(resource, Fraction(0)) + Fraction(quantity_milli(text), 1000)
    return found


def _room(node: Document) -> dict[str, Fraction]:
    status = node.get("status") or {}
    room = status.get("allocatable") or status.get("capacity") or {}
    return {resource: Fraction(quantity_milli(text), 1000) for resource, text in room.items()}
