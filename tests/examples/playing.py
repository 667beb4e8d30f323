"""The examples as their first lines say they are played, and what is equal between `run` and `serve`."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.examples.run_all import DRAINED, EXAMPLES, configurations, names

SEATRIAL = Path(sys.executable).with_name("seatrial")
RESULTS = "kube-scheduler-simulator.sigs.k8s.io/"
"""How the keys of result annotations begin."""
UNEQUAL = frozenset({"uid", "resourceVersion", "creationTimestamp", "managedFields"})
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


def _result(out: Path) -> dict[str, Any]:
    written: dict[str, Any] = json.loads((out / "result.json").read_bytes())
    return written


@dataclass(frozen=True)
class Example:
    """One example, with one of the scheduler configurations that lie beside it."""

    name: str
    folder: Path
    flags: tuple[str, ...]
    """What its command says beside the scenario; `run` and `serve` take the same."""

    @property
    def scenario(self) -> Path:
        return self.folder / "scenario.yaml"

    @property
    def driven(self) -> bool:
        return (self.folder / "drive.py").exists()

    def run(self, out: Path) -> dict[str, Any]:
        """What `seatrial run` writes."""
        seatrial("run", str(self.scenario), *self.flags, "--out", str(out), "--quiet", "--no-report")
        return _result(out)

    def drive(self, out: Path) -> dict[str, Any]:
        """What the example's own program makes of it."""
        command = [sys.executable, str(self.folder / "drive.py"), str(out)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=120)
        return _result(out)

    def text(self) -> str:
        """What is sent to a server: the file as it is, or spelled out where it reads files of its own."""
        text = self.scenario.read_text()
        return seatrial("run", str(self.scenario), "--expand") if "from:" in text else text


def examples() -> Iterator[Example]:
    """All examples in all their configurations."""
    for name in names():
        folder = EXAMPLES / name
        flags = [flag for part in ("controllers", "plugins") for flag in _option(folder / f"{part}.py", part)]
        flags += ["--drain"] if name in DRAINED else []
        flags += _option(folder / "cluster.yaml", "snapshot")
        for config in configurations(name):
            chosen = [] if config is None else ["--scheduler-config", str(config)]
            yield Example(name if config is None else f"{name}.{config.stem}", folder, (*flags, *chosen))


def _option(path: Path, part: str) -> list[str]:
    return [f"--{part}", str(path)] if path.exists() else []


def seatrial(*arguments: str) -> str:
    """Standard output of a command that must succeed."""
    done = subprocess.run([str(SEATRIAL), *arguments], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def assert_equal(served: dict[str, Any], ran: dict[str, Any]) -> None:
    """Equal specs and statuses, apart from what two clusters never share."""
    for part in ("spec", "status"):
        first, second = _plain(served[part]), _plain(ran[part])
        assert first == second, next(_differences(first, second, part))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {key: _plain(item) for key, item in value.items() if key not in UNEQUAL}
        if isinstance(annotations := kept.get("annotations"), dict):
            kept["annotations"] = {key: text for key, text in annotations.items() if not key.startswith(RESULTS)}
            if not kept["annotations"]:
                del kept["annotations"]
        return kept
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return "a time" if isinstance(value, str) and TIME.fullmatch(value) else value


def _differences(first: Any, second: Any, where: str) -> Iterator[str]:
    """Where two documents differ, so that nobody has to read megabytes."""
    if isinstance(first, dict) and isinstance(second, dict):
        for key in sorted(first.keys() | second.keys()):
            yield from _differences(first.get(key), second.get(key), f"{where}.{key}")
    elif isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        for place, (one, other) in enumerate(zip(first, second, strict=True)):
            yield from _differences(one, other, f"{where}[{place}]")
    elif first != second:
        yield f"{where}: served {first!r:.500}, run {second!r:.500}"
