"""Checks that a release can be made, and builds it: `python scripts/release_check.py [FOLDER] [--tag]`.

Fails if the version, the changelog, the lock or the CustomResourceDefinitions disagree; then builds the packages, the
site and the chart into FOLDER (default dist/), and has the tests of tests/packaging install each in a clean place.
`--tag` then tags the commit; it needs a work tree without changes, a date in the changelog, and no fragment left in
changelog.d that towncrier has not built into the changelog.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
NOT_LOCKED = frozenset({"fast", "ray"})
"""Extras that requirements.lock leaves out: the kernel is built here, and Ray has no wheel for every Python."""


def version(root: Path = ROOT) -> str:
    found = re.search(r'^__version__ = "([^"]+)"', (root / "src/seatrial/__init__.py").read_text(), re.MULTILINE)
    assert found is not None
    return found[1]


def disagreements(root: Path = ROOT) -> Iterator[str]:
    """What does not fit together, a sentence each."""
    wanted = version(root)
    yield from _versions(root, wanted)
    yield from _changelog(root, wanted)
    yield from _lock(root)
    check = [sys.executable, str(ROOT / "scripts/write_deploy.py"), "--check", str(root / "deploy")]
    if said := subprocess.run(check, capture_output=True, text=True, cwd=ROOT).stderr:
        yield said.strip()


def _versions(root: Path, wanted: str) -> Iterator[str]:
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    kernel = tomllib.loads((root / "kernel/Cargo.toml").read_text())["package"]["version"]
    pinned = project["optional-dependencies"]["fast"]
    if pinned != [f"seatrial-kernel=={kernel}"]:
        yield f"seatrial[fast] wants {pinned}, the kernel is {kernel}"
    this = re.escape(wanted)
    places = {
        "deploy/helm/seatrial-operator/Chart.yaml": rf"^version: {this}$",
        "docs/install.md": rf"seatrial-{this}-py3-none-any\.whl",
        "docs/how-to/ci.md": rf"seatrial=={this}\b",
        "deploy/Containerfile": rf"seatrial:{this}\b",
    }
    for path, pattern in places.items():
        if not re.search(pattern, (root / path).read_text(), re.MULTILINE):
            yield f"{path} does not have version {wanted}"


def _changelog(root: Path, wanted: str) -> Iterator[str]:
    text = (root / "CHANGELOG.md").read_text()
    found = len(re.findall(rf"^## \[{re.escape(wanted)}\]", text, re.MULTILINE))
    if found == 0:
        yield f"CHANGELOG.md has no section [{wanted}]: run make changelog"
    elif found > 1:
        yield f"CHANGELOG.md has {found} sections [{wanted}]: join them"
    sections = [
        each["name"] for each in tomllib.loads((root / "pyproject.toml").read_text())["tool"]["towncrier"]["type"]
    ]
    for heading in re.findall(r"^### (.*)$", text, re.MULTILINE):
        if heading not in sections:
            yield f"CHANGELOG.md: {heading!r} is no section of Keep a Changelog"
    draft = [sys.executable, "-m", "towncrier", "build", "--draft", "--version", wanted, "--dir", str(root)]
    done = subprocess.run(draft, capture_output=True, text=True)
    if done.returncode != 0:
        yield f"changelog.d: {done.stderr.partition('Error: ')[2].strip() or done.stderr.strip()}"


def _lock(root: Path) -> Iterator[str]:
    """Requirements that the lock does not pin, or pins at a version that they exclude."""
    document = tomllib.loads((root / "pyproject.toml").read_text())
    found = re.findall(r"^([\w.-]+)==([^ ;]+)", (root / "requirements.lock").read_text(), re.MULTILINE)
    locked = {canonicalize_name(name): pinned for name, pinned in found}
    extras = document["project"]["optional-dependencies"].items()
    groups = [document["project"]["dependencies"], *document["dependency-groups"].values()]
    groups += [each for name, each in extras if name not in NOT_LOCKED]
    for needed in (Requirement(each) for group in groups for each in group):
        pinned = locked.get(canonicalize_name(needed.name))
        if pinned is None:
            yield f"requirements.lock does not pin {needed.name}: run make lock"
        elif not needed.specifier.contains(pinned, prereleases=True):
            yield f"requirements.lock has {needed.name} {pinned}, pyproject.toml wants {needed.specifier}: make lock"


def build(folder: Path) -> None:
    """The packages, the site and the chart."""
    shutil.rmtree(folder, ignore_errors=True)
    _run(sys.executable, "scripts/build_packages.py", str(folder))
    _run(sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder / "site"))
    archive_chart(folder)


def archive_chart(folder: Path) -> None:
    chart = ROOT / "deploy/helm/seatrial-operator"
    shutil.make_archive(str(folder / f"{chart.name}-{version()}"), "gztar", chart.parent, chart.name)


def untaggable(root: Path = ROOT) -> Iterator[str]:
    """What a version cannot be tagged with, a sentence each."""
    if left := sorted(path.name for path in (root / "changelog.d").glob("[!.]*")):
        yield f"changelog.d still has {', '.join(left)}: run make changelog"
    section = rf"^## \[{re.escape(version(root))}\].* - \d{{4}}-\d\d-\d\d$"
    if not re.search(section, (root / "CHANGELOG.md").read_text(), re.MULTILINE):
        yield f"CHANGELOG.md: section [{version(root)}] has no date"


def tag() -> None:
    """Tag the commit that was checked."""
    if subprocess.run(["git", "status", "--porcelain"], check=True, capture_output=True, cwd=ROOT).stdout:
        sys.exit("the work tree has changes: commit them first")
    _run("git", "tag", "--annotate", f"v{version()}", "--message", f"Seatrial {version()}")


def main(*arguments: str) -> None:
    folders = [Path(word) for word in arguments if word != "--tag"]
    folder = (folders[0] if folders else ROOT / "dist").resolve()
    found = list(disagreements()) + (list(untaggable()) if "--tag" in arguments else [])
    if found:
        sys.exit("\n".join(found))
    build(folder)
    os.environ["SEATRIAL_DIST"] = str(folder)
    _run(sys.executable, "-m", "pytest", "-q", "-m", "release", "tests/packaging")
    print(f"seatrial {version()} can be released: {', '.join(sorted(path.name for path in folder.iterdir()))}")
    if "--tag" in arguments:
        tag()


def _run(*command: str) -> None:
    if (code := subprocess.run(command, cwd=ROOT).returncode) != 0:
        sys.exit(f"{' '.join(command)}: exit code {code}")


if __name__ == "__main__":
    main(*sys.argv[1:])
