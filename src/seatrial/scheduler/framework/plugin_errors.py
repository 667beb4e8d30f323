"""What becomes of a user's plugin that raises or answers with something that is no answer.

In-tree plugins are trusted. A user's is guarded: each of its extension points is wrapped when the plugin is made.
Where a run must not go on with a broken plugin, PluginFailed ends it; a scheduler that is `tolerant` takes the
failure for the plugin's own Error status, so the pod is tried again later and other pods are scheduled meanwhile.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from typing import Any

import numpy as np

from seatrial.model.errors import SeatrialError
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.framework.interface import Plugin, Poll, PostFiltered, Requeue, Wait, default_requeues
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
    "bind": _STATUS,
    "post_bind": (object,),
    "queueing hint": (object,),
    "events": (tuple, list),
    "depends_on": (object,),
    "filter_row": (int, np.integer),
    "score_row": (int, np.integer),
}
"""Extension point method -> what it may answer with."""
_ARRAYS = frozenset(("filter", "score", "normalize"))
_ROWS = ("filter_row", "score_row")
"""Shorter ways to one row of `filter` and `score`, which have no way to say that they failed."""


class PluginFailed(SeatrialError):
    """A user's plugin is broken: which one, on which pod, and how."""


def guard(plugin: Plugin, *, tolerant: bool) -> None:
    """Wrap the extension points of a user's plugin."""
    for name in _ANSWERS:
        method = getattr(plugin, name, None)
        if method is not None:
            is_left_out = tolerant and name in _ROWS
            setattr(plugin, name, None if is_left_out else _guarded(plugin, name, method, tolerant))
    events = plugin.events

    def guarded_events(gates: Mapping[str, bool]) -> tuple[Requeue, ...]:
        return tuple(
            replace(entry, hint=entry.hint and _guarded(plugin, "queueing hint", entry.hint, tolerant))
            for entry in events(gates)
        )

    plugin.events = guarded_events  # type: ignore[method-assign]


def _guarded(plugin: Plugin, name: str, method: Callable[..., Any], tolerant: bool) -> Callable[..., Any]:
    told: set[str] = set()

    @wraps(method)
    def call(*given: Any) -> Any:
        try:
            return _checked(name, method(*given), given)
        except PluginFailed:
            raise
        except (Exception, SystemExit) as failure:
            how = f"{type(failure).__name__}: {failure}"
            text = f"plugin {plugin.name} on {_described(given)}: {how}"
            if not tolerant:
                raise PluginFailed(text) from failure
            if how not in told:
                told.add(how)
                log.error("%s", text, exc_info=failure)
            return _error_of(name, error(how), given)

    return call


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
