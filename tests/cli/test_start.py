"""What every command loads before it does anything: it is paid at each start."""

import subprocess
import sys

LOADED = """
import sys
from seatrial.cli.main import build
try:
    build("explain")(["explain", "no-such-folder", "pod"])
except Exception as error:
    assert "no-such-folder" in str(error), error
print(*sorted(name for name in ("pydantic", "uvicorn") if name in sys.modules))
"""

VERSION = """
import sys
sys.argv = ["seatrial", "--version"]
from seatrial.cli.main import main
main()
print(*sorted(name for name in ("typer", "numpy", "seatrial.store") if name in sys.modules))
"""


def test_a_command_loads_nothing_heavy_to_read_its_parameters() -> None:
    ended = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, timeout=60, check=True)
    assert ended.stdout.split() == []


def test_the_version_is_said_without_loading_a_command() -> None:
    ended = subprocess.run([sys.executable, "-c", VERSION], capture_output=True, text=True, timeout=60, check=True)
    said, loaded = ended.stdout.splitlines()
    assert said.startswith("seatrial ") and loaded == ""
