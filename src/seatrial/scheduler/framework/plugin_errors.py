"""Guards users' plugins: one that raises or returns a wrong value fails the attempt, and nothing else.

In-tree plugins are trusted. Each extension point of a user's plugin is wrapped when the plugin is made: it gets
read-only views, and what it raises becomes its Error status with the file and line of the plugin, as upstream's
framework reports errors of plugins. The pod is tried again later, and other pods are scheduled meanwhile.
"""

import inspect
import logging
import traceback
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np

from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.framework.interface import Plugin, Poll, PostFiltered, Requeue, Wait, default_requeues
from seatrial.scheduler.framework.read_only import read_only
from seatrial.scheduler.framework.status import Status, Verdicts, error

log = logging.getLogger("seatrial.scheduler")

_STATUS = (Status, type(None))
_ANSWERS: Mapping[str, tuple[type, ...]] = {
    "pre_enqueue": _STATUS,
    "concerns": (object,),
    "less": (bool, np.bool_),
    "pre_filter": (object,),
    "filter": (Verdicts, type(None), np.ndarray, list, tuple),
    "filter_one": (bool, np.bool_, str, *_STATUS),
    "post_filter": (PostFiltered,),
    "pre_score": (object,),
    "score": (np.ndarray, list, tuple, *_STATUS),
    "score_one": (int, float, np.integer, np.floating, Status),
    "normalize": (np.ndarray, list, tuple, Status),
    "reserve": _STATUS,
    "unreserve": (object,),
    "permit": (Wait, *_STATUS),
    "pre_bind_pre_flight": _STATUS,
    "pre_bind": (Poll, *_STATUS),
    "sign": (dict, Status),
    "bind": _STATUS,
    "post_bind": (object,),
    "queueing hint": (object,),
    "events": (tuple, list),
    "depends_on": (object,),
    "filter_row": (int, np.integer),
    "score_row": (int, np.integer),
}
"""Extension point method -> what it may answer with."""
METHODS = tuple(name for name in _ANSWERS if name.isidentifier())
"""The methods that a plugin may have."""
_ARRAYS = frozenset(("filter", "score", "normalize"))
_ROWS = ("filter_row", "score_row")
"""Shorter ways to one row of `filter` and `score`, which have no way to say that they failed."""


def guard(plugin: Plugin) -> None:
    """Wrap the extension points of a user's plugin."""
    for name in _ANSWERS:
        method = getattr(plugin, name, None)
        if method is not None:
            setattr(plugin, name, None if name in _ROWS else _guarded(plugin, name, method))
    events = plugin.events

    def guarded_events(gates: Mapping[str, bool]) -> tuple[Requeue, ...]:
        return tuple(
            replace(entry, hint=entry.hint and _guarded(plugin, "queueing hint", entry.hint)) for entry in events(gates)
        )

    plugin.events = guarded_events  # type: ignore[method-assign]


def _guarded(plugin: Plugin, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    logged: set[str] = set()

    @wraps(method)
    def call(*given: Any) -> Any:
        try:
            return _checked(name, method(*map(read_only, given)), given)
        except (Exception, SystemExit) as failure:
            how = f"{type(failure).__name__}: {failure} ({_place(failure, method)})"
            if how not in logged:
                logged.add(how)
                log.error("plugin %s on %s: %s", plugin.name, _described(given), how)
                log.debug("plugin %s", plugin.name, exc_info=failure)
            return _error_of(name, error(how), given)

    return call


def _place(failure: BaseException, method: Callable[..., Any]) -> str:
    """File and line of the plugin that raised; of the method where its answer was wrong."""
    own = inspect.unwrap(method)
    code = getattr(own, "__code__", None)
    frames = traceback.extract_tb(failure.__traceback__)[1:]
    own_frames = [frame for frame in frames if code is not None and frame.filename == code.co_filename]
    if own_frames:
        return f"{Path(own_frames[-1].filename).name}, line {own_frames[-1].lineno}"
    if code is not None:
        return f"{Path(code.co_filename).name}, line {code.co_firstlineno}"
    return type(own).__name__


def _checked(name: str, answer: Any, given: tuple[Any, ...]) -> Any:
    """The answer, if it is one."""
    if not isinstance(answer, _ANSWERS[name]):
        wanted = " or ".join(kind.__name__ for kind in _ANSWERS[name])
        raise TypeError(f"{name} answered {answer!r}, expected {wanted}")
    if name == "score_one" and isinstance(answer, int | float | np.integer | np.floating):
        return np.int64(answer)
    if name not in _ARRAYS or answer is None or isinstance(answer, Status):
        return answer
    if isinstance(answer, Verdicts):
        length = len(answer.codes)
    else:
        answer = np.asarray(answer, np.bool_ if name == "filter" else np.int64)
        length = len(answer)
    if length != len(given[1]):
        raise ValueError(f"{name} answered for {length} nodes, expected {len(given[1])}")
    return answer


def _error_of(name: str, status: Status, given: tuple[Any, ...]) -> Any:
    """How an extension point says that it failed."""
    if name == "filter":
        return Verdicts.failed(given[1], status.message)
    if name == "post_filter":
        return PostFiltered(status)
    if name in ("concerns", "queueing hint"):
        return True  # in doubt the pod is tried, as upstream does
    if name == "events":
        return default_requeues()
    if name == "depends_on":
        return object()  # equal to nothing, so that nothing is kept
    return False if name == "less" else status


def _described(given: tuple[Any, ...]) -> str:
    for one in given:
        pod = one if isinstance(one, PodInfo) else getattr(one, "pod", None)
        if isinstance(pod, PodInfo):
            return f"pod {pod.namespace}/{pod.name}"
    return "no pod"
