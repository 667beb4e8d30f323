"""Users' plugins that raise, or answer with something that is no answer."""

from typing import Any

import pytest

from seatrial.model.errors import ConfigError
from seatrial.plugins import Action, Plugin, Reads, requeue
from seatrial.scheduler.plugins.out_of_tree import load_plugins
from tests.scheduler.scheduler_world import World, enabled


def broken(method: str, answer: Any = None) -> type[Plugin]:
    """A plugin with one method, which raises on pod `bad` or answers with nonsense."""

    def call(self: Plugin, pod: Any, *others: Any) -> Any:
        if pod.name != "bad":
            return {"score_one": 1, "normalize": others[-2] if len(others) > 1 else None}.get(method)
        if answer is None:
            raise RuntimeError("boom")
        return answer

    members = {method: call, **({"score_one": lambda self, pod, node: 1} if method == "normalize" else {})}
    return type("Boom", (Plugin,), members)


POINTS = (
    "pre_filter", "filter", "filter_one", "pre_score", "score", "score_one", "normalize", "reserve", "permit",
    "pre_bind",
)  # fmt: skip


def world_of(plugin: type[Plugin], **options: Any) -> World:
    world = World(enabled("Boom"), [plugin], **options)
    world.node("n1")
    world.node("n2")
    world.pod("bad")
    world.pod("good")
    return world


@pytest.mark.parametrize("method", POINTS)
def test_a_plugin_that_raises_fails_the_attempt(method: str, caplog: pytest.LogCaptureFixture) -> None:
    world = world_of(broken(method))
    first, second = world.run()[:2]
    assert (first.outcome, first.node) == ("error", "")
    assert "RuntimeError: boom (test_plugin_errors.py, line " in first.message
    assert second.node
    assert (world.node_of("bad"), bool(world.node_of("good"))) == ("", True)
    assert [queued.pod.name for queued in world.scheduler.queue.backoff] == ["bad"]
    (record,) = caplog.records
    assert record.message.startswith("plugin Boom on pod default/bad: RuntimeError: boom (test_plugin_errors.py, line ")


@pytest.mark.parametrize(
    ("method", "answer", "said"),
    [
        ("score_one", "many", "score_one answered 'many', expected int"),
        ("score_one", float("nan"), "ValueError: cannot convert float NaN to integer"),
        ("filter_one", 7, "filter_one answered 7, expected bool"),
        ("score", [1], "score answered for 1 nodes, expected 2"),
        ("score", [1, "many"], "ValueError"),
        ("reserve", "no", "reserve answered 'no', expected Status"),
    ],
)
def test_an_answer_that_is_none_is_an_error_of_the_pod(
    method: str, answer: Any, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    world = world_of(broken(method, answer))
    first = world.run()[0]
    assert first.outcome == "error"
    assert said in first.message
    assert world.node_of("good")


def raising(method: str) -> type[Plugin]:
    def call(self: Plugin, *given: Any) -> Any:
        raise RuntimeError("boom")

    return type("Boom", (Plugin,), {method: call, "reads": Reads.ROW})


@pytest.mark.parametrize("method", ["events", "depends_on", "filter_row"])
def test_what_a_plugin_says_of_itself_is_guarded_too(method: str, caplog: pytest.LogCaptureFixture) -> None:
    class Choosy(raising(method)):  # type: ignore[misc]
        def filter(self, pod: Any, nodes: Any) -> list[bool]:
            return [place > 0 or len(nodes) == 1 for place in range(len(nodes))]

    def crowd(**options: Any) -> World:
        world = world_of(type("Boom", (Choosy,), {}), **options)
        for number in range(8):
            world.node(f"more-{number}")
            world.pod(f"more-{number}", cpu="100m")
        return world

    world = crowd()
    world.run()
    assert world.node_of("more-3")


def test_a_hint_that_raises_brings_the_pod_back(caplog: pytest.LogCaptureFixture) -> None:
    class Picky(Plugin):
        def filter_one(self, pod: Any, node: Any) -> bool:
            return "good" in node.labels

        @requeue.on("Node", Action.ADD)
        def node_came(self, pod: Any, old: Any, new: Any) -> bool:
            raise RuntimeError("boom")

    world = World(enabled("Picky"), [Picky])
    world.node("n1")
    world.pod("a")
    world.run()
    world.node("n2", labels={"good": ""})
    (record,) = caplog.records
    assert record.message.startswith("plugin Picky on pod default/a: RuntimeError: boom (test_plugin_errors.py, line ")
    assert [queued.pod.name for queued in world.scheduler.queue.backoff] == ["a"]


def test_a_plugin_that_cannot_be_made_is_named() -> None:
    class Fussy(Plugin):
        def __init__(self, args: Any, handle: Any) -> None:
            raise KeyError("size")

        def filter_one(self, pod: Any, node: Any) -> bool:
            return True

    with pytest.raises(ConfigError, match="plugins: Fussy: KeyError: 'size'"):
        World(enabled("Fussy"), [Fussy])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def (:\n", "cannot be loaded: SyntaxError: "),
        ("import nowhere_at_all\n", "ModuleNotFoundError: No module named 'nowhere_at_all' (own.py, line 1)"),
        ("\nraise RuntimeError('boom')\n", "cannot be loaded: RuntimeError: boom (own.py, line 2)"),
    ],
)
def test_a_module_that_cannot_be_loaded_is_named(tmp_path: Any, text: str, said: str) -> None:
    path = tmp_path / "own.py"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_plugins([str(path)])
    assert str(caught.value).startswith(f"{path}: cannot be loaded: ")
    assert said in str(caught.value)
