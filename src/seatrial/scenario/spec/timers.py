"""Parts of a scenario that need time to pass; without a step duration none does, and they have no effect."""

from collections.abc import Collection, Iterable, Iterator

from seatrial.model.documents import Document, decode, encode
from seatrial.scenario.spec.kind import RUN_DURATION, STEP_DURATION
from seatrial.scenario.spec.operation_ids import Planned

TIMED_FIELDS = {
    RUN_DURATION: "the run time of pods",
    "tolerationSeconds": "tolerationSeconds",
    "activeDeadlineSeconds": "activeDeadlineSeconds",
    "ttlSecondsAfterFinished": "ttlSecondsAfterFinished",
    "durationMilliseconds": "the delay of a Stage",
}
CRON_JOB = b'"CronJob"'
VOLCANO = b'"batch.volcano.sh/'
TOLERATION_SECONDS = b'"tolerationSeconds"'
DEFAULT_TOLERATIONS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
DEFAULT_TOLERATION_SECONDS = 300


def unused_timers(operations: Iterable[Planned], snapshot: Iterable[Document] = ()) -> Iterator[str]:
    """One warning for each field whose timer never fires."""
    sources = [(f"operation {planned.id}", _asked_for(planned.data)) for planned in operations]
    sources += [("the snapshot", encode(_without_default_tolerations(document))) for document in snapshot]
    for field, said in TIMED_FIELDS.items():
        if found := _mentioning(sources, f'"{field}"'.encode()):
            yield f"{said} ({found}) has no effect: steps take no time without the annotation {STEP_DURATION}"


def _asked_for(operation: bytes) -> bytes:
    """An operation, or where it creates a pod of a dump the pod without the tolerations that every pod has."""
    if TOLERATION_SECONDS not in operation:
        return operation
    create = decode(operation).get("createOperation")
    created = create.get("object") if isinstance(create, dict) else None
    return encode(_without_default_tolerations(created)) if isinstance(created, dict) else operation


def _without_default_tolerations(document: Document) -> Document:
    """Without what the admission plugin DefaultTolerationSeconds gives to every pod: no user asked for that."""
    spec = document.get("spec")
    if not isinstance(spec, dict) or not isinstance(given := spec.get("tolerations"), list):
        return document
    return {**document, "spec": {**spec, "tolerations": [each for each in given if not _is_default(each)]}}


def _is_default(toleration: Document) -> bool:
    is_ours = toleration.get("key") in DEFAULT_TOLERATIONS
    return is_ours and toleration.get("tolerationSeconds") == DEFAULT_TOLERATION_SECONDS


def idle_cron_jobs(operations: Iterable[Planned], controllers: Collection[str], duration: int) -> Iterator[str]:
    """One warning where CronJobs make no Jobs: their controller is off by default, and works by time alone.

    Those of Volcano have their controller with the rest of Volcano.
    """
    sources = [(f"operation {planned.id}", planned.data) for planned in operations if CRON_JOB in planned.data]
    plain = [(name, data) for name, data in sources if VOLCANO not in data]
    is_off = bool(plain) and "cronjob" not in controllers
    if found := _mentioning(plain if duration else sources, CRON_JOB):
        wanted = [
            *(["enable cronjob in spec.controllers.presimulationControllers"] if is_off else []),
            *([] if duration else [f"set the annotation {STEP_DURATION}"]),
        ]
        if wanted:
            yield f"CronJobs ({found}) make no Jobs: {' and '.join(wanted)}"


def _mentioning(sources: Iterable[tuple[str, bytes]], text: bytes) -> str:
    """The first source that has the text, and whether there are others."""
    found = list(dict.fromkeys(name for name, data in sources if text in data))
    return f"{found[0]}{' and others' if len(found) > 1 else ''}" if found else ""
