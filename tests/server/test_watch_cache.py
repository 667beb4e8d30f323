import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from seatrial.server import watch_cache as watching
from tests.known_kinds import known_kind
from tests.server.client import Server
from tests.server.documents import MAPS, PODS, config_map, pod

Story = Callable[[Server], Coroutine[Any, Any, None]]


def told(story: Story) -> None:
    asyncio.run(story(Server()))


def test_a_watch_from_nowhere_begins_with_what_there_is() -> None:
    async def story(server: Server) -> None:
        await server.send("POST", MAPS, config_map("a"))
        async with server.watch(f"{MAPS}?watch=true") as watch:
            assert (await watch.next())["type"] == "ADDED"
            await server.send("POST", MAPS, config_map("b"))
            await server.send("DELETE", f"{MAPS}/a")
            events = await watch.some(2)
        assert [(e["type"], e["object"]["metadata"]["name"]) for e in events] == [("ADDED", "b"), ("DELETED", "a")]

    told(story)


def test_a_watch_shows_what_the_thread_of_an_attempt_with_extenders_wrote() -> None:
    async def story(server: Server) -> None:
        await server.send("POST", MAPS, config_map("a"))
        async with server.watch(f"{MAPS}?watch=true") as watch:
            await watch.next()
            await asyncio.sleep(0.05)
            kind = known_kind(server.store.kinds, "v1", "ConfigMap")
            made = config_map("b") | {"metadata": {"name": "b", "namespace": "default"}}
            # The loop stands still while the thread has the turn, as in scheduler/extender/turns.py.
            with ThreadPoolExecutor(1) as threads:
                threads.submit(server.store.create, kind, made, writer="test").result()
            assert (await watch.next())["object"]["metadata"]["name"] == "b"

    told(story)


def test_a_watch_goes_on_from_a_revision() -> None:
    async def story(server: Server) -> None:
        first = (await server.send("POST", MAPS, config_map("a"))).json()
        await server.send("POST", MAPS, config_map("b"))
        async with server.watch(f"{MAPS}?watch=1&resourceVersion={first['metadata']['resourceVersion']}") as watch:
            assert (await watch.next())["object"]["metadata"]["name"] == "b"

    told(story)


def test_the_end_of_initial_events_is_marked_by_a_bookmark() -> None:
    async def story(server: Server) -> None:
        await server.send("POST", MAPS, config_map("a"))
        query = "watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan"
        async with server.watch(f"{MAPS}?{query}") as watch:
            added, bookmark = await watch.some(2)
        assert added["type"] == "ADDED"
        assert bookmark["type"] == "BOOKMARK"
        assert bookmark["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
        assert bookmark["object"]["metadata"]["resourceVersion"] == str(server.store.revision)

    told(story)


def test_initial_events_want_the_right_match(server: Server) -> None:
    assert server("GET", f"{MAPS}?watch=true&sendInitialEvents=true").status == 422
    assert server("GET", f"{MAPS}?watch=true&resourceVersionMatch=Exact&resourceVersion=1").status == 422


def test_leaving_a_selection_is_a_deletion() -> None:
    async def story(server: Server) -> None:
        async with server.watch(f"{PODS}?watch=true&fieldSelector=status.phase!%3DSucceeded") as watch:
            await server.send("POST", PODS, pod("a"))
            done = {"status": {"phase": "Succeeded"}}
            await server.send("PATCH", f"{PODS}/a/status", done, content_type="application/merge-patch+json")
            added, deleted = await watch.some(2)
        assert (added["type"], deleted["type"]) == ("ADDED", "DELETED")
        assert deleted["object"]["status"].get("phase") != "Succeeded"
        assert deleted["object"]["metadata"]["resourceVersion"] == str(server.store.revision)

    told(story)


def test_entering_a_selection_is_an_addition() -> None:
    async def story(server: Server) -> None:
        async with server.watch(f"{PODS}?watch=true&labelSelector=app%3Dx") as watch:
            await server.send("POST", PODS, pod("a"))
            label = {"metadata": {"labels": {"app": "x"}}}
            await server.send("PATCH", f"{PODS}/a", label, content_type="application/merge-patch+json")
            assert (await watch.next())["type"] == "ADDED"

    told(story)


def test_other_namespaces_are_not_seen() -> None:
    async def story(server: Server) -> None:
        async with server.watch("/api/v1/namespaces/kube-system/configmaps?watch=true") as watch:
            await server.send("POST", MAPS, config_map("a"))
            await server.send("POST", "/api/v1/namespaces/kube-system/configmaps", config_map("b"))
            assert (await watch.next())["object"]["metadata"]["name"] == "b"

    told(story)


def test_a_watch_ends_when_its_time_is_over() -> None:
    async def story(server: Server) -> None:
        async with server.watch(f"{MAPS}?watch=true&timeoutSeconds=1") as watch:
            assert await watch.next(seconds=3) is None

    told(story)


def test_a_forgotten_revision_is_410(server: Server) -> None:
    server("POST", MAPS, config_map("a"))
    server.store._revisions.history.compact(server.store.revision)
    assert server("GET", f"{MAPS}?watch=true&resourceVersion=1").status == 410


def test_a_slow_watcher_holds_nobody_back_and_is_told_when_it_is_too_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "ENTRIES_KEPT", 20)

    async def story(server: Server) -> None:
        async with server.watch(f"{MAPS}?watch=true") as slow, server.watch(f"{MAPS}?watch=true") as quick:
            await asyncio.sleep(0.01)
            slow.held.clear()
            for number in range(100):
                await server.send("POST", MAPS, config_map(f"m{number}"))
                assert (await quick.next())["object"]["metadata"]["name"] == f"m{number}"
            slow.held.set()
            last: dict[str, Any] = {}
            while (event := await slow.next()) is not None:
                last = event
        assert last["type"] == "ERROR"
        assert last["object"]["code"] == 410

    told(story)


