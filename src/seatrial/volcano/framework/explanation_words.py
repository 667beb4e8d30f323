"""The words of an explanation: one sentence, what every action and plugin said, and what would let the job in."""

from collections.abc import Callable, Iterator
from functools import cached_property
from math import ceil

from seatrial.model.documents import Document
from seatrial.volcano.cache.fit_errors import histogram
from seatrial.volcano.cache.resource_words import listed, quantity
from seatrial.volcano.framework.explanation import Explanation, Unfit
from seatrial.volcano.framework.refusals import EvictionTrial, Refusal, Shortage
from seatrial.words import counted

NAMED = 5
"""Jobs and pods that a sentence names."""
_POINTS = {
    "jobValid": "is not worth scheduling",
    "jobEnqueueable": "is not let in",
    "allocatable": "gets nothing more",
    "overused": "gets nothing",
}
_LIMITS = {"": "what the cluster leaves it", "capability": "its capability", "deserved": "what it deserves"}


def title_of(kind: str, key: str) -> str:
    """A job by the kind and the name of its workload."""
    return f"{kind.lower() or 'podgroup'} {key}"


class JobWords:
    """An explanation in words."""

    def __init__(self, explanation: Explanation, title: Callable[[Explanation], str]) -> None:
        """`title` finds out what the job is called."""
        self.job = explanation
        self._title = title

    @property
    def uid(self) -> str:
        """Namespace and name of its PodGroup."""
        return self.job.job

    @cached_property
    def title(self) -> str:
        return self._title(self.job)

    @property
    def plugin(self) -> str:
        """The plugin that decided; empty where none did."""
        refusal, unfit = self._refusal, self.job.unfit
        if self.job.pipelined:
            return ""
        if unfit is not None:
            return unfit.plugins[0] if unfit.plugins else ""
        return refusal.plugin if refusal is not None else "gang" if self.job.tasks else ""

    @cached_property
    def _refusal(self) -> Refusal | None:
        """The refusal that keeps the job waiting: the first plugin that keeps it out, or the last of all."""
        kept_out = self._kept_out
        if kept_out:
            return kept_out[0]
        return next(reversed(self.job.said.refusals.values()), None)

    @cached_property
    def _kept_out(self) -> list[Refusal]:
        """Why the job is not let in, by all plugins that say no."""
        if self.job.is_let_in:
            return []
        return [each for each in self.job.said.refusals.values() if each.point == "jobEnqueueable"]

    @cached_property
    def reason(self) -> str:
        """A few words that are the same for jobs that wait for the same reason."""
        job, refusal, unfit = self.job, self._refusal, self.job.unfit
        if job.pipelined:
            return "waits for resources that are being released"
        if unfit is not None and (refusal is None or refusal.point in ("jobValid", "allocatable")):
            reasons = ", ".join(sorted(unfit.reasons)) or unfit.message
            return f"fits on no node: {reasons}"
        if refusal is None:
            return "has no pods yet" if not job.tasks else "cannot place all pods of its gang"
        said = _POINTS[refusal.point].removeprefix("is ")
        if not refusal.shortages:
            short = refusal.text if refusal.point != "jobValid" else "too few pods exist for its gang"
            return f"{said} by {refusal.plugin}: {short}"
        names = " and ".join(each.resource for each in refusal.shortages)
        where = f"queue {refusal.queue}" if refusal.queue else "the cluster"
        return f"{said} by {refusal.plugin}: {where} has too little {names}"

    @cached_property
    def text(self) -> str:
        """One sentence."""
        job, refusal, unfit = self.job, self._refusal, self.job.unfit
        title = f"{self.title} of queue {job.queue}"
        if job.pipelined:
            tasks = f"{counted(job.pipelined, 'task')} {'is' if job.pipelined == 1 else 'are'}"
            return f"{title} waits for resources that are being released: {tasks} pipelined"
        if unfit is not None and (refusal is None or refusal.point in ("jobValid", "allocatable")):
            by = f" by {' and '.join(unfit.plugins)}" if unfit.plugins else ""
            return f"{title} fits on no node{by}: {histogram(unfit.reasons) or unfit.message} ({self._gang()})"
        if refusal is not None:
            return f"{title} {_POINTS[refusal.point]} by plugin {refusal.plugin}: {_words(refusal)}"
        if not job.tasks:
            return f"{title} has no pods yet"
        return f"{title} needs {counted(job.min_available, 'task')} at once and can place {job.placed}"

    def _gang(self) -> str:
        job = self.job
        if job.placed >= job.min_available:
            return f"{job.placed} of {counted(job.tasks, 'pod')} find a node; {job.min_available} must start together"
        return f"{job.placed} of {job.min_available} that must start together find a node"

    def said(self) -> Iterator[tuple[str, str, str]]:
        """Action, plugin and words of everything that was said, in order."""
        job = self.job
        if job.is_let_in and all(point != "jobEnqueueable" for _, point, _ in job.said.refusals):
            yield "enqueue", "", f"the job is let in ({job.phase})"
        for (action, point, plugin), refusal in job.said.refusals.items():
            is_other = refusal in self._kept_out[1:]
            what = "would not let it in either" if is_other else _POINTS[point]
            yield action, plugin, f"{what}: {_words(refusal)}"
        if job.unfit is not None:
            yield "allocate", "gang", self._gang()
            yield "allocate", ", ".join(job.unfit.plugins), _nodes(job.unfit)
        elif job.is_let_in and job.tasks and not job.pipelined and job.placed < job.min_available:
            yield "allocate", "gang", self._gang()
        for action, trial in job.said.trials.items():
            yield action, "", _tried(trial)
        if job.pipelined:
            yield "allocate", "", f"{counted(job.pipelined, 'task')} will take what others release"

    def needs(self) -> Iterator[str]:
        """What would let the job in, or let it start: all of it together."""
        job, refusal, unfit = self.job, self._refusal, self.job.unfit
        if job.pipelined:
            yield "nothing: it starts when the pods that are being deleted are gone"
            return
        if unfit is not None:
            missing = max(job.min_available - job.placed, 1)
            asking = f"{counted(missing, 'more pod')}, each asking for {listed(unfit.request)}"
            # What is idle is known after the gang was undone: pods of it that found a node are not counted there.
            idle = f"the most that is idle on a node is {listed(unfit.largest)}"
            yield f"room for {asking}; {f'{job.placed} find a node' if job.placed else idle}"
        if refusal is None:
            return
        if refusal.shortages:
            for said in self._kept_out or [refusal]:
                by = f"{said.plugin}: " if len(self._kept_out) > 1 else ""
                yield from (f"{by}{_remedies(said, each)}" for each in said.shortages)
        elif refusal.point == "jobValid":
            yield f"at least {counted(job.min_available, 'pod')} of the job that can still run; there are {job.tasks}"
        elif refusal.point == "overused":
            yield f"a larger share for queue {refusal.queue} (weight or deserved), or jobs of it that end"

    def document(self) -> Document:
        """Everything, as it is recorded."""
        job, refusal = self.job, self._refusal
        short = refusal.shortages if refusal is not None and not job.pipelined else ()
        return {
            "title": self.title,
            "queue": job.queue,
            "phase": job.phase or "Pending",
            "plugin": self.plugin,
            "reason": self.reason,
            "text": self.text,
            "minAvailable": job.min_available,
            "pods": job.tasks,
            "placed": job.placed,
            "missing": {each.resource: quantity(each.resource, each.missing) for each in short},
            "said": [dict(zip(("action", "plugin", "text"), line, strict=True)) for line in self.said()],
            "needs": list(self.needs()),
        }


