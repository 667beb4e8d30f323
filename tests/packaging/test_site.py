"""The built site: links lead somewhere, nothing comes from elsewhere, questions are answered in three clicks."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.release
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "object": "data"}
"""Elements that load a file, and the attribute that names it; `link` is one only for some of its relations."""
SMALL_WORDS = {"a", "b", "can", "i", "is", "it", "my", "not", "on", "the", "use", "from", "why"}


class Page(HTMLParser):
    """What a page links to and loads, its anchors, and the words of its content."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links, self.loads, self.anchors, self.words = list[str](), list[str](), set[str](), ""
        self._depth = 0
        self.feed(text)

    def handle_starttag(self, tag: str, found: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in found}
        self.anchors |= {attributes.get("id", ""), attributes.get("name", "")}
        if tag == "article":
            self._depth += 1
        if tag == "a" and self._depth and "headerlink" not in attributes.get("class", ""):
            self.links.append(attributes.get("href", ""))
        elif tag == "link" and attributes.get("rel") not in ("canonical", "prev", "next"):
            self.loads.append(attributes["href"])
        elif tag in LOADED and LOADED[tag] in attributes:
            self.loads.append(attributes[LOADED[tag]])

    def handle_endtag(self, tag: str) -> None:
        self._depth -= tag == "article"

    def handle_data(self, data: str) -> None:
        if self._depth:
            self.words += data


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of SEATRIAL_DIST, or else one that is built here."""
    if ready := os.environ.get("SEATRIAL_DIST"):
        return Path(ready) / "site"
    folder = tmp_path_factory.mktemp("built") / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    subprocess.run(command, check=True, cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"})
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, Page]:
    """Every page by its address below the site."""
    found = {str(path.relative_to(site).parent): Page(path.read_text()) for path in site.rglob("index.html")}
    return {"" if name == "." else f"{name}/": page for name, page in found.items()}


def targets(address: str, page: Page) -> Iterator[tuple[str, str]]:
    """Links of a page inside the site: the address and the anchor."""
    for link in page.links:
        where = urlsplit(urljoin(f"http://site/{address}", link))
        if where.netloc == "site":
            yield unquote(where.path).lstrip("/"), where.fragment


def test_every_link_leads_to_a_page_and_an_anchor(site: Path, pages: dict[str, Page]) -> None:
    assert len(pages) > 40
    broken = [
        f"{address}: {path}#{anchor}"
        for address, page in pages.items()
        for path, anchor in targets(address, page)
        if (anchor not in pages[path].anchors if path in pages else not (site / path).is_file())
    ]
    assert broken == []


def test_nothing_is_loaded_from_elsewhere(site: Path, pages: dict[str, Page]) -> None:
    """Mermaid and the stars of a repository, which the theme's script would fetch, are not used."""
    elsewhere = re.compile(r"^(https?:)?//")
    assert [(address, load) for address, page in pages.items() for load in page.loads if elsewhere.match(load)] == []
    for path in site.rglob("*.css"):
        assert not re.search(r"""(@import|url\()\s*["']?(https?:)?//""", path.read_text()), path
    for path in site.rglob("*.html"):
        assert 'class="mermaid"' not in path.read_text() and "data-md-component=source" not in path.read_text(), path


SEARCHED = {
    "drain": "your-cluster/",
    "zone": "your-cluster/",
    "extender": "how-to/extender/",
    "notebook": "how-to/notebook/",
    "price": "your-cluster/",
    "gang": "volcano/",
    "Karpenter": "limits/",
}
"""What a stranger types into the search, and the page that must be found."""


@pytest.mark.parametrize("word", SEARCHED)
def test_the_search_has_the_page(word: str, site: Path) -> None:
    index = json.loads((site / "search" / "search_index.json").read_text())["docs"]
    found = {entry["location"].partition("#")[0] for entry in index
             if re.search(word, f"{entry['title']} {entry['text']}", re.IGNORECASE)}  # fmt: skip
    assert SEARCHED[word] in found


QUESTIONS = {
    "can I drain zone b?": ("your-cluster/", "what-if drain"),
    "my plugin is not called": ("how-to/plugin/", "config expand"),
    "why is my Volcano job pending?": ("volcano/", "seatrial explain"),
    "gate a merge request on nodes used": ("how-to/ci/", "value(nodes_used) >"),
    "use it from a notebook": ("how-to/notebook/", "import seatrial"),
}
"""What strangers ask, the page that answers, and a line of the answer."""


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_answered_in_three_clicks(question: str, pages: dict[str, Page]) -> None:
    answer, line = QUESTIONS[question]
    reached = [{""}]
    while answer not in reached[-1] and len(reached) <= 3:
        reached.append({path for address in reached[-1] if address in pages
                        for path, _ in targets(address, pages[address])})  # fmt: skip
    assert answer in reached[-1], f"not within {len(reached) - 1} clicks"
    words = " ".join(pages[answer].words.split())
    assert line in words
    asked = set(re.findall(r"[a-z]+", question.lower())) - SMALL_WORDS
    assert not [word for word in asked if word not in words.lower()]
