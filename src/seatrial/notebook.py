"""How results show themselves in a notebook: small tables in the colours of its theme, without scripts or requests."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from seatrial.words import counted

if TYPE_CHECKING:
    from seatrial.results import Explanation, Result
    from seatrial.results.comparison import Comparison

ROWS = 12
"""Rows of a table; the frames have them all."""
_CARD = "font-family:sans-serif;color:inherit;max-width:60em"
_CELL = "text-align:left;padding:2px 12px 2px 0;border-bottom:1px solid rgba(128,128,128,.35);color:inherit"


def result_html(result: "Result") -> str:
    """The phase and the numbers of a run, and why pods wait."""
    from seatrial.results import waiting_groups

    pods, bound = len(result.pods), int(result.pods["bound"].count())
    said = f"{result.phase}: {bound:,} of {counted(pods, 'pod')} bound, {counted(len(result.nodes), 'node')}"
    rows = [(f"{len(each.pods):,}", each.reason, ", ".join(each.pods[:3])) for each in waiting_groups(result.run)]
    return _card(result.run.name, said, ("pending", "reason", "for example"), rows)


def explanation_html(explanation: "Explanation") -> str:
    """The sentence, and the totals of the nodes that were scored in the last attempt."""
    tried = explanation.attempts[-1] if explanation.attempts else None
    totals = sorted(tried.total.items(), key=lambda each: (-each[1], each[0])) if tried else []
    rows = [(node, f"{total:,}", "chosen" if tried and node == tried.node else "") for node, total in totals]
    return _card(explanation.pod, explanation.sentence, ("node", "total score", ""), rows)


def comparison_html(comparison: "Comparison") -> str:
    """The verdicts, and the numbers that differ."""
    from seatrial.results.comparison import changes, figure, verdicts

    names = [run.name for run in comparison.runs]
    numbers = [number for number in comparison.numbers if number.differs]
    rows = [(number.name, *map(figure, number.values), *changes(comparison, number)) for number in numbers]
    head = ("measure", *names, *(f"Δ {name}" for name in names[1:]))
    return _card(" against ".join(names), " ".join(verdicts(comparison)), head, rows)


def _card(title: str, text: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    listed = list(rows)
    body = "".join(_row("td", row) for row in listed[:ROWS])
    table = f'<table style="border-collapse:collapse">{_row("th", head)}{body}</table>' if listed else ""
    more = f"<div>… and {len(listed) - ROWS:,} more</div>" if len(listed) > ROWS else ""
    return f'<div style="{_CARD}"><strong>{escape(title)}</strong><div>{escape(text)}</div>{table}{more}</div>'


def _row(tag: str, cells: Sequence[str]) -> str:
    return "<tr>" + "".join(f'<{tag} style="{_CELL}">{escape(cell)}</{tag}>' for cell in cells) + "</tr>"
