"""The Markdown of a comparison: names of folders and reasons are text in it, whatever they contain."""

import pytest

from seatrial.results.comparison.comparison import Comparison, Difference, Number
from seatrial.results.comparison.wording import as_markdown
from tests.results.conftest import the_story, told_run


def markdown(name: str, reason: str = "") -> list[str]:
    runs = told_run(the_story(), "default"), told_run(the_story(), name)
    number = Number("nodes_used", "cost", "", "lower", (1, 2))
    return as_markdown(Comparison(runs, (number,), (Difference("default/p", ("n1", "n2"), reason),))).splitlines()


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a|b", r"a\|b"),
        ("<img src=x>", r"\<img src=x\>"),
        ("[x](http://evil)", r"\[x\](http://evil)"),
        ("**b**", r"\*\*b\*\*"),
        ("two\nlines", "two lines"),
        ("_quiet_", r"\_quiet\_"),
        ("run_2", "run_2"),
    ],
)
def test_a_name_is_no_markup(name: str, shown: str) -> None:
    title, _, verdict, *rest = markdown(name)
    assert title == f"### default against {shown}"
    assert verdict.startswith(f"**{shown} against default: ")
    assert rest[1] == f"| measure | default | {shown} | Δ {shown} |"


def test_a_reason_is_no_markup() -> None:
    assert markdown("b", "no <node> | none")[-1] == r"- `default/p`: n1 → n2 (no \<node\> \| none)"
