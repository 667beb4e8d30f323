"""The figure about RBAC and admission comes from two servers that are asked alike."""

import asyncio

from seatrial.bench.api import ALONE, UNGUARDED, measure_guards
from seatrial.bench.http_load import running_server


def test_both_servers_take_the_creates_of_an_ordinary_user() -> None:
    with running_server(*ALONE, *UNGUARDED) as plain, running_server(*ALONE) as guarded:
        figure = asyncio.run(measure_guards(plain, guarded, 20))
    assert (figure.name, figure.unit) == ("RBAC and admission add to a create", "%")
