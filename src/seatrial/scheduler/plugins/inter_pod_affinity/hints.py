"""Hints of InterPodAffinity. Upstream: plugins/interpodaffinity/plugin.go."""

from collections.abc import Sequence

from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.cache.pod_terms import AffinityTerm
from seatrial.scheduler.framework.interface import Action, Plugin, Requeue
from seatrial.scheduler.versions import Rules


def pod_changed(plugin: Plugin, pod: PodInfo, old: PodInfo | None, new: PodInfo | None) -> bool:
    rules = plugin.rules
    if new is not None and old is not None and pod.uid == new.uid:
        return rules.hints_see_both_sides
    if _is_nowhere(new, rules) or _is_nowhere(old, rules):
        return False
    terms, against = pod.shape.affinity.required, pod.shape.affinity.required_anti
    repels = _matches_any if rules.hints_need_one_term else _matches_all
    if old is not None and new is not None:
        if not _matches_all(terms, old) and _matches_all(terms, new):
            return True
        return repels(against, old) and not repels(against, new)
    if new is not None:
        return _matches_all(terms, new)
    assert old is not None
    return repels(against, old) or (rules.hints_see_both_sides and repels(old.shape.affinity.required_anti, pod))


def node_changed(_: Plugin, pod: PodInfo, old: NodeInfo | None, new: NodeInfo) -> bool:
    for term in pod.shape.affinity.required:
        value = new.labels.get(term.topology_key)
        if value is not None and (old is None or old.labels.get(term.topology_key) != value):
            return True
    for term in pod.shape.affinity.required_anti:
        if old is None:
            return True
        before, after = old.labels.get(term.topology_key), new.labels.get(term.topology_key)
        if before is not None and before != after:
            return True
    return False


def _is_nowhere(pod: PodInfo | None, rules: Rules) -> bool:
    """Whether a pod is neither on a node nor, where that counts, nominated to one."""
    return pod is not None and not pod.node and not (pod.nominated_node and rules.hints_see_both_sides)


def _matches_all(terms: Sequence[AffinityTerm], pod: PodInfo) -> bool:
    return bool(terms) and all(term.matches(pod.namespace, pod.labels, {}) for term in terms)


def _matches_any(terms: Sequence[AffinityTerm], pod: PodInfo) -> bool:
    return any(term.matches(pod.namespace, pod.labels, {}) for term in terms)


HINTS: tuple[Requeue, ...] = (
    Requeue("Pod", Action.ADD | Action.UPDATE_POD_LABEL | Action.DELETE, pod_changed),
    Requeue("Node", Action.ADD | Action.UPDATE_NODE_LABEL, node_changed),
)
