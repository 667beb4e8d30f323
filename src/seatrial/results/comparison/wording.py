"""Formats a comparison: Markdown for a pull request, JSON for programs, JUnit for CI."""

import re
from typing import Any
from xml.sax.saxutils import quoteattr

from seatrial.results.comparison.comparison import Comparison, Number
from seatrial.results.comparison.figures import figure
from seatrial.results.comparison.significance import Significance
from seatrial.results.comparison.verdict import verdicts
from seatrial.results.comparison.workloads import compared_workloads, workload_lines
from seatrial.results.measure import find_measures
from seatrial.results.run import Run
from seatrial.words import counted

SHOWN = 20
"""Differences shown where a person reads."""
_MARKUP = re.compile(r"[\\`*\[\]<>|~&#]|(?<!\w)_|_(?!\w)")


def failures(comparison: Comparison) -> dict[str, str]:
    """A sentence for each run that ended Failed, by its name."""
    return {run.name: f"{run.name}: Failed: {run.message or 'without a message'}" for run in comparison.failed}


def changes(comparison: Comparison, number: Number) -> list[str]:
    """The change of a number in each run but the first; a run that Failed, or is held against one, is not judged."""
    first, *others = (run.phase != "Failed" for run in comparison.runs)
    return [
        change(number, place, comparison.significance_of(number, place), judge=first and whole)
        for place, whole in enumerate(others, 1)
    ]


def change(number: Number, run: int, tested: Significance | None = None, *, judge: bool = True) -> str:
    """Absolute and relative change, and whether that is good; with several seeds, whether it is significant."""
    delta, relative = number.delta(run), number.relative(run)
    if delta is None:
        return "–"
    if delta == 0:
        return "="
    share = f" ({relative:+.1f}%)" if relative is not None else ""
    verdict = ""
    if judge and number.better and (tested is None or tested.is_significant):
        verdict = " better" if (delta > 0) == (number.better == "higher") else " worse"
    if tested is not None:
        verdict += f"{'' if tested.is_significant else ' not significant'}, p={tested.p:.2g}"
    return f"{'+' if delta > 0 else ''}{figure(delta)}{share}{verdict}"


def as_markdown(comparison: Comparison) -> str:
    """A comment for a pull request."""
    names = [run.name for run in comparison.runs]
    head = ["measure", *names, *(f"Δ {name}" for name in names[1:])]
    lines = [f"### {_plain(' against '.join(names))}", ""]
    workloads = workload_lines(comparison, compared_workloads(comparison))
    lines += (
        [f"**{_plain(workloads[0])}**", "", *(f"- {_plain(line)}" for line in workloads[1:]), ""] if workloads else []
    )
    for sentence in (*verdicts(comparison), *failures(comparison).values()):
        lines += [f"**{_plain(sentence)}**", ""]
    freed = freed_lines(comparison)
    lines += ["Could be switched off:", "", *(f"- {_plain(line)}" for line in freed), ""] if freed else []
    lines += [_row(head), _row(["---"] * len(head))]
    for number in comparison.numbers:
        title = f"{number.name} {number.unit}".strip()
        lines.append(_row([title, *map(figure, number.values), *changes(comparison, number)]))
    count = len(comparison.differences)
    lines += ["", f"{counted(count, 'pod')} went elsewhere." if count else "Every pod went to the same node."]
    for difference in comparison.differences[:SHOWN]:
        text = " → ".join(node or "pending" for node in difference.nodes)
        text += f" ({difference.reason})" if difference.reason else ""
        lines.append(f"- `{difference.pod.replace('`', '')}`: {_plain(text)}")
    if count > SHOWN:
        lines.append(f"- … and {count - SHOWN} more")
    return "\n".join(lines) + "\n"


