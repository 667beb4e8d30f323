"""InterPodAffinity: pods that want to be, or must not be, near other pods.

Counts of pods per node are kept by the node table; a cycle only adds them up by topology domain.

Upstream: pkg/scheduler/framework/plugins/interpodaffinity (v1.36).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from seatrial.model.documents import Document
from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.cache.node_table import Ints, Nodes, NodeTable
from seatrial.scheduler.cache.pod_counts import Carried, PodCount
from seatrial.scheduler.cache.pod_info import PodInfo, PodShape
from seatrial.scheduler.cache.pod_terms import AffinityTerm, Chosen, PodMatcher
from seatrial.scheduler.cache.topology_counts import by_domain, picked_by_domain, seen_from, widened
from seatrial.scheduler.config.arguments import Arguments, Gates
from seatrial.scheduler.config.field_errors import invalid
from seatrial.scheduler.config.shapes import BOOL, INT32, always, pointer
from seatrial.scheduler.framework.interface import MAX_NODE_SCORE, Handle, Plugin
from seatrial.scheduler.framework.row_rules import (
    NO_LIMIT,
    DomainCheck,
    DomainRule,
    DomainScore,
    DomainTerm,
    Normalizes,
)
from seatrial.scheduler.framework.status import MISSING, SKIP, Status, Verdicts, error, unresolvable, unschedulable
from seatrial.scheduler.plugins.inter_pod_affinity.hints import HINTS

REASON_AFFINITY = "node(s) didn't match pod affinity rules"
REASON_ANTI_AFFINITY = "node(s) didn't match pod anti-affinity rules"
REASON_EXISTING = "node(s) didn't satisfy existing pods anti-affinity rules"
NO_LABELS: Mapping[str, str] = {}

Domains = Mapping[str, Ints]
"""Topology key -> pods per domain."""


@dataclass(frozen=True, slots=True)
class OwnTerms:
    """The pod's required terms with their namespaces resolved."""

    together: PodMatcher
    """pods that all affinity terms pick"""
    keys: tuple[str, ...]
    apart: tuple[tuple[PodMatcher, str], ...]


@dataclass(frozen=True, slots=True)
class AffinityState:
    """Pods per domain that matter for one pod."""

    table: NodeTable
    pod: PodInfo
    own: OwnTerms
    namespace_labels: Mapping[str, str]
    existing: Domains
    near: Domains
    apart: Domains

    def with_pod(self, pod: PodInfo, node: NodeInfo) -> "AffinityState":
        return self._changed(pod, node, 1)

    def without_pod(self, pod: PodInfo, node: NodeInfo) -> "AffinityState":
        return self._changed(pod, node, -1)

    def _changed(self, pod: PodInfo, node: NodeInfo, sign: int) -> "AffinityState":
        against = [
            term.topology_key
            for term in pod.shape.affinity.required_anti
            if term.matches(self.pod.namespace, self.pod.labels, self.namespace_labels)
        ]
        is_near = bool(self.own.keys) and self.own.together.matches(pod.namespace, pod.labels)
        apart = [key for matcher, key in self.own.apart if matcher.matches(pod.namespace, pod.labels)]
        if not against and not is_near and not apart:
            return self
        return replace(
            self,
            existing=self._moved(self.existing, against, node, sign),
            near=self._moved(self.near, self.own.keys if is_near else (), node, sign),
            apart=self._moved(self.apart, apart, node, sign),
        )

    def _moved(self, domains: Domains, keys: Any, node: NodeInfo, sign: int) -> Domains:
        changed = dict(domains)
        for key in keys:
            if key in node.labels:
                number = self.table.label(key).number(node.labels[key])
                sums = changed[key] = widened(changed.get(key, _EMPTY), number + 1)
                sums[number] += sign
        return changed


_EMPTY: Ints = np.zeros(1, np.int64)


def _defaults(args: Document, gates: Gates) -> None:
    args.setdefault("hardPodAffinityWeight", 1)


def _problems(args: Document, path: str, gates: Gates) -> Iterator[str]:
    weight = args["hardPodAffinityWeight"]
    if not 0 <= weight <= 100:
        yield invalid(f"{path}.hardPodAffinityWeight", weight, "not in valid range [0, 100]")


