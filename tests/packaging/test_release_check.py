"""What make release-check refuses."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.scripts import load_script

ROOT = Path(__file__).parents[2]
FILES = (
    "pyproject.toml", "kernel/Cargo.toml", "docs/install.md", "docs/how-to/ci.md", "CHANGELOG.md",
    "requirements.lock", "src/seatrial/__init__.py",
)  # fmt: skip
CHART = "deploy/helm/seatrial-operator"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The files that a release is checked by, without the fragments that the repository has today."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "deploy", tmp_path / "deploy")
    (tmp_path / "changelog.d").mkdir()
    return tmp_path


def test_the_repository_agrees_with_itself() -> None:
    assert list(load_script("release_check").disagreements()) == []


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("src/seatrial/__init__.py", '= "0.1.0"', '= "0.1.1"', f"{CHART}/Chart.yaml does not have version 0.1.1"),
        ("kernel/Cargo.toml", 'version = "0.1.0"', 'version = "0.2.0"', "the kernel is 0.2.0"),
        (f"{CHART}/Chart.yaml", "\nversion: 0.1.0", "\nversion: 0.2.0", "Chart.yaml does not have version 0.1.0"),
        ("docs/install.md", "seatrial-0.1.0-py3", "seatrial-0.0.1-py3", "docs/install.md does not have version 0.1.0"),
        ("docs/how-to/ci.md", "seatrial==0.1.0", "seatrial==0.0.1", "docs/how-to/ci.md does not have version 0.1.0"),
        (
            "deploy/Containerfile",
            "seatrial:0.1.0",
            "seatrial:0.0.1",
            "deploy/Containerfile does not have version 0.1.0",
        ),
        ("CHANGELOG.md", "## [0.1.0]", "## [0.0.9]", "CHANGELOG.md has no section [0.1.0]"),
        ("CHANGELOG.md", "### Added", "### News", "'News' is no section"),
        ("requirements.lock", "\norjson==", "\nother==", "does not pin orjson"),
        ("requirements.lock", "\nkopf==", "\nother==", "does not pin kopf"),
        ("requirements.lock", "\ntyper==0.", "\ntyper==1.", "pyproject.toml wants <0.29,>=0.15"),
        (f"{CHART}/crds/definitions.yaml", "default: 3131", "default: 3132", "crds/definitions.yaml"),
        ("deploy/kustomize/definitions.yaml", "default: 3131", "default: 3132", "kustomize/definitions.yaml"),
    ],
)
def test_a_disagreement_is_named(name: str, old: str, new: str, said: str, copy: Path) -> None:
    text = (copy / name).read_text()
    assert old in text
    (copy / name).write_text(text.replace(old, new))
    assert any(said in each for each in load_script("release_check").disagreements(copy))


def test_a_disagreement_ends_the_check_before_anything_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    script = load_script("release_check")
    monkeypatch.setattr(script, "disagreements", lambda: iter(["the lock is old"]))
    monkeypatch.setattr(script, "build", lambda folder: pytest.fail("built"))
    with pytest.raises(SystemExit, match="the lock is old"):
        script.main()


def test_a_part_that_fails_fails_the_check(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = load_script("release_check")
    monkeypatch.setattr(script, "disagreements", lambda: iter(()))
    monkeypatch.setattr(script, "ROOT", tmp_path)  # has no packages to build
    with pytest.raises(SystemExit, match=r"build_packages\.py"):
        script.main()


def towncrier(root: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "towncrier", "build", "--version", "0.2.0", "--dir", str(root), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_the_fragments_of_the_repository_build_into_sections_of_keep_a_changelog() -> None:
    done = towncrier(ROOT, "--draft")
    assert done.returncode == 0, done.stderr
    assert re.match(r"## \[0\.2\.0\]\(https://\S+/v0\.2\.0\) - \d{4}-\d\d-\d\d\n", done.stdout)
    for fragment in (ROOT / "changelog.d").glob("*.md"):
        assert fragment.read_text().splitlines()[0] in done.stdout


def test_a_fragment_is_built_above_the_section_before_and_removed(copy: Path) -> None:
    kept = (copy / "CHANGELOG.md").read_text().partition("## [0.1.0]")[2]
    (copy / "changelog.d/+new.fixed.md").write_text("It works\nagain.\n")
    done = towncrier(copy, "--yes")
    assert done.returncode == 0, done.stderr
    text = (copy / "CHANGELOG.md").read_text()
    assert "### Fixed\n\n- It works\n  again.\n" in text.partition("## [0.1.0]")[0]
    assert text.partition("## [0.1.0]")[2] == kept
    assert list((copy / "changelog.d").glob("*.md")) == []
    (copy / "src/seatrial/__init__.py").write_text('__version__ = "0.2.0"\n')
    assert list(load_script("release_check").untaggable(copy)) == []


def test_fragments_join_the_section_of_a_version_that_is_not_tagged_yet(copy: Path) -> None:
    (copy / "CHANGELOG.md").write_text(SECTION)
    (copy / "changelog.d/+new.added.md").write_text("It flies.\n")
    (copy / "changelog.d/+newer.fixed.md").write_text("It lands.\n")
    script = load_script("changelog")
    script.build(copy, "2026-02-03")
    text = (copy / "CHANGELOG.md").read_text()
    heading = "## [0.1.0](https://github.com/seatrial/seatrial/releases/tag/v0.1.0) - 2026-02-03"
    parts = (
        "Opening.",
        "### Added",
        "- It swims.\n- It flies.",
        "### Removed",
        "- Wheels.",
        "### Fixed",
        "- It lands.",
    )
    assert text == "# Changelog\n\n" + script.START + "\n" + "\n\n".join((heading, *parts, OLDER)) + LINK
    script.build(copy, "2026-02-03")  # no fragment is left
    assert (copy / "CHANGELOG.md").read_text() == text
    assert list(load_script("release_check").untaggable(copy)) == []


OLDER, LINK = "## [0.0.9] - 2026-01-01\n\n### Added\n\n- It floats.\n", "\n[0.0.9]: https://example.com/0.0.9\n"
SECTION = f"""# Changelog

