"""The page of a sweep: the trade-off front as one HTML file with SVG in it, without scripts or other files."""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import combinations

from seatrial.sweeps.front import Candidate, Standing
from seatrial.sweeps.plot import plot
from seatrial.sweeps.spec import Objective

_STYLE = """
:root {
  color-scheme: light dark;
  --quiet: #5c6570; --front: #c2410c; --line: #d0d5db; --back: #fff7ed; --paper: #fff; --ink: #14181d;
}
@media (prefers-color-scheme: dark) {
  :root { --quiet: #a3adb8; --front: #fb923c; --line: #3b424b; --back: #2b1d12; --paper: #14171b; --ink: #e8ebee; }
}
body { font: 15px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; color: var(--ink); }
html { background: var(--paper); }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2rem; }
figure { margin: 1rem 0; } figcaption, .quiet { color: var(--quiet); }
svg { max-width: 100%; height: auto; display: block; }
svg text { font: 12px system-ui, sans-serif; fill: currentColor; }
@media (max-width: 640px) { svg text { font-size: 17px; } }
.axis { stroke: currentColor; opacity: .5; }
.grid { stroke: var(--line); }
.point { fill: var(--quiet); opacity: .6; }
.front { fill: var(--front); }
.line { fill: none; stroke: var(--front); stroke-width: 1.5; stroke-dasharray: 5 3; }
.plots { display: flex; flex-wrap: wrap; gap: 1rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: .5rem 0; }
th, td { padding: .25rem .9rem .25rem .3rem; text-align: left; border-bottom: 1px solid var(--line); }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
tr.on-front td { background: var(--back); }
td.best { font-weight: 600; }
summary { cursor: pointer; margin: 1rem 0 .5rem; }
"""


def sweep_page(title: str, standings: Sequence[Standing]) -> str:
    """The whole page."""
    body = "\n".join(part for standing in standings for part in _section(standing))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head>\n'
        f"<body><main><h1>{escape(title)}</h1>\n{body}\n</main></body></html>\n"
    )


def _section(standing: Standing) -> Iterator[str]:
    front, total = standing.front, len(standing.candidates)
    yield f"<h2>{escape(standing.scenario)}</h2>"
    for place, objective in enumerate(standing.objectives):
        best = standing.best(place)
        setting, value = escape(_setting(standing, best)), _figure(best.values[place])
        yield f"<p>Best by <b>{escape(objective.number)}</b>: {setting} ({value}).</p>"
    yield (
        f'<p class="quiet">{len(front)} of {total} settings are on the trade-off front: no other setting is at least '
        "as good by every objective and better by one. A number is the median over the seeds.</p>"
    )
    plots = [plot(standing, front, across, up) for across, up in combinations(range(len(standing.objectives)), 2)]
    if plots:
        yield f'<div class="plots">{"".join(plots)}</div>'
    yield f"<h3>The front</h3>{_scrolled('The front', _table(standing, front, front))}"
    if total > len(front):
        ranked = sorted(standing.candidates, key=lambda each: each not in front)
        yield (
            f"<details><summary>All {total} settings</summary>"
            f"{_scrolled('All settings', _table(standing, ranked, front))}</details>"
        )


def _scrolled(name: str, table: str) -> str:
    """A table that scrolls sideways in a narrow window, by keyboard too."""
    return f'<div class="wide" role="region" aria-label="{name}" tabindex="0">{table}</div>'


def _table(standing: Standing, rows: Sequence[Candidate], front: Sequence[Candidate]) -> str:
    head = [f"<th>{escape(name)}</th>" for name in standing.names]
    head += [f'<th class="number">{escape(_title(objective))}</th>' for objective in standing.objectives]
    best = [standing.best(place).values[place] for place, _ in enumerate(standing.objectives)]
    marked = front if len(rows) > len(front) else ()
    body = "".join(_row(each, best, is_marked=each in marked) for each in rows)
    return f'<table><thead><tr>{"".join(head)}<th class="number">runs</th></tr></thead><tbody>{body}</tbody></table>'


def _row(candidate: Candidate, best: Sequence[float], *, is_marked: bool) -> str:
    cells = [f"<td>{escape(str(label))}</td>" for label in candidate.labels]
    for value, lead in zip(candidate.values, best, strict=True):
        kind = "number best" if value == lead else "number"
        cells.append(f'<td class="{kind}">{_figure(value)}</td>')
    opening = '<tr class="on-front">' if is_marked else "<tr>"
    return f'{opening}{"".join(cells)}<td class="number">{candidate.runs}</td></tr>'


def _setting(standing: Standing, candidate: Candidate) -> str:
    return ", ".join(f"{name} {label}" for name, label in zip(standing.names, candidate.labels, strict=True))


def _title(objective: Objective) -> str:
    return f"{objective.number} ({objective.better} is better)"


def _figure(value: float) -> str:
    return f"{value:.4g}"