class InterPodAffinity(Plugin):
    """Required terms filter, preferred ones score, in both directions."""

    normalizes = Normalizes.BETWEEN
    arguments = Arguments(
        "InterPodAffinity",
        {"hardPodAffinityWeight": pointer(INT32), "ignorePreferredTermsOfExistingPods": always(BOOL)},
        defaults=_defaults,
        problems=_problems,
    )
    requeues = HINTS

    def __init__(self, args: Document | None = None, handle: Handle | None = None) -> None:
        super().__init__(args, handle)
        self._ignores_existing = bool(self.args.get("ignorePreferredTermsOfExistingPods"))

    def pre_filter(self, pod: PodInfo, nodes: Nodes) -> Any:
        affinity, table = pod.shape.affinity, nodes.table
        if not affinity.present and not table.counts.carriers("required_anti"):
            return SKIP
        if fault := next(
            (t.selector.fault for t in affinity.required + affinity.required_anti if t.selector.fault), ""
        ):
            return unresolvable(f"parsing pod: {fault}")
        existing = self._existing(pod, table)
        if not existing and not affinity.required and not affinity.required_anti:
            return SKIP
        own = self._own(pod)
        near = {key: picked_by_domain(table, key, own.together) for key in own.keys}
        apart: dict[str, Ints] = {}
        for matcher, key in own.apart:
            _add(apart, key, picked_by_domain(table, key, matcher))
        return AffinityState(table, pod, own, self._namespace_labels(pod.namespace), existing, near, apart)

    def filter(self, pod: PodInfo, nodes: Nodes, state: Any = MISSING) -> Verdicts:
        if state is MISSING:
            return Verdicts.failed(nodes, 'error reading "PreFilterInterPodAffinity" from cycleState: not found')
        checks = []
        if state.own.keys:
            checks.append((self._lacks_company(pod, nodes, state), unresolvable(REASON_AFFINITY)))
        for domains, reason in ((state.apart, REASON_ANTI_AFFINITY), (state.existing, REASON_EXISTING)):
            for key, sums in domains.items():
                checks.append((seen_from(nodes, key, sums) > 0, unschedulable(reason)))
        return Verdicts.first_of(checks, nodes)

    def domain_checks(self, pod: PodInfo, state: AffinityState) -> list[DomainCheck]:
        """`filter` as bounds of the sums of domains."""
        lowest = 0 if self._is_first(pod, state) else 1
        checks = [DomainCheck(key, sums, lowest, NO_LIMIT, True) for key, sums in state.near.items()]
        for domains in (state.apart, state.existing):
            checks += [DomainCheck(key, sums, -NO_LIMIT, 0, False) for key, sums in domains.items()]
        return checks

    def domain_rules(self, pod: PodInfo, table: NodeTable) -> list[DomainRule] | None:
        """`pre_filter` and `filter` as rules for kept sums; None if those decide whether the pod is skipped."""
        affinity = pod.shape.affinity
        if any(term.selector.fault for term in affinity.required + affinity.required_anti):
            return None
        existing = self._matching(pod, table, "required_anti")
        if not affinity.required and not affinity.required_anti:
            return None if existing else []
        own = self._own(pod)
        counts_itself = int(own.together.matches(pod.namespace, pod.labels))
        near = [(key, picked_by_domain(table, key, own.together)) for key in own.keys]
        apart = [(key, picked_by_domain(table, key, matcher)) for matcher, key in own.apart]
        for (_, _, term), count in existing:
            apart.append((term.topology_key, by_domain(table, term.topology_key, count)))
        return [
            *(DomainRule(key, sums, "near", counts_itself) for key, sums in near),
            *(DomainRule(key, sums, "at-most", 0) for key, sums in apart),
        ]

    def domain_terms(self, pod: PodInfo, table: NodeTable) -> list[DomainTerm]:
        """`pre_score` and `score` as sums that are kept; no term where the pod is skipped."""
        found: list[DomainTerm] = []
        affinity = pod.shape.affinity
        has_preferences = bool(affinity.preferred or affinity.preferred_anti)
        if not has_preferences and (self._ignores_existing or not _has_terms(table)):
            return found
        for sign, terms in ((1, affinity.preferred), (-1, affinity.preferred_anti)):
            for weight, term in terms:
                sums = picked_by_domain(table, term.topology_key, PodMatcher((self._resolved(term),)))
                found.append((term.topology_key, sums, sign * weight))
        return [*found, *self._existing_terms(pod, table)]

    def domain_scores(self, state: Domains) -> list[DomainScore]:
        """`score` as sums of domains."""
        return list(state.items())

    def _is_first(self, pod: PodInfo, state: AffinityState) -> bool:
        """Whether no pod anywhere is what the pod wants to be near of, and the pod itself is."""
        if not state.near:
            return False
        is_alone = not any(np.count_nonzero(sums) for sums in state.near.values())
        return is_alone and state.own.together.matches(pod.namespace, pod.labels)

    def _lacks_company(self, pod: PodInfo, nodes: Nodes, state: AffinityState) -> Any:
        homeless = np.zeros(len(nodes), np.bool_)
        alone = np.zeros(len(nodes), np.bool_)
        for key, sums in state.near.items():
            homeless |= nodes.label(key) < 0
            alone |= seen_from(nodes, key, sums) <= 0
        return homeless if self._is_first(pod, state) else homeless | alone

    def pre_score(self, pod: PodInfo, nodes: Nodes) -> Any:
        affinity, table = pod.shape.affinity, nodes.table
        has_preferences = bool(affinity.preferred or affinity.preferred_anti)
        if not has_preferences and (self._ignores_existing or not _has_terms(table)):
            return SKIP
        domains: dict[str, Ints] = {}
        for sign, terms in ((1, affinity.preferred), (-1, affinity.preferred_anti)):
            for weight, term in terms:
                sums = picked_by_domain(table, term.topology_key, PodMatcher((self._resolved(term),)))
                _add_scores(domains, term.topology_key, sums, sign * weight)
        for key, sums, weight in self._existing_terms(pod, table):
            _add_scores(domains, key, sums, weight)
        return domains or SKIP

    def _existing_terms(self, pod: PodInfo, table: NodeTable) -> Iterator[tuple[str, Ints, int]]:
        """What the terms of existing pods say about this one: the topology key, the sums of its domains, the weight."""
        hard = self.args.get("hardPodAffinityWeight", 1)
        weights: tuple[tuple[str, Callable[[int], int]], ...] = (
            ("required", lambda _: hard),
            ("preferred", lambda weight: weight),
            ("preferred_anti", lambda weight: -weight),
        )
        for kind, weigh in weights:
            if kind == "required" and hard <= 0:
                continue
            for (_, weight, term), count in self._matching(pod, table, kind):
                yield term.topology_key, by_domain(table, term.topology_key, count), weigh(weight)

    def score(self, pod: PodInfo, nodes: Nodes, state: Any = MISSING) -> Ints | Status | None:
        if state is MISSING:
            return error('failed to read "PreScoreInterPodAffinity" from cycleState: not found')
        scores: Ints | None = None
        for key, sums in state.items():
            seen = seen_from(nodes, key, sums)
            scores = seen if scores is None else scores + seen
        return scores

    def normalize(self, pod: PodInfo, nodes: Nodes, scores: Ints, state: Any = None) -> Ints:
        lowest, highest = int(scores.min()), int(scores.max())
        if highest == lowest:
            return np.zeros(len(scores), np.int64)
        shares: Ints = (float(MAX_NODE_SCORE) * ((scores - lowest) / (highest - lowest))).astype(np.int64)
        return shares

    def _existing(self, pod: PodInfo, table: NodeTable) -> dict[str, Ints]:
        """Domains this pod is kept out of by the required anti-affinity of others."""
        domains: dict[str, Ints] = {}
        for (_, _, term), count in self._matching(pod, table, "required_anti"):
            if count.number_in_domains(table.label(term.topology_key), table.version):
                _add(domains, term.topology_key, by_domain(table, term.topology_key, count))
        return domains

    def _matching(self, pod: PodInfo, table: NodeTable, kind: str) -> Sequence[tuple[Carried, PodCount]]:
        """The terms of other pods that mean this one, with their carriers."""
        carriers = table.counts.carriers(kind)
        if not carriers:
            return ()
        versions = (table.counts, table.counts.terms_version, self.handle.cluster.version("Namespace"))
        known = pod.shape.notes.get((self, kind))
        if known is None or known[0] != versions:
            labels = self._namespace_labels(pod.namespace)
            terms = tuple(one for one in carriers.items() if one[0][2].matches(pod.namespace, pod.labels, labels))
            known = pod.shape.notes[self, kind] = (versions, terms)
        matching: Sequence[tuple[Carried, PodCount]] = known[1]
        return matching

    def _own(self, pod: PodInfo) -> OwnTerms:
        version = self.handle.cluster.version("Namespace")
        known = pod.shape.notes.get((self, "own"))
        if known is None or known[0] != version:
            known = pod.shape.notes[self, "own"] = (version, self._resolve(pod.shape))
        own: OwnTerms = known[1]
        return own

    def _resolve(self, shape: PodShape) -> OwnTerms:
        affinity = shape.affinity
        return OwnTerms(
            PodMatcher(tuple(self._resolved(term) for term in affinity.required)),
            tuple(dict.fromkeys(term.topology_key for term in affinity.required)),
            tuple((PodMatcher((self._resolved(term),)), term.topology_key) for term in affinity.required_anti),
        )

    def _resolved(self, term: AffinityTerm) -> Chosen:
        """A term's namespaces by name. A selector that also picks a namespace without labels picks all of them:
        upstream asks it again about each pod, without labels at hand."""
        if term.namespace_selector.matches(NO_LABELS):
            return None, term.selector
        listed = self.handle.cluster.list("Namespace") if term.namespace_selector.selector.requirements else ()
        picked = {
            namespace["metadata"]["name"]
            for namespace in listed
            if term.namespace_selector.matches(namespace["metadata"].get("labels") or NO_LABELS)
        }
        return term.namespaces | picked, term.selector

    def _namespace_labels(self, name: str) -> Mapping[str, str]:
        namespace = self.handle.cluster.get("Namespace", name)
        labels: Mapping[str, str] = (namespace["metadata"].get("labels") if namespace else None) or NO_LABELS
        return labels


def _has_terms(table: NodeTable) -> bool:
    """Whether some pod on a node carries terms that score."""
    carriers = table.counts.carriers
    return bool(carriers("required") or carriers("preferred") or carriers("preferred_anti"))


def _add(domains: dict[str, Ints], key: str, sums: Ints) -> None:
    domains[key] = domains[key] + sums if key in domains else sums


def _add_scores(domains: dict[str, Ints], key: str, sums: Ints, weight: int) -> None:
    if np.count_nonzero(sums):  # faster than `any` for few domains
        _add(domains, key, sums * weight)
