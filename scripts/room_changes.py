"""Counts how often the call stack changes from one room to another on four walks through the code.

    python scripts/room_changes.py [TREE] [--pairs WALK]

A room is a folder of `src/seatrial` (`seatrial.store`, `seatrial.scheduler`, …). A change is a call into a room from
another one; frames of other libraries between the two are ignored. Imports and the second half of generators are not
counted: each walk is run once before it is counted, and a resumed generator is no call. Who reads along a walk changes
files about as often, so a change of the code that lets the numbers fall makes a walk easier to follow. `--pairs` lists
the calls of one walk by function, most frequent first: there a reduction is found.
"""

import argparse
import asyncio
import contextlib
import io
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

Changes = Counter[tuple[str, str]]


def room_of(module: str) -> str:
    """The room of a module; empty outside this package."""
    first, _, rest = module.partition(".")
    return rest.partition(".")[0] if first == "seatrial" else ""


@contextlib.contextmanager
def counted(changes: Changes) -> Iterator[None]:
    """Count the changes of room until the end of the block, by the functions that call and are called."""

    def notice(frame: FrameType, event: str, argument: object) -> None:
        if event != "call" or (frame.f_lasti > 0 and frame.f_code.co_flags & 0x2A0):  # a resumed generator
            return
        module = frame.f_globals.get("__name__", "")
        room = room_of(module)
        caller = frame.f_back
        while room and caller is not None:
            from_module = caller.f_globals.get("__name__", "")
            from_room = room_of(from_module)
            if from_room:
                if from_room != room:
                    changes[_named(from_module, caller), _named(module, frame)] += 1
                return
            caller = caller.f_back

    sys.setprofile(notice)
    try:
        yield
    finally:
        sys.setprofile(None)


def _named(module: str, frame: FrameType) -> str:
    return f"{module.removeprefix('seatrial.')}.{frame.f_code.co_name}"


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield


def command(*arguments: str) -> Callable[[], None]:
    """A walk: one command line, in this process."""

    def run() -> None:
        from seatrial.cli import main

        with tempfile.TemporaryDirectory() as folder, _silence():
            sys.argv = ["seatrial", *arguments, "--quiet", "--out", folder]
            with contextlib.suppress(SystemExit):
                main.main()

    return run


def post() -> None:
    """The first POST of a pod to a server with RBAC and the default admission; only the request is counted."""
    from tests.server.client import Server
    from tests.store.stock import pod

    posted.clear()
    request = Server(rbac=True).send("POST", "/api/v1/namespaces/default/pods", pod("web"))
    with counted(posted):
        asyncio.run(request)


posted: Changes = Counter()


def walk(run: Callable[[], None]) -> Changes:
    changes: Changes = Counter()
    run()
    if run is post:
        run()
        return posted
    with counted(changes):
        run()
    return changes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tree", nargs="?", type=Path, default=Path(__file__).parents[1])
    parser.add_argument("--pairs", metavar="WALK", default="")
    given = parser.parse_args()
    sys.path.insert(0, str(given.tree.resolve()))
    examples = given.tree.resolve() / "examples"
    walks: dict[str, Callable[[], None]] = {
        "scenario": command("run", str(examples / "first-steps" / "scenario.yaml"), "--no-report"),
        "post": post,
        "gang": command("run", str(examples / "volcano-idle-but-pending" / "scenario.yaml"), "--no-report"),
        "simulate": command("simulate", str(examples / "spread-or-binpack" / "simulation.yaml")),
    }
    for name, run in walks.items():
        if given.pairs in ("", name):
            changes = walk(run)
            print(f"{name}: {changes.total()} room changes, {len(changes)} of them between different functions")
            for (caller, called), number in changes.most_common(40) if given.pairs else ():
                print(f"{number:7} {caller} -> {called}")


if __name__ == "__main__":
    main()
