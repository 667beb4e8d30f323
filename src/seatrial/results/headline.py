"""The headline numbers of a report."""

from seatrial.results.lifecycles import NEVER
from seatrial.results.measures.allocation import allocation
from seatrial.results.run import Run
from seatrial.timeline import UNRECORDED


def headline(run: Run) -> list[dict[str, str]]:
    """Label, value and a hint for each."""
    last = len(run.steps) - 1
    bound = sum(pod.bound != NEVER for pod in run.pods)
    brought = sum("created" in pod.brought for pod in run.pods)
    source = f"({brought:,} from the snapshot)" if brought else "created"
    waiting = sum(pod.is_waiting(last) for pod in run.pods)
    preempted = sum(pod.preempted != NEVER for pod in run.pods)
    there = {node.name for node in run.nodes if node.is_there(last)}
    nodes, used = len(there), len(there & {pod.node for pod in run.pods if pod.uses_node(last)})
    attempts = UNRECORDED if run.is_without_attempts else f"{len(run.histories.attempts):,} scheduling attempts"
    numbers = [
        ("Pods bound", f"{bound:,}", f"of {len(run.pods):,} {source}"),
        ("Pending at the end", f"{waiting:,}", "pods without a node"),
        ("Preempted", f"{preempted:,}", "pods displaced by others"),
        ("Nodes in use", f"{used:,}", f"of {nodes:,} at the end, DaemonSet and mirror pods left out"),
        ("Could be switched off", f"{nodes - used:,}", "nodes without a pod that would have to move"),
        ("Steps", f"{len(run.steps):,}", attempts),
    ]
    rates = allocation(run)
    for resource in run.resources[:2]:
        values = rates.filter(rates["resource"] == resource)["rate"].drop_nulls()
        if len(values):
            peak = max(values)
            numbers.append((f"{resource} allocated", f"{values[-1]:.1f}%", f"at the end; at most {peak:.1f}%"))
    return [{"label": label, "value": value, "hint": hint} for label, value, hint in numbers]