@pytest.mark.parametrize("query", ["", "&fieldSelector=metadata.name%3Da"])
def test_of_a_large_object_only_the_latest_state_is_sent(monkeypatch: pytest.MonkeyPatch, query: str) -> None:
    monkeypatch.setattr(watching, "LARGE", 400)
    monkeypatch.setattr(watching, "PAUSE_PER_BYTE", 1e-5)

    async def story(server: Server) -> None:
        async with server.watch(f"{MAPS}?watch=true{query}") as watch:
            await server.send("POST", MAPS, config_map("a", text="x" * 500))
            added = await watch.next()
            for number in range(4):
                await server.send("PUT", f"{MAPS}/a", config_map("a", text="x" * 500, number=str(number)))
            changed = await watch.next()
            await server.send("DELETE", f"{MAPS}/a")
            deleted = await watch.next()
        assert [event["type"] for event in (added, changed, deleted)] == ["ADDED", "MODIFIED", "DELETED"]
        assert changed["object"]["data"]["number"] == "3"

    told(story)


def test_a_watch_that_rests_ends_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "LARGE", 400)
    monkeypatch.setattr(watching, "PAUSE_PER_BYTE", 1.0)

    async def story(server: Server) -> None:
        async with server.watch(f"{MAPS}?watch=true") as watch:
            await server.send("POST", MAPS, config_map("a", text="x" * 500))
            assert (await watch.next())["type"] == "ADDED"

    told(story)


def test_bookmarks_come_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "BOOKMARK_EVERY", 0.02)

    async def story(server: Server) -> None:
        url = f"{MAPS}?watch=true&resourceVersion={server.store.revision}&allowWatchBookmarks=true"
        async with server.watch(url) as watch:
            assert [e["type"] for e in await watch.some(2)] == ["BOOKMARK", "BOOKMARK"]

    told(story)


def test_tables_are_watched_too() -> None:
    async def story(server: Server) -> None:
        accept = "application/json;as=Table;v=v1;g=meta.k8s.io"
        async with server.watch(f"{PODS}?watch=true", accept=accept) as watch:
            await server.send("POST", PODS, pod("a"))
            event = await watch.next()
        assert event["object"]["kind"] == "Table"
        assert event["object"]["rows"][0]["cells"][:2] == ["a", "0/1"]

    told(story)


@pytest.mark.parametrize("before", [0, 1, 3])
def test_only_the_first_table_of_a_watch_defines_the_columns(before: int) -> None:
    async def story(server: Server) -> None:
        for number in range(before):
            await server.send("POST", PODS, pod(f"before-{number}"))
        accept = "application/json;as=Table;v=v1;g=meta.k8s.io"
        async with server.watch(f"{PODS}?watch=true", accept=accept) as watch:
            for number in range(3):
                await server.send("POST", PODS, pod(f"after-{number}"))
            events = await watch.some(before + 3)
        assert events[0]["object"]["columnDefinitions"][0]["name"] == "Name"
        assert [event["object"]["columnDefinitions"] for event in events[1:]] == [None] * (before + 2)

    told(story)


def test_all_watches_end_when_the_server_stops() -> None:
    async def story(server: Server) -> None:
        async with server.watch(f"{MAPS}?watch=true") as watch:
            await asyncio.sleep(0.01)
            server.api.feeds.close()
            assert await watch.next() is None
        assert server.api.feeds.watchers == 0

    told(story)


def test_a_watcher_that_leaves_is_forgotten() -> None:
    async def story(server: Server) -> None:
        async with server.watch(f"{MAPS}?watch=true"):
            await asyncio.sleep(0.01)
            assert server.api.feeds.watchers == 1
        assert server.api.feeds.watchers == 0

    told(story)


def test_large_objects_that_everybody_has_seen_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "LARGE", 400)
    monkeypatch.setattr(watching, "PAUSE_PER_BYTE", 0.0)
    monkeypatch.setattr(watching, "ENTRIES_KEPT", 4)

    async def story(server: Server) -> None:
        async with server.watch(f"{MAPS}?watch=true") as watch:
            await asyncio.sleep(0.01)
            for number in range(20):
                await server.send("POST", MAPS, config_map(f"m{number}", text="x" * 500))
                assert (await watch.next())["type"] == "ADDED"
            (feed,) = (feed for feed in server.api.feeds._feeds.values() if feed.kind.kind == "ConfigMap")
            assert len(feed._latest) == len(feed._entries) <= 4

    told(story)