def freed_lines(comparison: Comparison) -> list[str]:
    """The nodes that could be switched off, a sentence for each run and pool; only where the first run is now."""
    lines = []
    for place in range(1, len(comparison.runs)) if comparison.has_now else ():
        for each in comparison.freed(place):
            gpus = f", {counted(each.gpus, 'GPU')}" if each.gpus else ""
            price = "price unknown" if each.price_per_hour is None else f"{figure(each.price_per_hour)} an hour"
            room = f"{figure(each.cpu)} cores, {figure(each.memory / 2**30)} GiB{gpus}, {price}"
            pool = f"pool {each.pool}" if each.pool else "no pool"
            left = f"{counted(len(each.nodes), 'node')} of {pool}"
            left += f" ({room}): {', '.join(each.nodes)}" if each.nodes else ""
            idle = f"; idle today already: {', '.join(each.idle)}" if each.idle else ""
            needed = f"; idle today, and needed then: {', '.join(each.needed)}" if each.needed else ""
            lines.append(f"{comparison.runs[place].name}: {left}{idle}{needed}")
    return lines


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(map(_plain, cells))} |"


def _plain(text: str) -> str:
    """A text on one line in which Markdown finds nothing: no markup, no HTML, no end of a table's cell."""
    return _MARKUP.sub(r"\\\g<0>", " ".join(text.split()))


def as_document(comparison: Comparison) -> dict[str, Any]:
    """Everything, for programs."""
    places, workloads = range(1, len(comparison.runs)), compared_workloads(comparison)
    return {
        "runs": [run.name for run in comparison.runs],
        "scenario": comparison.runs[0].scenario_name,
        "verdict": verdicts(comparison),
        **({"workloads": [each.document() for each in workloads]} if workloads else {}),
        **({"switchedOff": freed_document(comparison)} if comparison.has_now else {}),
        "missing": {run.name: missing for run in comparison.runs if (missing := _missing(comparison, run))},
        "failed": [{"run": run.name, "message": run.message} for run in comparison.failed],
        "measures": [
            {
                "name": number.name,
                "measure": number.measure,
                "unit": number.unit,
                "better": number.better,
                "values": list(number.values),
                "deltas": [number.delta(place) for place in places],
                "relative": [number.relative(place) for place in places],
            }
            for number in comparison.numbers
        ],
        "differences": [
            {"pod": difference.pod, "nodes": list(difference.nodes), "reason": difference.reason}
            for difference in comparison.differences
        ],
        "spread": [
            {"name": s.name, "run": s.run, "min": s.least, "median": s.median, "max": s.most} for s in comparison.spread
        ],
        "significance": [
            {"name": s.name, "run": s.run, "pairs": s.pairs, "p": s.p, "significant": s.is_significant}
            for s in comparison.significance
        ],
    }


def freed_document(comparison: Comparison) -> dict[str, Any]:
    """The nodes that could be switched off, by run and pool; only where the first run is now."""
    if not comparison.has_now:
        return {}
    return {
        run.name: [
            {"pool": each.pool, "nodes": list(each.nodes), "idleToday": list(each.idle), "needed": list(each.needed),
             "cpu": each.cpu, "memory": each.memory, "gpus": each.gpus, "pricePerHour": each.price_per_hour}
            for each in comparison.freed(place)
        ]
        for place, run in enumerate(comparison.runs) if place
    }  # fmt: skip


def _missing(comparison: Comparison, run: Run) -> list[str]:
    """What a run does not tell, of the measures that were compared."""
    compared = list(dict.fromkeys(number.measure for number in comparison.numbers))
    return [name for measure in find_measures(compared) for name in measure.missing(run)] if compared else []


def as_junit(comparison: Comparison, thresholds: dict[str, list[str]]) -> str:
    """One test case a threshold and one for each run that Failed; without any, one that passes."""
    failed = {f"{name} did not fail": [sentence] for name, sentence in failures(comparison).items()}
    cases = failed | thresholds or {"the runs were compared": []}
    count = sum(bool(found) for found in cases.values())
    name = quoteattr(" against ".join(run.name for run in comparison.runs))
    lines = [f'<testsuite name={name} tests="{len(cases)}" failures="{count}">']
    for text, found in cases.items():
        lines.append(f'  <testcase classname="seatrial.compare" name={quoteattr(text)}>')
        lines += [f"    <failure message={quoteattr(sentence)}/>" for sentence in found]
        lines.append("  </testcase>")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + "\n".join([*lines, "</testsuite>"]) + "\n"
