"""The verdict of a comparison: one sentence for each run, with what an owner of a cluster wants to know first."""

from seatrial.results.comparison.comparison import Comparison, Number
from seatrial.results.comparison.figures import figure

FIRST = (
    "jobs_waiting",
    "job_wait_mean_s",
    "pods_bound",
    "pending_integral",
    "nodes_used",
    "used_price_per_hour",
    "pods_preempted",
)
"""Numbers that the sentence tells in words of their own."""
BY_QUEUE = "job_wait_mean_s.queue."
QUEUES = 4
"""Queues that the sentence names."""
NAMED = 2
"""Other numbers that it names, of those that are better and of those that are worse."""


def verdicts(comparison: Comparison) -> list[str]:
    """A sentence for each run but the first."""
    return [_verdict(comparison, place) for place in range(1, len(comparison.runs))]


def _verdict(comparison: Comparison, place: int) -> str:
    first, run = comparison.runs[0], comparison.runs[place]
    if failed := next((each for each in (run, first) if each.phase == "Failed"), None):
        why = f"{failed.name} Failed ({failed.message or 'no message'})"
        return f"{run.name} is not judged against {first.name}: {why}."
    changed = [number for number in comparison.numbers if _differs(comparison, number, place)]
    moved = sum(each.nodes[place] != each.nodes[0] for each in comparison.differences)
    pods = len(run.pods)
    went = f"{moved:,} of {pods:,} pods went elsewhere" if moved else "every pod went to the same node"
    if not changed:
        return f"{run.name} against {first.name}: no measure differs; {went}."
    by_name = {number.name: number for number in changed}
    said = [_in_words(by_name[name], place, comparison.has_now) for name in FIRST if name in by_name]
    said += _by_queue(changed, place)
    others = [number for number in changed if not number.name.startswith(FIRST) and number.better]
    for better, word in ((True, "better"), (False, "worse")):
        said += _named([each for each in others if each.is_better(place) is better], place, word)
    return f"{run.name} against {first.name}: {'; '.join([*said, went])}."


def _differs(comparison: Comparison, number: Number, place: int) -> bool:
    tested = comparison.significance_of(number, place)
    return bool(number.delta(place)) and (tested is None or tested.is_significant)


def _in_words(number: Number, place: int, has_now: bool) -> str:
    delta = number.delta(place) or 0
    change = f"({figure(number.values[0])} → {figure(number.values[place])})"
    size = figure(abs(delta))
    more = "more" if delta > 0 else "fewer"
    match number.name:
        case "jobs_waiting":
            return f"{size} {more} {'job never starts' if abs(delta) == 1 else 'jobs never start'} {change}"
        case "job_wait_mean_s":
            return f"jobs wait {'longer' if delta > 0 else 'less'} on average {change} s"
        case "pods_bound":
            return f"{size} {more} {'pod finds' if abs(delta) == 1 else 'pods find'} a node {change}"
        case "pending_integral":
            return f"pods wait {'longer' if delta > 0 else 'less'} {change} pod-steps"
        case "nodes_used":
            nodes = "node" if abs(delta) == 1 else "nodes"
            could = f", so {size} {nodes} could be switched off" if delta < 0 else ""
            if has_now:
                return f"{size} {more} {nodes} in use than today: {change[1:-1]}{could}"
            return f"{size} {more} {nodes} in use {change}{could}"
        case "used_price_per_hour":
            return f"the nodes in use cost {number.relative(place) or 0:+.0f}% {change} an hour"
        case _:
            return f"{size} {more} {'pod' if abs(delta) == 1 else 'pods'} preempted {change}"


def _by_queue(changed: list[Number], place: int) -> list[str]:
    """The queues whose jobs wait longer or less."""
    found = []
    queues = [number for number in changed if number.name.startswith(BY_QUEUE)]
    for is_better, word in ((True, "less"), (False, "longer")):
        named = [
            f"{each.name.removeprefix(BY_QUEUE)} ({figure(each.values[0])} → {figure(each.values[place])} s)"
            for each in queues
            if each.is_better(place) is is_better
        ]
        if len(queues) > 1 and named:
            more = f" and {len(named) - QUEUES} more" if len(named) > QUEUES else ""
            found.append(f"{word} in queue {', '.join(named[:QUEUES])}{more}")
    return found


def _named(numbers: list[Number], place: int, word: str) -> list[str]:
    """The numbers that changed most, and how many others did in the same direction."""
    if not numbers:
        return []
    ranked = sorted(numbers, key=lambda number: (-abs(number.relative(place) or 0), number.name))
    shown = ", ".join(
        f"{each.name} ({figure(each.values[0])} → {figure(each.values[place])})" for each in ranked[:NAMED]
    )
    more = len(ranked) - NAMED
    return [f"{word}: {shown}{f' and {more} more' if more > 0 else ''}"]
