"""No single request holds up others: /readyz answers within 250 ms of the server's own time during each attack.

The time for which the kernel says that threads had no processor does not count, so that a busy machine fails no test.
"""

from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from tests.server.hardening.attacks import ATTACKS, Attacks, config_map
from tests.server.test_grammar_fuzz import Client, is_expected, probe_of
from tests.server.test_process import Process

LONGEST_STALL = 0.25
LISTED = 1_000
"""Objects in the lists that attacks read."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    server = Process(tmp_path_factory.mktemp("attacked"), "--port", "0", "--insecure")
    with closing(Client(server.url)) as client:
        for number in range(LISTED):
            labels = {f"k{number % 7}": "v"}
            made = config_map(f"l{number}", metadata={"name": f"l{number}", "labels": labels}, data={"a": "b" * 2_000})
            assert client.send(made)[0] == 201
    yield server
    server.end()


@pytest.mark.long
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_nobody_waits_for(server: Process, attack: Callable[[], Attacks]) -> None:
    *before, last = attack()
    with closing(Client(server.url)) as client:
        for needed in before:
            status, body = client.send(needed)
            assert status in (201, 409), body
        probe = probe_of(server)
        try:
            status, body = client.send(last)
        finally:
            stall, wall = probe.end()
    print(f"\n{attack.__name__}: {status}, /readyz {stall * 1000:.0f} ms of {wall * 1000:.0f}, {body[:160]!r}")
    assert is_expected(last, status), body[:500]
    assert stall < LONGEST_STALL


def test_there_are_thirty_attacks_at_least() -> None:
    assert len({attack.__name__ for attack in ATTACKS}) >= 30
