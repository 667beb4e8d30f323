"""podFailurePolicy and successPolicy of Jobs: failures that count, are ignored or fail the Job; early success."""

from dataclasses import dataclass

from seatrial.controllers.job.indexes import read_indexes
from seatrial.model.documents import Document


@dataclass(frozen=True, slots=True)
class Judgement:
    """The outcome of podFailurePolicy for one failed pod."""

    counts: bool = True
    fails_index: bool = False
    job_failure: str | None = None


def judge(policy: Document | None, pod: Document) -> Judgement:
    """The first rule that matches a failed pod decides."""
    for number, rule in enumerate((policy or {}).get("rules", [])):
        why = _match(rule, pod)
        if why is None:
            continue
        action = rule["action"]
        if action == "FailJob":
            return Judgement(job_failure=f"{why} matching {action} rule at index {number}")
        return Judgement(counts=action != "Ignore", fails_index=action == "FailIndex")
    return Judgement()


def _match(rule: Document, pod: Document) -> str | None:
    meta, status = pod["metadata"], pod.get("status", {})
    name = f"{meta['namespace']}/{meta['name']}"
    if rule.get("onExitCodes"):
        found = _failed_container(rule["onExitCodes"], status)
        return found and f"Container {found[0]} for pod {name} failed with exit code {found[1]}"
    for condition in status.get("conditions", []):
        for pattern in rule.get("onPodConditions", []):
            if (condition["type"], condition["status"]) == (pattern["type"], pattern.get("status", "True")):
                return f"Pod {name} has condition {condition['type']}"
    return None


def _failed_container(wanted: Document, status: Document) -> tuple[str, int] | None:
    for container in status.get("containerStatuses", []) + status.get("initContainerStatuses", []):
        code = container.get("state", {}).get("terminated", {}).get("exitCode", 0)
        is_meant = wanted.get("containerName") in (None, container["name"])
        if is_meant and code != 0 and (code in wanted.get("values", [])) == (wanted["operator"] == "In"):
            return container["name"], code
    return None


def success_rule(policy: Document | None, completions: int, succeeded: frozenset[int]) -> str | None:
    """The message of the first success rule that is met."""
    for number, rule in enumerate((policy or {}).get("rules", [])):
        count = rule.get("succeededCount")
        if rule.get("succeededIndexes") is not None:
            required = read_indexes(rule["succeededIndexes"], completions)
            reached = len(required & succeeded)
            if required and (reached == len(required) or (count is not None and reached >= count)):
                return f"Matched rules at index {number}"
        elif count is not None and len(succeeded) >= count:
            return f"Matched rules at index {number}"
    return None
