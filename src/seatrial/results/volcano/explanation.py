"""Explains Volcano's jobs and queues: why a job waits, what would let it in, what a queue deserves and holds."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase

from seatrial.model.documents import Document
from seatrial.model.errors import NotFound
from seatrial.results.run import Run
from seatrial.results.volcano.fairness import totals_of
from seatrial.results.volcano.jobs import MICROSECONDS, VolcanoJob, jobs_of
from seatrial.results.volcano.queues import AMOUNTS, QueueMoment, queue_moments
from seatrial.results.waiting_reasons import Group
from seatrial.volcano.cache import quantity
from seatrial.words import counted

KINDS = ("job", "podgroup", "deployment", "replicaset", "statefulset", "daemonset", "pod")
UNKNOWN = "the sessions of this run are not in this result"
SUGGESTED = 5


@dataclass(frozen=True, slots=True)
class JobExplanation:
    """An answer to "why does this job not run?"."""

    job: VolcanoJob
    sentence: str
    said: tuple[tuple[str, str, str], ...]
    """Action, plugin and words of the last session."""
    needs: tuple[str, ...]
    """What would let it in, or let it start."""
    history: tuple[tuple[float, str, str], ...]
    """Seconds since its creation, phase and reason, whenever one has changed."""

    def __str__(self) -> str:
        return self.sentence

    def document(self) -> Document:
        """Everything, for programs."""
        job = self.job
        return {
            "job": job.title,
            "podGroup": job.key,
            "queue": job.queue,
            "phase": job.phase,
            "minMember": job.min_member,
            "waitSeconds": job.wait_s,
            "sentence": self.sentence,
            "said": [dict(zip(("action", "plugin", "text"), each, strict=True)) for each in self.said],
            "needs": list(self.needs),
            "history": [dict(zip(("seconds", "phase", "reason"), each, strict=True)) for each in self.history],
        }


@dataclass(frozen=True, slots=True)
class QueueExplanation:
    """What a queue deserves, holds and may have at the end of a run, and which of its jobs wait."""

    queue: str
    sentence: str
    moment: QueueMoment
    waiting: tuple[Group, ...]

    def __str__(self) -> str:
        return self.sentence

    def rows(self) -> list[tuple[str, ...]]:
        """A row for each resource: its name, then the amounts in the order of `AMOUNTS`, as manifests have them."""
        moment = self.moment
        return [
            (name, *(shown_amount(name, moment.amounts(what).get(name)) for what in AMOUNTS))
            for name in moment.resources
        ]

    def document(self) -> Document:
        """Everything, for programs."""
        waiting = [{"reason": group.reason, "jobs": list(group.pods)} for group in self.waiting]
        return {"queue": self.queue, "sentence": self.sentence, **self.moment.state, "waiting": waiting}


def shown_amount(resource: str, amount: float | None) -> str:
    """An amount as manifests have it; a broken one is rounded up. Empty for none."""
    if amount is None:
        return ""
    return quantity(resource, amount if resource in ("memory", "pods") else amount * 1000)


def find_jobs(run: Run, pattern: str) -> list[VolcanoJob]:
    """The jobs of a name or glob: of the workload, of the PodGroup, with or without kind; NotFound without any."""
    jobs = jobs_of(run)
    kind, _, rest = pattern.partition("/")
    wanted, name = (kind, rest) if kind in KINDS and rest else ("", pattern)
    keys = (name, f"default/{name}") if "/" not in name else (name,)
    found = []
    for job in jobs:
        own, _, title = job.title.partition(" ")
        names = (title, job.key) if wanted in ("", own) else (job.key,) if wanted == "podgroup" else ()
        if any(fnmatchcase(each, key) for each in names for key in keys):
            found.append(job)
    if found:
        return found
    near = get_close_matches(name, [job.title.partition("/")[2] for job in jobs], SUGGESTED)
    said = f"; did you mean {', '.join(near)}?" if near else f"; there are {len(jobs)} jobs"
    raise NotFound(f"the run has no job or PodGroup {name}{said}")


def job_groups(run: Run) -> list[Group]:
    """The jobs that have not started at the end of a run, by reason, the largest group first."""
    return _groups((job for job in jobs_of(run) if job.is_waiting), {moment.queue for moment in queue_moments(run)})


def _groups(jobs: Iterable[VolcanoJob], queues: Collection[str]) -> list[Group]:
    found: dict[str, list[str]] = {}
    for job in jobs:
        why = job.why
        is_lost = queues and job.queue not in queues
        unsaid = f"its queue {job.queue or '(none)'} does not exist: no session sees it" if is_lost else UNKNOWN
        found.setdefault(why["reason"] if why else unsaid, []).append(job.title)
    groups = [Group(reason, tuple(titles)) for reason, titles in found.items()]
    return sorted(groups, key=lambda group: (-len(group.pods), group.reason))


def explain_job(job: VolcanoJob) -> JobExplanation:
    """Explain one job."""
    why = job.why
    said = tuple((each["action"], each["plugin"], each["text"]) for each in why["said"]) if why else ()
    needs = tuple(why["needs"]) if why else ()
    return JobExplanation(job, _sentence(job, why), said, needs, tuple(_history(job)))


def _sentence(job: VolcanoJob, why: Document | None) -> str:
    pods = (
        f"{counted(job.running, 'pod')} {'runs' if job.running == 1 else 'run'}, {job.min_member} must start together"
    )
    if job.is_waiting:
        text = why["text"] if why else f"{job.title} of queue {job.queue} waits: {UNKNOWN}"
        return f"{text}. It is {job.phase} and has waited {job.wait_s:.0f} s."
    gone = " Its PodGroup was deleted." if job.is_deleted else ""
    started = f"{job.title} of queue {job.queue} is {job.phase}"
    if job.started_s is None:
        return f"{started} and never started in {job.wait_s:.0f} s.{gone}"
    later = f" Of its other pods some wait: {why['reason']}." if why and job.phase == "Running" else ""
    return f"{started}: it started {job.started_s:.0f} s after its creation; {pods}.{later}{gone}"


def _history(job: VolcanoJob) -> list[tuple[float, str, str]]:
    moments = [(time, phase, "") for time, phase in job.phases]
    moments += [(said.time, said.document["phase"], said.document["reason"]) for said in job.said]
    found: list[tuple[float, str, str]] = []
    for time, phase, reason in sorted(moments, key=lambda each: each[0]):
        if not found or found[-1][1:] != (phase, reason):
            if found and found[-1][1] == phase and not reason:
                continue
            found.append(((time - job.created) / MICROSECONDS, phase, reason))
    return found


def explain_queue(run: Run, name: str) -> QueueExplanation:
    """Explain one queue as the last session saw it; NotFound where the run has no such queue."""
    moments = {moment.queue: moment for moment in queue_moments(run)}
    moment = moments.get(name)
    if moment is None:
        known = f"the queues are {', '.join(sorted(moments))}" if moments else UNKNOWN
        raise NotFound(f"the run has no queue {name}; {known}")
    jobs = [job for job in jobs_of(run) if job.queue == name]
    waiting = tuple(_groups((job for job in jobs if job.is_waiting), moments))
    count = sum(len(group.pods) for group in waiting)
    deserves = listed_amounts(moment.amounts("deserved")) or f"nothing{_by_weight(run, name, moments)}"
    return QueueExplanation(
        name,
        f"queue {name} deserves {deserves} and holds {listed_amounts(moment.amounts('allocated')) or 'nothing'} "
        f"(share {moment.share:.2f}{', overused' if moment.is_overused else ''}); "
        f"{count} of {counted(len(jobs), 'job')} {'waits' if count == 1 else 'wait'}.",
        moment,
        waiting,
    )


def _by_weight(run: Run, name: str, moments: dict[str, QueueMoment]) -> str:
    """What a queue without pods would deserve: proportion gives a queue no more than its pods ask for."""
    weights = {each.queue: each.state["weight"] for each in moments.values() if each.state["jobs"]}
    if not weights.get(name):
        return ""
    part = weights[name] / sum(weights.values())
    amounts = {resource: amount * part for resource, amount in totals_of(run).items() if resource in ("cpu", "memory")}
    why = "no pods of its jobs ask for anything yet"
    return f" ({why}; by its weight, {weights[name]} of {sum(weights.values())}, it may have {listed_amounts(amounts)})"


def listed_amounts(amounts: dict[str, float]) -> str:
    """Amounts of resources in one line, without the number of pods."""
    return ", ".join(f"{name} {shown_amount(name, amounts[name])}" for name in amounts if name != "pods")
