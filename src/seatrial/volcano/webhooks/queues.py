"""Defaults and validation of a Queue: amounts, state, annotations and its place among its parents and children.

Upstream: pkg/webhooks/admission/queues. The flags of the webhook manager have their defaults: a depth of at most 5,
the root queue's amounts fixed, and no check of allocated pods before a deletion.
"""

from collections.abc import Iterator
from typing import Final

from seatrial.model.documents import Document
from seatrial.model.quantity import Quantity
from seatrial.store import Request
from seatrial.store.admission import Reader
from seatrial.store.field_errors import quoted
from seatrial.volcano.apis import DEFAULT_QUEUE, QUEUE, ROOT_QUEUE
from seatrial.volcano.apis.labels import HIERARCHY, HIERARCHY_WEIGHTS
from seatrial.volcano.webhooks.denied import Denied
from seatrial.volcano.webhooks.queue_hierarchy import hierarchy_fault, resource_fault

WEBHOOK: Final = "validatequeue.volcano.sh"
_AMOUNTS: Final = ("capability", "deserved", "guarantee")
_PROTECTED: Final = "root queue's resource attributes (capability, deserved, guarantee) cannot be modified"
_SPEC: Final = "requestBody.spec"
_ANNOTATIONS: Final = "requestBody.metadata.annotations"


def mutate(request: Request, reader: Reader) -> None:
    """Put a hierarchy under root, and default what may be reclaimed and the weight."""
    queue = request.document
    annotations = queue["metadata"].get("annotations") or {}
    path, weights = annotations.get(HIERARCHY), annotations.get(HIERARCHY_WEIGHTS)
    if path and weights and not path.startswith(ROOT_QUEUE):
        annotations |= {HIERARCHY: f"{ROOT_QUEUE}/{path}", HIERARCHY_WEIGHTS: f"1/{weights}"}
    spec = queue.setdefault("spec", {})
    if not isinstance(spec, dict):
        return  # its schema refuses it, after this
    if spec.get("reclaimable") is None:
        spec["reclaimable"] = True
    spec["weight"] = spec.get("weight") or 1


def validate(request: Request, reader: Reader) -> None:
    """Refuse a Queue whose amounts contradict each other or the queues around it."""
    queue, old = request.document, request.old
    others = {found["metadata"]["name"]: found for found in reader.all(request.store, *QUEUE)}
    faults = [*_amount_faults(queue), *_state_faults(queue), *_annotation_faults(queue, others)]
    if faults:
        raise Denied(WEBHOOK, faults[0] if len(faults) == 1 else f"[{', '.join(faults)}]")
    fault = _place_fault(queue, old, others)
    if fault:
        raise Denied(WEBHOOK, fault)


def validate_deletion(request: Request, reader: Reader) -> None:
    """Refuse to delete the two built-in queues and any queue with children."""
    if request.name in (DEFAULT_QUEUE, ROOT_QUEUE):
        raise Denied(WEBHOOK, f"`{request.name}` queue can not be deleted")
    queues = reader.all(request.store, *QUEUE)
    children = [q["metadata"]["name"] for q in queues if (q.get("spec") or {}).get("parent") == request.name]
    if children:
        why = f"queue {request.name} can not be deleted because it has {len(children)} child queues"
        raise Denied(WEBHOOK, f"{why}: {', '.join(children)}")


def _place_fault(queue: Document, old: Document | None, others: dict[str, Document]) -> str:
    spec, before = queue.get("spec") or {}, (old or {}).get("spec") or {}
    moved = old is None or spec.get("parent") != before.get("parent")
    resized = old is None or any(spec.get(name) != before.get(name) for name in _AMOUNTS)
    if moved and (fault := hierarchy_fault(queue, others)):
        return fault
    if queue["metadata"]["name"] == ROOT_QUEUE:
        return _PROTECTED if old is not None and resized else ""
    return resource_fault(queue, others) if moved or resized else ""


def _amount_faults(queue: Document) -> Iterator[str]:
    spec = queue.get("spec") or {}
    capability, deserved = _quantities(spec.get("capability")), _quantities(spec.get("deserved"))
    guarantee = _quantities((spec.get("guarantee") or {}).get("resource"))
    for field, amounts in (("capability", capability), ("deserved", deserved), ("guarantee.resource", guarantee)):
        for name, amount in amounts.items():
            if amount.sign < 0:
                where = f"{_SPEC}.{field}.{name}: Invalid value: {quoted(str(amount))}"
                yield f"{where}: must be greater than or equal to 0"
    for name, least in guarantee.items():
        where = f"{_SPEC}.deserved.{name}: Invalid value"
        if name not in deserved:
            yield f'{where}: "<nil>": deserved[{name}] must be >= guarantee[{name}]={least}'
        elif deserved[name] < least:
            found = deserved[name]
            yield f"{where}: {quoted(str(found))}: deserved[{name}]={found} must be >= guarantee[{name}]={least}"
    for name, amount in deserved.items():
        if name in capability and amount > capability[name]:
            where = f"{_SPEC}.deserved.{name}: Invalid value: {quoted(str(amount))}"
            yield f"{where}: deserved[{name}]={amount} must be <= capability[{name}]={capability[name]}"


def _quantities(amounts: Document | None) -> dict[str, Quantity]:
    return {name: Quantity.parse(value) for name, value in (amounts or {}).items()}


def _state_faults(queue: Document) -> Iterator[str]:
    state = (queue.get("status") or {}).get("state", "")
    if state not in ("", "Open", "Closed"):
        yield f"{_SPEC}.state: Invalid value: {quoted(state)}: queue state must be in [Open Closed]"


def _annotation_faults(queue: Document, others: dict[str, Document]) -> Iterator[str]:
    annotations = queue["metadata"].get("annotations") or {}
    path, weights = annotations.get(HIERARCHY, ""), annotations.get(HIERARCHY_WEIGHTS, "")
    if not path and not weights:
        return
    if path.count("/") != weights.count("/"):
        where = f"{_ANNOTATIONS}: Invalid value: {quoted(path)}"
        yield f"{where}: {HIERARCHY} must have the same length with {HIERARCHY_WEIGHTS}"
        return
    for weight in weights.split("/"):
        if fault := _weight_fault(weight, weights):
            yield f"{_ANNOTATIONS}: Invalid value: {quoted(weights)}: {fault}"
            return
    for name, other in others.items():
        taken = (other["metadata"].get("annotations") or {}).get(HIERARCHY, "")
        if name != queue["metadata"]["name"] and taken.startswith(f"{path}/"):
            why = f"{path} is not allowed to be in the sub path of {taken} of queue {name}"
            yield f"{_ANNOTATIONS}: Invalid value: {quoted(path)}: {why}"
            return


def _weight_fault(weight: str, weights: str) -> str:
    try:
        number = float(weight)
    except ValueError:
        error = f"strconv.ParseFloat: parsing {quoted(weight)}: invalid syntax"
        return f"{weight} in the {weights} is invalid number: {error}"
    return "" if number > 0 else f"{weight} in the {weights} must be larger than 0"
