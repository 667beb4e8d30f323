"""The documentation site in a real Chromium: every page, narrow and wide, light and dark, and its search."""

import functools
import http.server
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.packaging.test_site import SEARCHED

pytestmark = pytest.mark.browser
ROOT = Path(__file__).parents[2]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """The built site and the address of a server for it."""
    folder = tmp_path_factory.mktemp("built") / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    subprocess.run(command, check=True, cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield folder, f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_every_page_fits_and_loads_nothing_from_elsewhere(
    width: int, scheme: Any, site: tuple[Path, str], browser: Any
) -> None:
    folder, address = site
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page, requested, said = context.new_page(), list[str](), list[Any]()
    page.on("request", lambda request: requested.append(request.url))
    page.on("console", lambda message: said.append(message))
    wide = []
    pages = sorted(folder.rglob("index.html"))
    assert len(pages) > 40
    for path in pages:
        page.goto(f"{address}{path.relative_to(folder).parent}/", wait_until="load")
        if page.evaluate("document.documentElement.scrollWidth") > width:
            wide.append(path.parent.name)
    context.close()
    assert wide == []
    assert [url for url in requested if not url.startswith((address, "data:", "blob:"))] == []
    assert [message.text for message in said if message.type == "error"] == []


@pytest.mark.parametrize("word", SEARCHED)
def test_a_search_shows_the_page_among_the_first_five(word: str, site: tuple[Path, str], browser: Any) -> None:
    page = browser.new_page()
    page.goto(site[1])
    page.fill("input[name=query]", word)
    page.wait_for_selector(".md-search-result__link")
    links = [link.get_attribute("href") or "" for link in page.query_selector_all(".md-search-result__link")]
    page.close()
    found = list(dict.fromkeys(link.removeprefix(site[1]).partition("?")[0] for link in links))
    assert SEARCHED[word] in found[:5]
