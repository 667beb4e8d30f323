"""The result of a test: on the terminal to the letter of the seed, and as a file with more in it."""

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final

from seatrial import __version__
from seatrial.model.errors import ConfigError
from seatrial.vcsim.clocks import rfc3339
from seatrial.vcsim.throughput import Throughput

MEASUREMENT: Final = "SchedulingThroughput"
RULE: Final = "-" * 80
KEYS: Final = ("perc50", "perc90", "perc99", "max")
WIDTH: Final = 50
"""Characters of the longest bar of a drawing."""
ROWS: Final = 40
"""Most lines of a drawing; longer runs are drawn by groups of seconds."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run has come to."""

    throughput: Throughput
    submitted: int
    reason: str = ""
    """Why the test did not succeed; empty where it did."""

    @property
    def status(self) -> str:
        return "Failed" if self.reason else "Success"


@dataclass(frozen=True, slots=True)
class Origin:
    """What a report was measured with."""

    clock: str
    test: str
    cluster: str
    configuration: str
    """The path of the volcano-scheduler.conf, or that it is the one of the Helm chart."""
    version: str = __version__


def document(throughput: Throughput, origin: Origin | None = None) -> dict[str, Any]:
    """The report as it is written to a file."""
    found: dict[str, Any] = {key: round(getattr(throughput, key), 1) for key in KEYS}
    found["average"] = round(throughput.average, 3) if throughput.average is not None else None
    found["total"] = throughput.total
    found["perSecond"] = [list(pair) for pair in throughput.per_second]
    return found | ({"run": asdict(origin)} if origin is not None else {})


def origin_line(report: dict[str, Any]) -> str:
    """What a report was measured with, in one line; empty for reports of versions that did not write it."""
    run = report.get("run")
    if not isinstance(run, dict):
        return ""
    named = {field.name: run.get(field.name, "?") for field in fields(Origin)}
    return ("{test} on cluster {cluster}, {clock} clock, configuration: {configuration}, seatrial {version}").format(
        **named
    )


def write(throughput: Throughput, directory: Path, origin: Origin | None = None) -> Path:
    """Write a report under the local time; a second report of one second waits for the next."""
    directory.mkdir(parents=True, exist_ok=True)
    text = json.dumps(document(throughput, origin), indent=2) + "\n"
    while True:
        path = directory / f"{MEASUREMENT}__{rfc3339(time.time())}.json"
        try:
            with path.open("x") as file:
                file.write(text)
            return path
        except FileExistsError:
            time.sleep(1 - time.time() % 1)


def terminal_text(test: Path, outcome: Outcome, file: Path) -> str:
    """The report on the terminal, as the seed shows it."""
    shown = {key: round(getattr(outcome.throughput, key), 1) for key in KEYS}
    lines = [
        "Test Finished",
        f"Test: {test.absolute()}",
        f"Status: {outcome.status}",
        RULE,
        f"Measurement: {MEASUREMENT}, Report: {json.dumps(shown, indent=2)}",
        f"Test report file path: {file}",
    ]
    return "\n".join(lines) + "\n"


def read(path: Path) -> dict[str, Any]:
    """A report file; ConfigError if it cannot be read as one."""
    try:
        found = json.loads(path.read_text())
    except FileNotFoundError as error:
        why = "there is no such file; `vcsimctl report` without a file shows the latest report and where it is"
        raise ConfigError(str(path), "", why) from error
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or f"not JSON: {error}"
        raise ConfigError(str(path), "", f"cannot be read as a report: {why}") from error
    wanted = (*KEYS, "average", "total", "perSecond")
    if not isinstance(found, dict) or any(key not in found for key in wanted):
        raise ConfigError(str(path), "", f"expected a report with {', '.join(wanted)}")
    return found


def listed(directory: Path) -> list[Path]:
    """The report files of a cluster, oldest first."""
    found = directory.glob(f"{MEASUREMENT}__*.json") if directory.is_dir() else iter(())
    return sorted(found, key=lambda path: (path.stat().st_mtime, path.name))


def comparison(reports: Sequence[dict[str, Any]]) -> list[tuple[str, ...]]:
    """The figures of reports next to each other; the last column is the change from the first to the last."""
    rows = []
    for key in (*KEYS, "average", "total"):
        values = [report[key] for report in reports]
        cells = ["n/a" if value is None else f"{value:g}" for value in values]
        if len(values) > 1:
            first, last = values[0], values[-1]
            known = first is not None and last is not None and first
            cells.append(f"{(last - first) / first:+.1%}" if known else "n/a")
        rows.append((key, *cells))
    return rows


def drawing(report: dict[str, Any]) -> list[str]:
    """Pods per second as bars, one line for each second or group of seconds."""
    series = report["perSecond"]
    if not series:
        return []
    step = -(-len(series) // ROWS)
    groups = [series[index : index + step] for index in range(0, len(series), step)]
    rates = [sum(count for _, count in group) / len(group) for group in groups]
    most = max(rates) or 1
    return [
        f"{group[0][0]:>6} s {'█' * round(rate / most * WIDTH):<{WIDTH}} {rate:g}"
        for group, rate in zip(groups, rates, strict=True)
    ]
