"""A Queue among its parents, siblings and children: depth, capability, and the sums of guarantee and deserved.

Upstream: pkg/webhooks/admission/queues/validate/validate_queue.go (validateHierarchicalQueue and
validateHierarchicalQueueResources); amounts are compared as pkg/scheduler/api.Resource does.
"""

from collections.abc import Iterator
from typing import Final

from seatrial.model.documents import Document
from seatrial.model.quantity import BINARY_SI, Quantity
from seatrial.volcano.apis import ROOT_QUEUE

MAX_DEPTH: Final = 5
Amounts = dict[str, float]
Queues = dict[str, Document]


def hierarchy_fault(queue: Document, others: Queues) -> str:
    """Why a queue cannot be under its parent; empty when it can."""
    name, parent = queue["metadata"]["name"], _parent(queue)
    if not parent:
        return ""
    if parent == name:
        return f"queue {name} cannot use itself as parent"
    depth, above = 1, parent
    while above:
        if above == name:
            # Upstream lets this in, and its scheduler never ends a session after that.
            return f"queue {name} cannot have parent {parent}, which is below it"
        depth += 1
        if depth > MAX_DEPTH:
            return f"queue {name} exceeds the maximum allowed depth of {MAX_DEPTH}"
        if above not in others:
            return f"failed to get parent queue {above} of queue {name}: {_not_found(above)}"
        above = _parent(others[above])
    allocated = ((others[parent].get("status") or {}).get("allocated") or {}).get("pods")
    if allocated is not None and not _children(parent, others) and not Quantity.parse(allocated).is_zero():
        pods = Quantity.parse(allocated).value()
        return f"queue {parent} cannot be the parent queue of queue {name} because it has allocated Pods: {pods}"
    return ""


def resource_fault(queue: Document, others: Queues) -> str:
    """Why the amounts of a queue contradict those around it; empty when they do not."""
    name, parent = queue["metadata"]["name"], _parent(queue)
    if parent:
        if parent not in others:
            return f"parent queue {parent} not found: {_not_found(parent)}"
        if fault := _ancestor_fault(queue, others):
            return fault
        siblings = [other for other in _children(parent, others) if other["metadata"]["name"] != name]
        if fault := _sum_fault(f"parent queue {parent}", others[parent], [*siblings, queue]):
            return fault
    children = _children(name, others)
    if not children:
        return ""
    return _descendant_fault(queue, children, others) or _sum_fault(f"queue {name}", queue, children)


def _ancestor_fault(queue: Document, others: Queues) -> str:
    name = queue["metadata"]["name"]
    for resource, amount in _capability(queue).items():
        limits = (_capability(above).get(resource, 0) for above in _ancestors(queue, others))
        limit = next((each for each in limits if each > 0), 0)
        if amount > limit > 0:
            mine, theirs = _shown(resource, amount), _shown(resource, limit)
            return f"queue {name} capability[{resource}]={mine} exceeds its ancestor's capability={theirs}"
    return ""


def _ancestors(queue: Document, others: Queues) -> Iterator[Document]:
    """From the parent up; a circle that is in the store is walked once."""
    seen, above = {queue["metadata"]["name"]}, _parent(queue)
    while above in others and above not in seen:
        yield others[above]
        seen.add(above)
        above = _parent(others[above])


def _descendant_fault(queue: Document, children: list[Document], others: Queues) -> str:
    name = queue["metadata"]["name"]
    for resource, amount in _capability(queue).items():
        most = max(_largest(child, resource, others) for child in children)
        if amount < most:
            mine, theirs = _shown(resource, amount), _shown(resource, most)
            return (
                f"queue {name} capability[{resource}]={mine} is smaller than its descendants' max capability={theirs}"
            )
    return ""


def _largest(queue: Document, resource: str, others: Queues, above: frozenset[str] = frozenset()) -> float:
    """The capability of a queue, or the largest of its descendants where it has none; a circle is walked once."""
    own, name = _capability(queue).get(resource, 0), queue["metadata"]["name"]
    if own > 0 or name in above:
        return own
    children = _children(name, others)
    return max((_largest(child, resource, others, above | {name}) for child in children), default=0)


def _sum_fault(who: str, parent: Document, children: list[Document]) -> str:
    limits = {"guarantee": _guarantee(parent), "deserved": _amounts((parent.get("spec") or {}).get("deserved"))}
    totals: dict[str, Amounts] = {"guarantee": _amounts(None), "deserved": _amounts(None)}
    for child in children:
        for field, found in (
            ("guarantee", _guarantee(child)),
            ("deserved", _amounts((child.get("spec") or {}).get("deserved"))),
        ):
            total = totals[field]
            for resource, amount in found.items():
                total[resource] = total.get(resource, 0) + amount
            if _less_partly(limits[field], total):
                sums = f"sum of children's {field} ({_listed(total)})"
                return f"{who} validation failed: {sums} exceeds parent's {field} limit ({_listed(limits[field])})"
    return ""


def _less_partly(limit: Amounts, total: Amounts) -> bool:
    return any(resource not in limit or limit[resource] < amount for resource, amount in total.items())


def _amounts(listed: Document | None) -> Amounts:
    """cpu and other resources in thousandths, memory and pods in units; cpu and memory are always there."""
    found: Amounts = {"cpu": 0, "memory": 0}
    for name, value in (listed or {}).items():
        if name.startswith("count/"):
            continue
        quantity = Quantity.parse(value)
        found[name] = float(quantity.value() if name in ("memory", "pods") else quantity.milli_value())
    return found


def _capability(queue: Document) -> Amounts:
    found = _amounts((queue.get("spec") or {}).get("capability"))
    return {name: amount for name, amount in found.items() if amount >= 0.1}


def _guarantee(queue: Document) -> Amounts:
    return _amounts(((queue.get("spec") or {}).get("guarantee") or {}).get("resource"))


def _parent(queue: Document) -> str:
    parent: str = (queue.get("spec") or {}).get("parent") or ""
    return "" if parent == ROOT_QUEUE else parent


def _children(name: str, others: Queues) -> list[Document]:
    return [other for other in others.values() if (other.get("spec") or {}).get("parent") == name]


def _not_found(name: str) -> str:
    return f'queue.scheduling.volcano.sh "{name}" not found'


def _shown(resource: str, amount: float) -> str:
    if resource == "cpu":
        return str(Quantity.milli(int(amount)))
    return str(Quantity(int(amount), 0, BINARY_SI)) if resource == "memory" else f"{amount:.2f}"


def _listed(amounts: Amounts) -> str:
    names = ["cpu", "memory", *sorted(name for name in amounts if name not in ("cpu", "memory"))]
    return ", ".join(f"{name} {amounts[name]:.2f}" for name in names)
