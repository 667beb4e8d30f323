"""A scatter plot of two objectives as SVG: every setting is a point, those of the front are joined by steps."""

from collections.abc import Iterator, Sequence
from html import escape
from math import ceil, floor, log10

from seatrial.sweeps.front import Candidate, Standing
from seatrial.sweeps.spec import Objective

WIDTH, HEIGHT = 560, 380
LEFT, RIGHT, TOP, BOTTOM = 84, WIDTH - 20, 20, HEIGHT - 60
TICKS = 5
"""The approximate number of lines of the grid."""
NAMED = 8
"""Settings of one point that its text lists."""


def plot(standing: Standing, front: Sequence[Candidate], across: int, up: int) -> str:
    """One objective over another; the front has a line where these two are all objectives."""
    x = Scale([each.values[across] for each in standing.candidates], LEFT, RIGHT)
    y = Scale([each.values[up] for each in standing.candidates], BOTTOM, TOP)
    parts = [*_frame(x, y, standing.objectives[across], standing.objectives[up])]
    if len(standing.objectives) == 2:
        points = [(x(each.values[across]), y(each.values[up])) for each in front]
        parts.append(_steps(points, is_higher_better=standing.objectives[across].better == "higher"))
    places: dict[tuple[float, float], list[Candidate]] = {}
    for each in standing.candidates:
        places.setdefault((each.values[across], each.values[up]), []).append(each)
    for (one, other), settings in sorted(places.items(), key=lambda item: any(each in front for each in item[1])):
        kind = "front" if any(each in front for each in settings) else "point"
        size = 4 + min(len(settings), 6)
        tip = escape(_tip(standing, settings, one, other))
        parts.append(f'<circle class="{kind}" cx="{x(one)}" cy="{y(other)}" r="{size}"><title>{tip}</title></circle>')
    label = f"{standing.objectives[up].number} over {standing.objectives[across].number}"
    opening = f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" role="img" aria-label="{escape(label)}">'
    caption = "Larger points are several settings; point at one to see which."
    return f"<figure>{opening}{''.join(parts)}</svg><figcaption>{caption}</figcaption></figure>"


def _tip(standing: Standing, settings: Sequence[Candidate], one: float, other: float) -> str:
    lines = [
        ", ".join(f"{name} {label}" for name, label in zip(standing.names, each.labels, strict=True))
        for each in settings[:NAMED]
    ]
    if len(settings) > NAMED:
        lines.append(f"and {len(settings) - NAMED} more")
    return "\n".join([f"{one:.4g}, {other:.4g}", *lines])


def _steps(points: Sequence[tuple[float, float]], *, is_higher_better: bool) -> str:
    """The border of what is dominated; between two points of the front it has its corner on the worse side."""
    corners: list[tuple[float, float]] = []
    for point in sorted(set(points)):
        if corners:
            before = corners[-1]
            corners.append((before[0], point[1]) if is_higher_better else (point[0], before[1]))
        corners.append(point)
    return f'<polyline class="line" points="{" ".join(f"{a},{b}" for a, b in corners)}"/>'


def _frame(x: "Scale", y: "Scale", across: Objective, up: Objective) -> Iterator[str]:
    for value in x.ticks():
        yield f'<line class="grid" x1="{x(value)}" x2="{x(value)}" y1="{BOTTOM}" y2="{TOP}"/>'
        yield f'<text x="{x(value)}" y="{BOTTOM + 18}" text-anchor="middle">{value:.6g}</text>'
    for value in y.ticks():
        yield f'<line class="grid" x1="{LEFT}" x2="{RIGHT}" y1="{y(value)}" y2="{y(value)}"/>'
        yield f'<text x="{LEFT - 8}" y="{y(value) + 4}" text-anchor="end">{value:.6g}</text>'
    yield f'<polyline class="axis" fill="none" points="{LEFT},{TOP} {LEFT},{BOTTOM} {RIGHT},{BOTTOM}"/>'
    middle = (LEFT + RIGHT) / 2
    yield f'<text x="{middle}" y="{HEIGHT - 16}" text-anchor="middle">{_label(across)}</text>'
    middle = (BOTTOM + TOP) / 2
    yield (f'<text x="18" y="{middle}" text-anchor="middle" transform="rotate(-90 18 {middle})">{_label(up)}</text>')


def _label(objective: Objective) -> str:
    """The name of an axis, with an arrow in the good direction."""
    good = "← lower is better" if objective.better == "lower" else "higher is better →"
    return f"{escape(objective.number)} ({good})"


class Scale:
    """From a number to a place of the plot."""

    def __init__(self, values: Sequence[float], start: float, end: float) -> None:
        low, high = min(values), max(values)
        slack = (high - low) * 0.06 or abs(high) * 0.1 or 1.0
        self._low, self._high = low - slack, high + slack
        self._start, self._end = start, end

    def __call__(self, value: float) -> float:
        share = (value - self._low) / (self._high - self._low)
        return round(self._start + share * (self._end - self._start), 1)

    def ticks(self) -> list[float]:
        """Round numbers in the range: multiples of 1, 2 or 5 times a power of ten."""
        rough = (self._high - self._low) / TICKS
        power = 10.0 ** floor(log10(rough))
        step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)
        first, last = ceil(self._low / step), floor(self._high / step)
        return [place * step for place in range(first, last + 1)]
