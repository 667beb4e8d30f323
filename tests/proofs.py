"""The marker `@proves(...)`: names the rows of docs/acceptance.md whose statement a test asserts.

As a pytest plugin (see conftest.py) this module refuses rows that do not exist, and with `--proofs` writes into
docs/acceptance.md which of the marked tests of this session passed. A test that was not selected keeps its place in
the table, so that any selection may bring it up to date.
"""

from collections import defaultdict
from collections.abc import Iterable

import pytest

from tests.scripts import load_script

proves = pytest.mark.proves
PROPERTY = "proves"
OUTCOMES = pytest.StashKey[dict[str, set[str]]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--proofs", action="store_true", help="write the tests that passed into docs/acceptance.md")


def pytest_configure(config: pytest.Config) -> None:
    outcomes: dict[str, set[str]] = defaultdict(set)
    config.stash[OUTCOMES] = outcomes
    config.addinivalue_line("markers", "proves(*rows): the rows of docs/acceptance.md that the test proves")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    known = load_script("acceptance_table").read()
    for item in items:
        rows = marked_rows(item)
        if unknown := sorted(set(rows) - set(known)):
            raise pytest.UsageError(f"{item.nodeid}: docs/acceptance.md has no row {', '.join(unknown)}")
        if rows:
            item.user_properties.append((PROPERTY, " ".join(rows)))


def marked_rows(item: pytest.Item) -> list[str]:
    """The rows a test is marked with, in the order of its markers."""
    return list(dict.fromkeys(row for marker in item.iter_markers(PROPERTY) for row in marker.args))


class Recorder:
    """Collects the outcomes of marked tests; under xdist the controller gets the reports of all workers."""

    def __init__(self, outcomes: dict[str, set[str]]) -> None:
        self._outcomes = outcomes

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        counts = report.when == "call" or report.outcome != "passed"
        if counts and any(name == PROPERTY for name, _ in report.user_properties):
            self._outcomes[function_of(report.nodeid)].add(report.outcome)


def function_of(nodeid: str) -> str:
    """The test function of a case, as the table names it: relative to tests/, without parameters."""
    return nodeid.partition("[")[0].removeprefix("tests/")


def passed(outcomes: dict[str, set[str]]) -> tuple[list[str], list[str]]:
    """Functions all of whose cases passed, and functions of which one failed or none ran."""
    good = [name for name, seen in outcomes.items() if "passed" in seen and "failed" not in seen]
    return good, [name for name in outcomes if name not in good]


def pytest_sessionstart(session: pytest.Session) -> None:
    if session.config.getoption("--proofs") and not hasattr(session.config, "workerinput"):
        session.config.pluginmanager.register(Recorder(session.config.stash[OUTCOMES]), "proofs-recorder")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if not config.getoption("--proofs"):
        return
    table = load_script("acceptance_table")
    good, bad = passed(config.stash[OUTCOMES])
    table.record(good, bad)
    terminalreporter.write_line(f"docs/acceptance.md: {len(good)} marked tests passed{_named(bad)}")


def _named(bad: Iterable[str]) -> str:
    return "".join(f"\n  not proved by {name}" for name in bad)
