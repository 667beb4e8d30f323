"""Tables of the site on narrow screens: names break at their dots, and a row is a block whose cells have labels.

mkdocs loads it as a hook (`mkdocs.yml`); `docs/stylesheets/site.css` does the rest.
"""

import re
from html import escape
from typing import Any

CODE = re.compile("<code>([^<]*)</code>")


def on_page_content(html: str, **_: Any) -> str:
    """Mark the tables of a page (called by mkdocs)."""
    return re.sub(r"<table>.*?</table>", lambda table: _marked(table[0]), html, flags=re.DOTALL)


def _marked(table: str) -> str:
    titles = [re.sub("<[^>]*>", "", title) for title in re.findall(r"<th[^>]*>(.*?)</th>", table, re.DOTALL)]

    def row(found: "re.Match[str]") -> str:
        labels = iter(titles)
        return re.sub(r"<td", lambda _: f'<td data-label="{escape(next(labels, ""))}"', found[0])

    labelled = re.sub(r"<tr>.*?</tr>", row, table, flags=re.DOTALL)
    return re.sub(r"<td.*?</td>", lambda cell: CODE.sub(_breakable, cell[0]), labelled, flags=re.DOTALL)


def _breakable(code: "re.Match[str]") -> str:
    """A name that may break after a dot, an underscore or a slash; an option that may not break."""
    if code[1].startswith("-"):
        return f'<code class="option">{code[1]}</code>'
    return "<code>" + re.sub(r"(?<=[^._/])([._/]+)(?=[^._/])", r"\1<wbr>", code[1]) + "</code>"
