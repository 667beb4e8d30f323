"""The trade-off front and the page that shows it."""

from seatrial.sweeps.front import Candidate, Standing
from seatrial.sweeps.page import sweep_page
from seatrial.sweeps.spec import Objective


def standing(*values: tuple[float, ...]) -> Standing:
    """Settings a, b, … with their cost and their gain."""
    candidates = tuple(Candidate((chr(97 + place),), value, 1) for place, value in enumerate(values))
    return Standing("<s>", ("name",), (Objective("cost", "lower"), Objective("gain", "higher")), candidates)


def names(candidates: list[Candidate]) -> str:
    return "".join(each.labels[0] for each in candidates)


def test_the_front_has_what_nothing_beats_in_everything() -> None:
    found = standing((1, 1), (2, 5), (2, 4), (3, 9), (4, 9))
    assert names(found.front) == "abd"


def test_equal_settings_are_all_on_the_front() -> None:
    assert names(standing((1, 1), (1, 1)).front) == "ab"


def test_the_best_by_one_objective_is_the_better_by_the_others() -> None:
    found = standing((1, 1), (1, 2), (3, 2))
    assert [found.best(place).labels for place in (0, 1)] == [("b",), ("b",)]


def test_the_page_has_a_plot_and_needs_no_other_file() -> None:
    page = sweep_page("a & b", [standing((1, 1), (2, 5), (2, 4))])
    assert page.count("<circle") == 3
    assert page.count('class="front"') == 2
    assert "<script" not in page and "src=" not in page and "href=" not in page
    assert "&lt;s&gt;" in page and "a &amp; b" in page
