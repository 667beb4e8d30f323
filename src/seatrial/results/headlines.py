"""The headline numbers of a report."""

from seatrial.results.facts import ATTEMPTS, HELD, OBJECTS, OFFERS
from seatrial.results.measures.allocation import allocation
from seatrial.results.run import Run
from seatrial.words import counted

UNKNOWN = "–"
SHOWN = {"Pending at the end": "pending", "Preempted": "preempted"}
"""The filter of the page's table of pods that shows what a number counts."""


def headline(run: Run) -> list[dict[str, str]]:
    """Label, value and a hint for each; what the result lacks is said to be missing."""
    last = run.last_step
    bound = sum(pod.bound is not None for pod in run.pods)
    brought = sum("created" in pod.brought for pod in run.pods)
    source = f"({brought:,} from the snapshot)" if brought else "created"
    waiting = sum(pod.is_waiting(last) for pod in run.pods)
    preempted = sum(pod.preempted is not None for pod in run.pods)
    there = {node.name for node in run.nodes if node.is_there(last)}
    nodes, used = len(there), len(there & {pod.node for pod in run.pods if pod.uses_node(last)})
    attempts = run.lacking.get(ATTEMPTS) or counted(len(run.histories.attempts), "scheduling attempt")
    numbers = [
        _number(run, (OBJECTS,), "Pods bound", bound, f"of {len(run.pods):,} {source}"),
        _number(run, HELD, "Pending at the end", waiting, "pods without a node"),
        _number(run, (OBJECTS,), "Preempted", preempted, "pods displaced by others"),
        _number(run, HELD, "Nodes in use", used, f"of {nodes:,} at the end, DaemonSet and mirror pods left out"),
        _number(run, HELD, "Could be switched off", nodes - used, "nodes without a pod that would have to move"),
        _number(run, (), "Steps", len(run.steps), attempts),
    ]
    if not any(fact in run.lacking for fact in (*HELD, OFFERS)):
        numbers += _allocations(run)
    return [
        {"label": label, "value": value, "hint": hint, "show": SHOWN.get(label, "")} for label, value, hint in numbers
    ]


def _number(run: Run, needs: tuple[str, ...], label: str, value: int, hint: str) -> tuple[str, str, str]:
    why = next((run.lacking[fact] for fact in needs if fact in run.lacking), "")
    return (label, UNKNOWN, f"not in this result: {why}") if why else (label, f"{value:,}", hint)


def _allocations(run: Run) -> list[tuple[str, str, str]]:
    found = []
    rates = allocation(run)
    for resource in run.resources[:2]:
        values = rates.filter(rates["resource"] == resource)["rate"].drop_nulls()
        if len(values):
            peak = max(values)
            found.append((f"{resource} allocated", f"{values[-1]:.1f}%", f"at the end; at most {peak:.1f}%"))
    return found
