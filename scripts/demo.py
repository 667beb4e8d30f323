"""The main job, end to end: five thousand pods on five hundred nodes, then the pod that displaced six others."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "demo" / "scenario.yaml"
OUT = ROOT / "seatrial-out" / "demo"
PREEMPTOR = "urgent"


def seatrial(*arguments: str) -> None:
    """Run the command as a user does."""
    print(f"$ seatrial {' '.join(arguments)}", flush=True)
    subprocess.run([Path(sys.executable).parent / "seatrial", *arguments], check=True)


def main() -> None:
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else OUT
    seatrial("run", str(EXAMPLE), "--out", str(out))
    print()
    # Its first attempt found no room and chose the victims; the second one went to the freed node.
    seatrial("explain", str(out), PREEMPTOR, "--attempt", "1")
    report = (out / "report.html").resolve()
    print(f"\nThe report is {report}\nOpen it in a browser: {report.as_uri()}#pod=default/{PREEMPTOR}&attempt=0")


if __name__ == "__main__":
    main()
