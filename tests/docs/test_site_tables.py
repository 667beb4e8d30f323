"""The hook that marks the tables of the site for narrow screens."""

import pytest

from tests.scripts import load_script

TABLE = "<table><thead><tr><th>field</th><th>the <em>type</em></th></tr></thead><tbody><tr>{}</tr></tbody></table>"


def marked(cells: str) -> str:
    html = str(load_script("site_tables").on_page_content(TABLE.format(cells), page=None))
    return html.partition("<tbody><tr>")[2].partition("</tr>")[0]


def test_a_cell_is_labelled_with_the_title_of_its_column() -> None:
    assert marked("<td>a</td><td>b</td><td>c</td>") == (
        '<td data-label="field">a</td><td data-label="the type">b</td><td data-label="">c</td>'
    )


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("spec.events[].step", "<code>spec.<wbr>events[].<wbr>step</code>"),
        ("used_price_per_hour", "<code>used_<wbr>price_<wbr>per_<wbr>hour</code>"),
        ("./a.yaml", "<code>./a.<wbr>yaml</code>"),
        ("--fail-if", '<code class="option">--fail-if</code>'),
    ],
)
def test_a_name_may_break_after_its_dots_and_an_option_nowhere(code: str, shown: str) -> None:
    assert shown in marked(f"<td><code>{code}</code></td>")


def test_text_outside_a_table_stays_as_it_is() -> None:
    text = "<p><code>a.b.c</code></p>"
    assert load_script("site_tables").on_page_content(text) == text
