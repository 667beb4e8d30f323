"""The page of a sweep: the trade-off front as one HTML file with SVG in it, without scripts or other files."""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import combinations

from seatrial.sweep.front import Candidate, Standing
from seatrial.sweep.spec import Objective

WIDTH, HEIGHT, MARGIN = 560, 360, 56
TICKS = 5
_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
svg { max-width: 100%; height: auto; }
svg text { font: 12px system-ui, sans-serif; fill: currentColor; }
.axis { stroke: currentColor; opacity: .5; }
.grid { stroke: currentColor; opacity: .12; }
.point { fill: #7a8699; opacity: .7; }
.front { fill: #d9480f; }
.line { fill: none; stroke: #d9480f; stroke-width: 1.5; }
table { border-collapse: collapse; }
th, td { padding: .2rem .8rem .2rem 0; text-align: left; font-variant-numeric: tabular-nums; }
"""


def sweep_page(title: str, standings: Sequence[Standing]) -> str:
    """The whole page."""
    body = "\n".join(part for standing in standings for part in _section(standing))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head>\n'
        f"<body><h1>{escape(title)}</h1>\n{body}\n</body></html>\n"
    )


def _section(standing: Standing) -> Iterator[str]:
    front = standing.front
    yield f"<h2>{escape(standing.scenario)}</h2>"
    yield f"<p>{len(front)} of {len(standing.candidates)} settings are on the trade-off front.</p>"
    for across, up in combinations(range(len(standing.objectives)), 2):
        yield _plot(standing, front, across, up)
    yield _table(standing, front)


def _table(standing: Standing, front: list[Candidate]) -> str:
    titles = [*standing.names, *(_title(objective) for objective in standing.objectives), "runs"]
    head = "".join(f"<th>{escape(title)}</th>" for title in titles)
    rows = (
        "".join(
            f"<td>{escape(cell)}</td>" for cell in [*map(str, each.labels), *map(_figure, each.values), str(each.runs)]
        )
        for each in front
    )
    return f"<table><tr>{head}</tr>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


def _plot(standing: Standing, front: list[Candidate], across: int, up: int) -> str:
    """One objective over another; the front is a line where these two are all objectives."""
    x = _Scale([each.values[across] for each in standing.candidates], MARGIN, WIDTH - 20)
    y = _Scale([each.values[up] for each in standing.candidates], HEIGHT - MARGIN, 20)
    parts = [*_frame(x, y, standing.objectives[across], standing.objectives[up])]
    if len(standing.objectives) == 2:
        line = " ".join(f"{x(each.values[across])},{y(each.values[up])}" for each in front)
        parts.append(f'<polyline class="line" points="{line}"/>')
    on_front = set(map(id, front))
    for each in sorted(standing.candidates, key=lambda each: id(each) in on_front):
        kind, size = ("front", 5) if id(each) in on_front else ("point", 4)
        named = ", ".join(f"{name} {label}" for name, label in zip(standing.names, each.labels, strict=True))
        tip = escape(f"{named}: {_figure(each.values[across])}, {_figure(each.values[up])}")
        centre = f'cx="{x(each.values[across])}" cy="{y(each.values[up])}"'
        parts.append(f'<circle class="{kind}" {centre} r="{size}"><title>{tip}</title></circle>')
    label = f"{standing.objectives[up].number} over {standing.objectives[across].number}"
    opening = f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" role="img" aria-label="{escape(label)}">'
    return f"<figure>{opening}{''.join(parts)}</svg></figure>"


def _frame(x: "_Scale", y: "_Scale", across: Objective, up: Objective) -> Iterator[str]:
    left, right, bottom, top = MARGIN, WIDTH - 20, HEIGHT - MARGIN, 20
    for value in x.ticks():
        yield f'<line class="grid" x1="{x(value)}" x2="{x(value)}" y1="{bottom}" y2="{top}"/>'
        yield f'<text x="{x(value)}" y="{bottom + 18}" text-anchor="middle">{_figure(value)}</text>'
    for value in y.ticks():
        yield f'<line class="grid" x1="{left}" x2="{right}" y1="{y(value)}" y2="{y(value)}"/>'
        yield f'<text x="{left - 6}" y="{y(value) + 4}" text-anchor="end">{_figure(value)}</text>'
    yield f'<polyline class="axis" fill="none" points="{left},{top} {left},{bottom} {right},{bottom}"/>'
    yield f'<text x="{(left + right) / 2}" y="{HEIGHT - 12}" text-anchor="middle">{escape(_title(across))}</text>'
    yield (
        f'<text x="14" y="{(bottom + top) / 2}" text-anchor="middle" '
        f'transform="rotate(-90 14 {(bottom + top) / 2})">{escape(_title(up))}</text>'
    )


class _Scale:
    """From a number to a place of the plot."""

    def __init__(self, values: list[float], start: float, end: float) -> None:
        low, high = min(values), max(values)
        slack = (high - low) * 0.05 or abs(high) * 0.1 or 1.0
        self._low, self._high = low - slack, high + slack
        self._start, self._end = start, end

    def __call__(self, value: float) -> float:
        share = (value - self._low) / (self._high - self._low)
        return round(self._start + share * (self._end - self._start), 1)

    def ticks(self) -> list[float]:
        return [self._low + (self._high - self._low) * place / TICKS for place in range(1, TICKS)]


def _title(objective: Objective) -> str:
    return f"{objective.number} ({objective.better} is better)"


def _figure(value: float) -> str:
    return f"{value:.4g}"
