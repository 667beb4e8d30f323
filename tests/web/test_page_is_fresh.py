"""The built page belongs to the sources beside it."""

import gzip
import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.scripts import load_script

ROOT = Path(__file__).parents[2]


def test_the_page_was_built_from_these_sources() -> None:
    web = load_script("build_web")
    assert web.NOTE.read_text().strip() == web.digest(), "run `make web` and commit src/seatrial/web/page"


def test_the_page_without_its_data_stays_small() -> None:
    page = load_script("build_web").PAGE
    assert len(gzip.compress((page / "index.html").read_bytes(), 9)) < 120_000
    assert sum(len(gzip.compress(file.read_bytes(), 9)) for file in (page / "app").iterdir()) < 350_000


@pytest.mark.browser
def test_building_again_gives_the_same_files(tmp_path: Path) -> None:
    """The file of reports, and every file of `seatrial ui` and `seatrial serve`, from the lock file alone."""
    if shutil.which("npm") is None:
        pytest.skip("SKIPPED: npm is not on PATH, so the page cannot be built again here")
    web = load_script("build_web")
    copy = tmp_path / "web"
    shutil.copytree(web.SOURCES, copy, ignore=shutil.ignore_patterns("node_modules"))
    built = tmp_path / web.PAGE.relative_to(ROOT)
    for command in (["npm", "ci", "--silent"], ["npm", "run", "build"]):
        subprocess.run(command, cwd=copy, check=True, capture_output=True)
    assert _files(built) == _files(web.PAGE, web.NOTE)


def _files(folder: Path, *besides: Path) -> dict[str, str]:
    """The digest of every file below a folder."""
    files = (file for file in folder.rglob("*") if file.is_file() and file not in besides)
    return {file.relative_to(folder).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
