"""The work queue: what is added is worked on, once at a time, and again after an error."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from seatrial.model.errors import SeatrialError
from seatrial.operator.work_queue import WorkQueue

Work = Callable[[str], Awaitable[float | None]]


async def serve(work: Work, *keys: str, until: Callable[[], bool], workers: int = 2) -> None:
    """Work on these keys until a condition holds."""
    queue: WorkQueue[str] = WorkQueue(work)
    for key in keys:
        queue.add(key)
    tasks = [asyncio.create_task(queue.serve()) for _ in range(workers)]
    async with asyncio.timeout(20):
        while not until():
            await asyncio.sleep(0.01)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    queue.close()


def test_a_key_that_waits_is_not_added_twice() -> None:
    done: list[str] = []

    async def work(key: str) -> None:
        done.append(key)

    asyncio.run(serve(work, "a", "a", "b", "a", until=lambda: len(done) >= 2))
    assert sorted(done) == ["a", "b"]


def test_a_key_is_never_worked_on_twice_at_a_time() -> None:
    running, most, count = 0, 0, 0

    async def main() -> None:
        async def work(key: str) -> None:
            nonlocal running, most, count
            running += 1
            most = max(most, running)
            if count == 0:
                queue.add(key)
            await asyncio.sleep(0.05)
            running -= 1
            count += 1

        queue: WorkQueue[str] = WorkQueue(work)
        queue.add("a")
        tasks = [asyncio.create_task(queue.serve()) for _ in range(3)]
        async with asyncio.timeout(20):
            while count < 2:
                await asyncio.sleep(0.01)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(main())
    assert (most, count) == (1, 2)


def test_an_error_is_logged_and_the_key_is_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    tries = 0

    async def work(key: str) -> None:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise SeatrialError("no luck")

    asyncio.run(serve(work, "a", until=lambda: tries == 3))
    assert "a: no luck; trying again in 0.2 s" in caplog.text
    assert "a: no luck; trying again in 0.4 s" in caplog.text


def test_work_may_ask_for_another_look() -> None:
    looks = 0

    async def work(key: str) -> float | None:
        nonlocal looks
        looks += 1
        return 0.01 if looks < 3 else None

    asyncio.run(serve(work, "a", until=lambda: looks == 3))


def test_of_several_times_the_earliest_counts() -> None:
    done: list[str] = []

    async def main() -> None:
        async def work(key: str) -> None:
            done.append(key)

        queue: WorkQueue[str] = WorkQueue(work)
        for seconds in (3600, 0.01, 7200):
            queue.add_after("a", seconds)
        task = asyncio.create_task(queue.serve())
        async with asyncio.timeout(20):
            while not done:
                await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        queue.close()

    asyncio.run(main())
    assert done == ["a"]
