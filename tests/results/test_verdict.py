"""The sentence on top of a comparison."""

import pytest

from seatrial.results.comparison.comparison import Comparison, Difference, Number, compare
from seatrial.results.comparison.verdict import verdicts
from seatrial.results.comparison.wording import as_document, as_markdown
from seatrial.results.measure import Better
from tests.results.conftest import the_story, told_run


def comparison(*numbers: Number, moved: int = 0) -> Comparison:
    runs = told_run(the_story(), "default"), told_run(the_story(), "most")
    return Comparison(runs, numbers, tuple(Difference(f"default/p{i}", ("n1", "n2"), "") for i in range(moved)))


def number(name: str, before: float, after: float, better: Better = "lower", measure: str = "cost") -> Number:
    return Number(name, measure, "", better, (before, after))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (number("nodes_used", 30, 12), "18 fewer nodes in use (30 → 12), so 18 nodes could be switched off"),
        (number("nodes_used", 12, 13), "1 more node in use (12 → 13)"),
        (number("pods_bound", 100, 90, "higher"), "10 fewer pods find a node (100 → 90)"),
        (number("pods_bound", 100, 101, "higher"), "1 more pod finds a node (100 → 101)"),
        (number("used_price_per_hour", 12, 4.8), "the nodes in use cost -60% (12 → 4.8) an hour"),
        (number("balance_cpu", 8, 48), "worse: balance_cpu (8 → 48)"),
        (number("allocation_cpu", 8, 48, "higher"), "better: allocation_cpu (8 → 48)"),
    ],
)
def test_the_verdict_says_what_changed(given: Number, said: str) -> None:
    (sentence,) = verdicts(comparison(given, moved=2))
    assert sentence == f"most against default: {said}; 2 of 5 pods went elsewhere."


def test_equal_runs_are_said_to_be_equal() -> None:
    (sentence,) = verdicts(comparison(number("nodes_used", 3, 3)))
    assert sentence == "most against default: no measure differs; every pod went to the same node."


def test_the_verdict_is_in_every_format() -> None:
    found = comparison(number("nodes_used", 30, 12))
    assert verdicts(found)[0] in as_markdown(found)
    assert as_document(found)["verdict"] == verdicts(found)


def test_rows_that_changed_come_first() -> None:
    shorter = the_story()
    shorter.rows = shorter.rows[:-1]  # small does not finish
    found = compare([told_run(the_story(), "default"), told_run(shorter, "shorter")])
    differs = [each.differs for each in found.numbers]
    assert differs == sorted(differs, reverse=True)
    assert differs[0]
