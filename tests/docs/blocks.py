"""The code blocks of the documentation, each with the mark in the line above it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>[^\n]*?) -->\n)?^(?P<indent> *)```(?P<head>[^\n]*)\n(?P<text>.*?)^(?P=indent)```$",
    re.DOTALL | re.MULTILINE,
)
_TITLE = re.compile(r'title="([^"]+)"')


@dataclass(frozen=True)
class Block:
    """A code block, and how it is known to work."""

    page: str
    line: int
    language: str
    title: str
    text: str
    mark: str


def pages() -> list[str]:
    """README and every written page of the site."""
    found = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))
    return ["README.md", *found]


def blocks(page: str) -> Iterator[Block]:
    text = (ROOT / page).read_text(encoding="utf-8")
    for found in _BLOCK.finditer(text):
        title = _TITLE.search(found["head"])
        language = found["head"].split(maxsplit=1)[0] if found["head"].strip() else ""
        line = text.count("\n", 0, found.start()) + 1
        yield Block(page, line, language, title[1] if title else "", found["text"], found["mark"] or "")