def _words(refusal: Refusal) -> str:
    return "; ".join(_short(refusal, each) for each in refusal.shortages) or refusal.text


def _short(refusal: Refusal, each: Shortage) -> str:
    missing, asked = (quantity(each.resource, amount) for amount in (each.missing, each.asked))
    left = quantity(each.resource, max(each.limit - each.held, 0.0))
    where = f"queue {refusal.queue} has {left} left of {_LIMITS[refusal.limited_by]}"
    return (
        f"{each.resource} {missing} missing (asks for {asked}, "
        f"{where if refusal.queue else f'the cluster has {left} left to promise'})"
    )


def _remedies(refusal: Refusal, each: Shortage) -> str:
    """What would close a gap: any of these alone.

    A limit of the queue that is too low for the job alone is not helped by others' end.
    """
    missing, least = quantity(each.resource, each.missing), quantity(each.resource, each.held + each.asked)
    ways = []
    if not refusal.queue:
        more = quantity(each.resource, each.missing / each.gain)
        ways += [f"{more} more {each.resource} in the cluster", f"jobs that end and give {missing} back"]
        if each.factor:
            ways.append(f"an overcommit-factor of at least {ceil(each.factor * 100) / 100:.2f}")
        return ", or ".join(ways)
    if each.asked <= each.limit:
        ways.append(f"jobs of queue {refusal.queue} that end and give {missing} {each.resource} back")
    if refusal.limited_by == "deserved":
        ways.append(f"a larger share for queue {refusal.queue}, which deserves {quantity(each.resource, each.limit)}")
    elif refusal.limited_by:
        ways.append(f"spec.{refusal.limited_by} of queue {refusal.queue} with at least {least} {each.resource}")
    else:
        ways.append(f"{missing} more {each.resource} in the cluster")
    return ", or ".join(ways)


def _nodes(unfit: Unfit) -> str:
    reasons = histogram(unfit.reasons) or unfit.message
    return f"{unfit.task} asks for {listed(unfit.request)}; of {counted(unfit.nodes, 'node')} none fits: {reasons}"


def _tried(trial: EvictionTrial) -> str:
    if trial.victims:
        return f"evicts {_few(trial.victims)} for it"
    if not trial.candidates:
        return "found no pod on any node that may be evicted for it"
    who = f"{_few(list(trial.candidates))} on {counted(trial.nodes, 'node')}"
    refusing = ", ".join(f"{name} ({times} times)" for name, times in trial.refused_by.items())
    return f"asked for {who}; " + (f"refused by {refusing}" if refusing else "their room is not enough")


def _few(names: list[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more:,} more" if more > 0 else "")
