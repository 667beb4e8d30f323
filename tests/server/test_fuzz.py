"""Whatever is thrown at it, the server answers in time, without a 5xx, and keeps nothing."""

import asyncio
import gc
import time

import pytest

from seatrial.server.metrics import resident_bytes
from tests.server.client import Server
from tests.server.fuzzing import Fuzzer
from tests.server.samples import samples

SEED = 20360101
ALLOWED = {200, 201, 202, 304, 400, 401, 403, 404, 405, 406, 409, 410, 413, 415, 422, 429, 504}
NO_PAGE = b"404 page not found\n"
"""What a path below no served version is answered with; every other refusal is a Status."""
SLOWEST = 2.0
GROWTH = 1.15


async def throw(number: int, seed: int = SEED) -> None:
    server = Server()
    fuzzer = Fuzzer(seed, list(server.store.kinds), samples())
    sizes: list[int] = []
    for count, attack in enumerate(fuzzer.attacks(number)):
        start = time.process_time()
        reply = await server.send(attack.method, attack.path, attack.body, **attack.headers)
        seconds = time.process_time() - start
        allowed = ALLOWED | {503} if "/proxy" in attack.path else ALLOWED  # a Service without endpoints
        assert reply.status in allowed, f"{attack} -> {reply.status} {reply.body[:500]!r}"
        assert seconds < SLOWEST, f"{attack} took {seconds:.1f} s of a processor"
        if reply.status >= 400 and attack.method != "HEAD" and reply.body != NO_PAGE:
            assert reply.json()["message"], attack
        if count % 500 == 0:
            gc.collect()
            sizes.append(resident_bytes())
    third = sizes[len(sizes) * 2 // 3 :]
    assert max(third) < third[0] * GROWTH


def test_two_thousand_hostile_requests() -> None:
    asyncio.run(throw(2000))


@pytest.mark.long
def test_thirty_thousand_hostile_requests() -> None:
    asyncio.run(throw(30_000))
