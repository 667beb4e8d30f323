"""The eviction subresource: deletes a pod unless a PodDisruptionBudget forbids it.

Upstream: pkg/registry/core/pod/storage/eviction.go.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec

from seatrial.model.documents import Document
from seatrial.model.errors import Cause, Forbidden, StatusError, TooManyRequests
from seatrial.model.kinds import Kind
from seatrial.model.label_selectors import LabelSelector, SelectorError
from seatrial.model.times import to_time
from seatrial.store.objects import Stored
from seatrial.store.options import DeleteOptions
from seatrial.store.registry import deleting
from seatrial.store.registry.status_writes import write_status
from seatrial.store.views import View

if TYPE_CHECKING:
    from seatrial.store.store import Store

BUDGETS = Kind("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", subresources=("status",))
MOST_DISRUPTED = 2000
REFUSED = "Cannot evict pod as it would violate the pod's disruption budget."
SEVERAL = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."


class _Spec(msgspec.Struct):
    selector: dict[str, Any] | None = None


class _Budget(msgspec.Struct):
    spec: _Spec | None = None


def _selector(budget: _Budget) -> LabelSelector | None:
    """The selector; None without one, and where it is not valid."""
    given = budget.spec.selector if budget.spec is not None else None
    try:
        return LabelSelector.from_document(given) if given is not None else None
    except SelectorError:
        return None


_SELECTOR = View(_Budget, _selector)


def evict(store: "Store", current: Stored, writer: str, options: DeleteOptions) -> None:
    """Delete a pod where its disruption budget allows it; TooManyRequests where not now."""
    pod = current.document()
    status = pod.setdefault("status", {})
    deleting.check_preconditions(current.kind, pod["metadata"], options)
    if not _is_beyond_budgets(pod):
        budgets = _budgets_of(store, pod)
        if len(budgets) > 1:
            raise StatusError(SEVERAL)
        if budgets and not _is_spared(budgets[0].document(), pod):
            _spend(store, budgets[0], pod["metadata"]["name"], writer, options)
    if not options.dry_run:
        _mark_disrupted(store, current, status, writer)
        options = replace(options, preconditions_resource_version="")
    deleting.delete(store, store.current(current.kind, current.name, current.namespace), writer, options)


def _is_beyond_budgets(pod: Document) -> bool:
    phase = (pod.get("status") or {}).get("phase")
    return phase in ("Succeeded", "Failed", "Pending") or "deletionTimestamp" in pod["metadata"]


def _budgets_of(store: "Store", pod: Document) -> list[Stored]:
    labels = pod["metadata"].get("labels") or {}
    budgets = [(budget, _SELECTOR.read(budget)) for budget in store.index(BUDGETS).all(pod["metadata"]["namespace"])]
    return [budget for budget, selector in budgets if selector is not None and selector.matches(labels)]


def _is_spared(budget: Document, pod: Document) -> bool:
    """Whether an unready pod may be evicted without using the budget: by policy, or where enough pods are healthy."""
    conditions = (pod.get("status") or {}).get("conditions") or ()
    if any(condition.get("type") == "Ready" and condition.get("status") == "True" for condition in conditions):
        return False
    status = budget.get("status") or {}
    if (budget.get("spec") or {}).get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    return bool(status.get("currentHealthy", 0) >= status.get("desiredHealthy", 0) > 0)


def _spend(store: "Store", stored: Stored, pod: str, writer: str, options: DeleteOptions) -> None:
    """Take one disruption from the budget."""
    budget = stored.document()
    name, status = budget["metadata"]["name"], budget.get("status") or {}
    allowed = status.get("disruptionsAllowed", 0)
    if status.get("observedGeneration", 0) < budget["metadata"].get("generation", 0):
        raise _refusal(f"The disruption budget {name} is still being processed by the server.", retry_after=10)
    if allowed < 0:
        raise _forbidden(name, "pdb disruptions allowed is negative")
    if len(status.get("disruptedPods") or ()) > MOST_DISRUPTED:
        raise _forbidden(name, "DisruptedPods map too big - too many evictions not confirmed by PDB controller")
    if allowed == 0:
        raise _refusal(_why_none(name, status))
    if not options.dry_run:
        spent = {**status, "disruptionsAllowed": allowed - 1}
        spent["disruptedPods"] = {**(status.get("disruptedPods") or {}), pod: to_time(store.clock.now())}
        if allowed == 1:
            _close(spent, budget["metadata"].get("generation", 0), store.clock.now())
        write_status(store, stored, spent, writer)


def _close(status: Document, generation: int, now: int) -> None:
    """Set the condition DisruptionAllowed to False: the budget is spent."""
    fresh = {
        "type": "DisruptionAllowed",
        "status": "False",
        "observedGeneration": generation,
        "lastTransitionTime": to_time(now),
        "reason": "InsufficientPods",
        "message": "",
    }
    others = [condition for condition in status.get("conditions") or () if condition.get("type") != fresh["type"]]
    status["conditions"] = [*others, fresh]


def _why_none(name: str, status: Document) -> str:
    conditions = status.get("conditions") or ()
    found: Document = next((one for one in conditions if one.get("type") == "DisruptionAllowed"), {})
    denied = found.get("status") == "False" and found.get("message")
    wanted, healthy = status.get("desiredHealthy", 0), status.get("currentHealthy", 0)
    if denied and found.get("reason") == "SyncFailed":
        return (
            f"The disruption budget {name} does not allow evicting pods currently because it failed sync: "
            f"{found['message']}"
        )
    if healthy <= wanted:
        return f"The disruption budget {name} needs {wanted} healthy pods and has {healthy} currently"
    if denied:
        return (
            f"The disruption budget {name} does not allow evicting pods currently "
            f"({found.get('reason', '')}): {found['message']}"
        )
    return f"The disruption budget {name} does not allow evicting pods currently"


def _mark_disrupted(store: "Store", current: Stored, status: Document, writer: str) -> None:
    fresh = {
        "type": "DisruptionTarget",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": to_time(store.clock.now()),
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
    }
    conditions = status.get("conditions") or []
    if any(condition.get("type") == fresh["type"] and condition.get("status") == "True" for condition in conditions):
        return
    status["conditions"] = [condition for condition in conditions if condition.get("type") != fresh["type"]] + [fresh]
    write_status(store, current, status, writer)


def _refusal(why: str, retry_after: int = 0) -> TooManyRequests:
    return TooManyRequests(REFUSED, causes=[Cause("", why, "DisruptionBudget")], retry_after=retry_after)


def _forbidden(name: str, why: str) -> Forbidden:
    text = f'poddisruptionbudget.policy "{name}" is forbidden: {why}'
    return Forbidden(text, group="policy", kind="poddisruptionbudget", name=name)
