"""Build the report page: `web/` into `src/seatrial/web/page`, with a note of what it was built from.

Users need no Node: the built file is committed, and a test compares the note with the sources.
"""

import hashlib
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "web"
PAGE = ROOT / "src" / "seatrial" / "web" / "page"
NOTE = PAGE / "built-from.txt"
NAMES = (
    "index.html", "app.html", "live.html", "package.json", "package-lock.json", "vite.config.ts", "vite.app.config.ts",
)  # fmt: skip


def digest() -> str:
    """A hash over everything the page is built from."""
    files = [SOURCES / name for name in NAMES]
    sha = hashlib.sha256()
    for file in sorted([*files, *(SOURCES / "src").rglob("*")]):
        if file.is_file():
            sha.update(f"{file.relative_to(SOURCES)}\n".encode())
            sha.update(file.read_bytes())
    return sha.hexdigest()


def main() -> None:
    subprocess.run(["npm", "ci"], cwd=SOURCES, check=True)
    subprocess.run(["npm", "run", "build"], cwd=SOURCES, check=True)
    NOTE.write_text(digest() + "\n")


if __name__ == "__main__":
    main()
