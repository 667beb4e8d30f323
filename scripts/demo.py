"""The main job, end to end: five thousand pods on five hundred nodes, then why one of them is where it is."""

import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLE = Path(__file__).parents[1] / "examples" / "demo" / "scenario.yaml"


def seatrial(*arguments: str) -> None:
    """Run the command as a user does."""
    print(f"$ seatrial {' '.join(arguments)}", flush=True)
    subprocess.run([Path(sys.executable).parent / "seatrial", *arguments], check=True)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="seatrial-demo-") as folder:
        seatrial("run", str(EXAMPLE), "--out", folder)
        print()
        seatrial("explain", folder, "urgent")


if __name__ == "__main__":
    main()