<!-- towncrier release notes start -->

## [0.1.0] - unreleased

Opening.

### Added

- It swims.

### Removed

- Wheels.

{OLDER}{LINK}"""


@pytest.mark.parametrize("name", ["+new.news.md", "new.added.md", "+new.md"])
def test_a_badly_named_fragment_is_refused(name: str, copy: Path) -> None:
    (copy / "changelog.d" / name).write_text("It works.\n")
    (said,) = load_script("release_check").disagreements(copy)
    assert said.startswith("changelog.d: ") and name.removesuffix(".added.md") in said


def test_a_version_is_not_tagged_with_fragments_left_or_without_a_date(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (copy / "changelog.d/+new.fixed.md").write_text("It works.\n")
    text = (copy / "CHANGELOG.md").read_text()
    (copy / "CHANGELOG.md").write_text(re.sub(r"## \[0\.1\.0\].*", "## [0.1.0] - unreleased", text))
    script = load_script("release_check")
    found = list(script.untaggable(copy))
    assert "+new.fixed.md" in found[0] and found[1] == "CHANGELOG.md: section [0.1.0] has no date"
    monkeypatch.setattr(script, "disagreements", lambda: iter(()))
    monkeypatch.setattr(script, "untaggable", lambda: iter(found))
    monkeypatch.setattr(script, "build", lambda folder: pytest.fail("built"))
    with pytest.raises(SystemExit, match="run make changelog"):
        script.main("--tag")


def test_a_version_with_two_sections_is_refused(copy: Path) -> None:
    text = (copy / "CHANGELOG.md").read_text()
    (copy / "CHANGELOG.md").write_text(text.replace("## [0.1.0]", "## [0.1.0] - 2026-01-01\n\n## [0.1.0]"))
    assert list(load_script("release_check").disagreements(copy)) == ["CHANGELOG.md has 2 sections [0.1.0]: join them"]
