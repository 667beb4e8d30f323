"""Every code block of the documentation is run by a test, or says why not."""

import re

import pytest

from tests.docs.blocks import ROOT, Block, blocks, pages

COMMANDS = "tests/docs/test_commands.py"
YAML = "tests/docs/test_yaml.py"
TESTED = {
    "docs/capacity.md": (COMMANDS, ("console",)),
    "docs/compare.md": (COMMANDS, ("console",)),
    "docs/controllers.md": (YAML, ("yaml",)),
    "docs/operator.md": (COMMANDS, ("console", "yaml")),
    "docs/outside.md": (YAML, ("yaml",)),
    "docs/results.md": ("tests/docs/test_results_page.py", ("python",)),
    "docs/sweep.md": (COMMANDS, ("console", "yaml")),
    "docs/vcsimctl.md": ("tests/docs/test_vcsimctl.py", ("console", "yaml")),
    "docs/volcano.md": (YAML, ("yaml",)),
    "docs/your-cluster.md": ("tests/docs/test_your_cluster.py", ("console", "python")),
}
"""Pages whose blocks of these languages are tested as a whole, and by which test; YAML is read by test_yaml.py."""
OUTPUT = ("", "text")
"""Blocks that are no code: drawings, and what a command prints."""


def is_settled(block: Block) -> bool:
    """Whether the block is run, or says why it is not."""
    if block.language in OUTPUT:
        return not re.search(r"^(\$ |seatrial |kubectl |vcsimctl )", block.text, re.MULTILINE)
    if block.mark.startswith("tested by: "):
        return block.page in (ROOT / block.mark.removeprefix("tested by: ")).read_text()
    if block.mark.startswith("not run: "):
        named = re.findall(r"tests/[\w./]+", block.mark)
        return len(block.mark) > len("not run: ") + 10 and all((ROOT / path).exists() for path in named)
    if block.mark == "play":
        return True
    return block.page in TESTED and block.language in TESTED[block.page][1]


@pytest.mark.parametrize("page", pages())
def test_every_block_is_run_or_says_why_not(page: str) -> None:
    assert [f"{page}:{block.line} ({block.language})" for block in blocks(page) if not is_settled(block)] == []


def test_every_test_that_pages_name_names_its_page() -> None:
    for page, (test, languages) in TESTED.items():
        assert page.rpartition("/")[2] in (ROOT / test).read_text(), page
        assert "yaml" not in languages or page in (ROOT / YAML).read_text(), page


def test_the_site_asks_no_third_party() -> None:
    """With repo_url the theme asks api.github.com for stars; fonts and Mermaid would come from elsewhere, too."""
    settings = (ROOT / "mkdocs.yml").read_text()
    assert "repo_url" not in settings and "font: false" in settings
    assert not [page for page in pages() if any(block.language == "mermaid" for block in blocks(page))]
