"""A comparison of runs in the form that the page draws."""

from seatrial.results.comparison import Comparison, Number, Significance


def page_parts(comparison: Comparison) -> tuple[list[object], list[object], list[object]]:
    """Measures, differences and spread in the form that `compare.html` reads."""
    numbers: list[object] = [
        {
            "measure": n.name,
            "unit": _hint(comparison, n),
            "better": "" if comparison.failed or _is_luck(comparison, n) else n.better,
            "values": list(n.values),
        }
        for n in comparison.numbers
    ]
    differences: list[object] = [
        {"pod": d.pod, "number": d.number, "nodes": list(d.nodes), "reason": d.reason} for d in comparison.differences
    ]
    spread: list[object] = [
        {"measure": s.name, "run": s.run, "min": s.least, "median": s.median, "max": s.most} for s in comparison.spread
    ]
    return numbers, differences, spread


def _tested(comparison: Comparison, number: Number) -> list[Significance]:
    """The tests of the runs in which a number differs."""
    places = [place for place in range(1, len(comparison.runs)) if number.delta(place)]
    return [tested for place in places if (tested := comparison.significance_of(number, place)) is not None]


def _is_luck(comparison: Comparison, number: Number) -> bool:
    """Whether no difference of a number is significant, so that none is called better or worse."""
    tested = _tested(comparison, number)
    return bool(tested) and not any(each.is_significant for each in tested)


def _hint(comparison: Comparison, number: Number) -> str:
    """The unit of a number, and the p-values of its differences over several seeds."""
    tested = _tested(comparison, number)
    if not tested:
        return number.unit
    return f"{number.unit} p = {', '.join(f'{each.p:.2g}' for each in tested)}".strip()
