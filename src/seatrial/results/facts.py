"""What a result may lack, and why: a folder has everything, a Scenario alone what its timeline and its status tell.

A measure names the facts it needs. A value whose facts a result lacks is missing: null, never 0.
"""

from collections.abc import Mapping

from seatrial.model.documents import Document

TIMES = "times"
WRITES = "status writes"
ATTEMPTS = "attempts"
NODES_TRIED = "nodes of attempts"
OBJECTS = "objects of the snapshot"
ENDS = "ends of pods"
OFFERS = "changes of what nodes offer"

HELD = (OBJECTS, ENDS)
"""What is needed to know which pods hold which nodes."""

NO_TABLE = "there is no timeline.parquet with it"
UNRECORDED = "attempts were not recorded (--record none)"


def lacking(facts: Document, *, has_unlisted_attempts: bool) -> dict[str, str]:
    """What a Scenario alone lacks, from its `status.notInTimeline`, and why."""
    found = {TIMES: NO_TABLE, WRITES: NO_TABLE}
    if facts.get("attempts") or has_unlisted_attempts:
        found[ATTEMPTS] = "some attempts are in no entry of the timeline"
    if ATTEMPTS in found or facts.get("attemptsWithoutNodes"):
        found[NODES_TRIED] = "the timeline lists some attempts with their step alone"
    if facts.get("snapshotObjects"):
        found[OBJECTS] = "the run began with a snapshot, whose objects are not in the timeline"
    if isinstance(facts.get("finishedPods"), int):
        found[ENDS] = "too many pods finished to be listed"
    if facts.get("nodeStatusWrites"):
        found[OFFERS] = "status writes, which are not in the timeline, changed what nodes offer"
    return found


def sentence(lacks: Mapping[str, str]) -> str:
    """What is lacking, with the reasons; empty where nothing is."""
    by_reason: dict[str, list[str]] = {}
    for fact, why in lacks.items():
        by_reason.setdefault(why, []).append(fact)
    return "; ".join(f"{_listed(facts)} ({why})" for why, facts in by_reason.items())


def _listed(facts: list[str]) -> str:
    return facts[0] if len(facts) == 1 else f"{', '.join(facts[:-1])} and {facts[-1]}"
