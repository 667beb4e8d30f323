"""Builds the fragments of changelog.d into CHANGELOG.md: `python scripts/changelog.py [YYYY-MM-DD]`.

towncrier makes a section for the version of src/seatrial/__init__.py. Where the changelog has a section of that version
already, which has not been tagged, the fragments join it, and it gets the date: there is one section for each version
however often this runs.
"""

import datetime
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
START = "<!-- towncrier release notes start -->\n"


def build(root: Path = ROOT, date: str = "") -> None:
    """Write the section and remove the fragments."""
    date = date or datetime.datetime.now(datetime.UTC).date().isoformat()
    path = root / "CHANGELOG.md"
    before, start, after = path.read_text().partition(START)
    sections, links = _sections(after)
    ((heading, body),) = _sections(_draft(root, date))[0].items()
    for older in [each for each in sections if _version(each) == _version(heading)]:
        body = _joined(body, sections.pop(older))
    written = {heading: body, **sections}
    text = "".join(f"\n{each}\n\n{text.strip()}\n" for each, text in written.items())
    path.write_text(f"{before}{start}{text}{links}")
    for fragment in (root / "changelog.d").glob("[!.]*"):
        fragment.unlink()


def _draft(root: Path, date: str) -> str:
    """The section that towncrier makes of the fragments; it refuses those with a wrong name."""
    command = [sys.executable, "-m", "towncrier", "build", "--draft", "--dir", str(root), "--date", date]
    done = subprocess.run(command, capture_output=True, text=True, cwd=root)
    if done.returncode != 0:
        sys.exit(done.stderr.strip())
    return done.stdout


def _version(heading: str) -> str:
    found = re.match(r"## \[([^\]]+)\]", heading)
    assert found is not None, heading
    return found[1]


def _sections(text: str) -> tuple[dict[str, str], str]:
    """The text below each heading of a version, newest first, and the addresses at the end of the file."""
    links = "".join(re.findall(r"^\[[^\]]+\]: \S+\n", text, re.MULTILINE))
    parts = re.split(r"^(## .*)$", text.removesuffix(links), flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True)), f"\n{links}" if links else ""


def _joined(new: str, old: str) -> str:
    """The older text, with each part of the new one after that of the same heading."""
    opening, parts = _parts(old)
    for heading, entries in _parts(new)[1].items():
        parts[heading] = "\n".join(filter(None, (parts.get(heading, ""), entries)))
    return "\n\n".join(filter(None, (opening, *(f"{heading}\n\n{text}" for heading, text in parts.items()))))


def _parts(text: str) -> tuple[str, dict[str, str]]:
    opening, *parts = re.split(r"^(### .*)$", text, flags=re.MULTILINE)
    bodies = [body.strip() for body in parts[1::2]]
    return opening.strip(), dict(zip(parts[::2], bodies, strict=True))


if __name__ == "__main__":
    build(date=sys.argv[1] if len(sys.argv) > 1 else "")
