"""Finds, sets and removes conditions in a status; the transition time moves only when the status changes."""

from seatrial.model.documents import Document
from seatrial.model.times import to_time


def find_condition(status: Document, kind: str) -> Document | None:
    """The condition of this type."""
    conditions: list[Document] = status.get("conditions", [])
    return next((condition for condition in conditions if condition["type"] == kind), None)


def remove_condition(status: Document, kind: str) -> None:
    """Take the condition of this type away; an empty list is left out."""
    kept = [condition for condition in status.pop("conditions", []) if condition["type"] != kind]
    if kept:
        status["conditions"] = kept


def set_condition(status: Document, condition: Document) -> None:
    """Append a condition, unless its status and reason are unchanged; the same status keeps its transition time."""
    current = find_condition(status, condition["type"])
    if current is not None and (current["status"], current.get("reason")) == (
        condition["status"],
        condition.get("reason"),
    ):
        return
    if current is not None and current["status"] == condition["status"]:
        condition = condition | {"lastTransitionTime": current["lastTransitionTime"]}
    remove_condition(status, condition["type"])
    status.setdefault("conditions", []).append(condition)


def new_condition(kind: str, is_true: bool, reason: str, message: str, now: int) -> Document:
    """A condition with both times, as workload kinds have them."""
    return {
        "type": kind,
        "status": "True" if is_true else "False",
        "lastUpdateTime": to_time(now),
        "lastTransitionTime": to_time(now),
        "reason": reason,
        "message": message,
    }
