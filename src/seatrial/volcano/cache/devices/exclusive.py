"""GPUs that pods of one rule do not share with each other; others may share them with anyone.

Upstream: plugins/deviceshare/gpuexclusive.go. Nothing is kept from one session to the next there, since every session
makes new plugins.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from seatrial.scheduler.cache import PodInfo
from seatrial.volcano.cache.devices.interface import Annotations
from seatrial.volcano.cache.devices.vgpu import IDS, Vgpus, held_in

Rules = list[dict[str, str]]


class ExclusiveVgpus:
    """The vGPUs of a node under rules. A pod is in a rule that names only labels the pod has."""

    def __init__(self, inner: Vgpus, rules: Rules, pods: Iterable[PodInfo]) -> None:
        self._inner = inner
        self._rules = rules
        listed = list(pods)
        self._uids = {pod.key: pod.uid for pod in listed}
        self._rules_of = {pod.key: found for pod in listed if (found := self._matching(pod))}
        self._cards: dict[int, set[int]] = {}
        """The cards of each rule."""
        by_uuid = {card.uuid: index for index, card in inner.cards.items()}
        for pod in listed:
            cards = self._cards_of(pod)
            if not cards:
                devices = [held.device for held in held_in(pod.annotations.get(IDS, ""))]
                cards = {by_uuid[device] for device in devices if device in by_uuid}
            self._reserve(self._rules_of.get(pod.key, set()), cards)

    @property
    def score(self) -> float:
        return self._inner.score

    @score.setter
    def score(self, score: float) -> None:
        self._inner.score = score

    def asks(self, pod: PodInfo) -> bool:
        return self._inner.asks(pod)

    def add(self, pod: PodInfo) -> None:
        self._inner.add(pod)
        self._uids[pod.key] = pod.uid
        self._track(pod)

    def remove(self, pod: PodInfo) -> None:
        self._inner.remove(pod)
        self._untrack(pod)
        self._uids.pop(pod.key, None)

    def refusal(self, pod: PodInfo, policy: str) -> str:
        with self._without_reserved(pod):
            return self._inner.refusal(pod, policy)

    def passed(self, pod: PodInfo, policy: str) -> None:
        with self._without_reserved(pod):
            self._inner.passed(pod, policy)

    def allocate(self, pod: PodInfo) -> Annotations | None:
        with self._without_reserved(pod):
            found = self._inner.allocate(pod)
        if found is not None:
            self._track(pod)
        return found

    def release(self, pod: PodInfo) -> tuple[str, ...]:
        keys = self._inner.release(pod)
        self._untrack(pod)
        return keys

    def held_by(self, pod: PodInfo) -> Mapping[str, float]:
        return self._inner.held_by(pod)

    def _matching(self, pod: PodInfo) -> set[int]:
        labels = pod.labels
        return {number for number, rule in enumerate(self._rules) if all(labels.get(k) == v for k, v in rule.items())}

    def _cards_of(self, pod: PodInfo) -> set[int]:
        return {index for index, card in self._inner.cards.items() if pod.uid in card.pods}

    def _reserve(self, rules: Iterable[int], cards: set[int]) -> None:
        for rule in rules if cards else ():
            self._cards.setdefault(rule, set()).update(cards)

    def _track(self, pod: PodInfo) -> None:
        rules = self._matching(pod)
        if rules:
            self._rules_of[pod.key] = rules
            self._reserve(rules, self._cards_of(pod))

    def _untrack(self, pod: PodInfo) -> None:
        """Frees the cards of a pod's rules on which no other pod of any rule is."""
        rules = self._rules_of.pop(pod.key, set())
        others = {self._uids.get(key) for key in self._rules_of}
        for rule in rules & self._cards.keys():
            kept = {
                c for c in self._cards[rule] if any(u != pod.uid and u in others for u in self._inner.cards[c].pods)
            }
            self._cards[rule] = kept

    @contextmanager
    def _without_reserved(self, pod: PodInfo) -> Iterator[None]:
        """Cards of the pod's rules take no further pod meanwhile."""
        reserved = {card for rule in self._matching(pod) for card in self._cards.get(rule, ())}
        before = {index: self._inner.cards[index].number for index in reserved}
        for index in reserved:
            self._inner.cards[index].number = self._inner.cards[index].used_number
        try:
            yield
        finally:
            for index, number in before.items():
                self._inner.cards[index].number = number


def read_rules(given: Any) -> Rules:
    """The rules of the plugin's argument; what is no text is left out."""
    listed = given if isinstance(given, list) else ()
    rules = [{k: v for k, v in entry.items() if isinstance(v, str)} for entry in listed if isinstance(entry, Mapping)]
    return [rule for rule in rules if rule]
