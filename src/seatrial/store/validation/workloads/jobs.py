"""Jobs: how many pods, when they have failed or succeeded, and what may change while they are suspended.

Upstream: ValidateJob and ValidateJobUpdate of pkg/apis/batch/validation/validation.go.
"""

import re
from collections.abc import Iterator

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.model.label_selectors import LabelSelector, SelectorError
from seatrial.store.field_errors import Struct, invalid, quoted, required, too_long, unsupported
from seatrial.store.object_meta import IMMUTABLE, label_faults, subdomain_faults
from seatrial.store.validation.formats import not_negative
from seatrial.store.validation.go_values import go_struct
from seatrial.store.validation.pods.templates import template_causes
from seatrial.store.validation.rules import need_set, present, rules
from seatrial.store.validation.selectors import label_selector
from seatrial.store.validation.workloads.job_policies import failure_policy, success_policy
from seatrial.store.validation.workloads.workloads import mismatch, selector_of

UID, NAME = "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name"
_COUNTS = rules(
    *(present(key, not_negative) for key in (
        "parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished",
        "backoffLimitPerIndex", "maxFailedIndexes",
    ))
)  # fmt: skip
_SELECTOR = rules(need_set("selector", label_selector))
_MOST, _MOST_OF_MANY = 100_000, 10_000
_PATH = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+"


def create_causes(job: Document) -> Iterator[Cause]:
    """Validation errors of a new Job."""
    yield from _generated(job, None)
    yield from _spec(job.get("spec") or {}, None)
    yield from _host_names(job)


def update_causes(job: Document, old: Document) -> Iterator[Cause]:
    """Validation errors of an update of a Job."""
    spec, before = job.get("spec") or {}, old.get("spec") or {}
    if spec == before:
        return
    yield from _generated(job, old)
    yield from _spec(spec, before)
    yield from _host_names(job)
    yield from _completions(spec, before)
    if spec.get("selector") != before.get("selector"):
        yield invalid("spec.selector", selector_of(spec.get("selector")), IMMUTABLE)
    yield from _template_update(spec, old)
    shown = {"podFailurePolicy": _shown_failures, "successPolicy": _shown_successes}
    for key in ("completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"):
        if spec.get(key) != before.get(key):
            value = spec.get(key)
            yield invalid(f"spec.{key}", shown[key](value) if key in shown and value is not None else value, IMMUTABLE)


def _generated(job: Document, old: Document | None) -> Iterator[Cause]:
    """A job that does not bring its own selector has the labels and the selector the server made."""
    spec, metadata = job.get("spec") or {}, job["metadata"]
    if spec.get("manualSelector") or spec.get("selector") is None:
        return
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels") or {}
    expected = {"controller-uid": metadata.get("uid", ""), "job-name": metadata.get("name", "")}
    before = (((old or {}).get("spec") or {}).get("template") or {}).get("metadata") or {}
    if old is None or {UID, NAME} <= (before.get("labels") or {}).keys():
        expected |= {UID: expected["controller-uid"], NAME: expected["job-name"]}
    for key, value in expected.items():
        where, why = f"spec.template.metadata.labels[{key}]", f"must be '{value}'"
        if key not in labels:
            yield required(where, why)
        elif labels[key] != value:
            yield invalid(where, labels, why)
    try:
        matches = LabelSelector.from_document(spec["selector"]).matches(expected)
    except SelectorError:
        return
    if not matches:
        yield invalid("spec.selector", selector_of(spec["selector"]), "`selector` not auto-generated")


def _host_names(job: Document) -> Iterator[Cause]:
    spec, name = job.get("spec") or {}, job["metadata"].get("name", "")
    completions = spec.get("completions") or 0
    if spec.get("completionMode") == "Indexed" and completions > 0:
        longest = f"{name}-{completions - 1}"
        if label_faults(longest):
            why = f"will not able to create pod with invalid DNS label: {longest}"
            yield invalid("metadata.name", name, why)


def _spec(spec: Document, old: Document | None) -> Iterator[Cause]:
    yield from job_spec(spec, old, "spec")
    selector, template = spec.get("selector"), spec.get("template") or {}
    yield from _SELECTOR(spec, "spec")
    yield from mismatch(selector, template, "spec.template")


def job_spec(spec: Document, old: Document | None, path: str) -> Iterator[Cause]:
    """The spec of a job, on its own or in the template of a CronJob."""
    yield from _COUNTS(spec, path)
    if spec.get("maxFailedIndexes") is not None and spec.get("backoffLimitPerIndex") is None:
        yield required(f"{path}.backoffLimitPerIndex", "when maxFailedIndexes is specified")
    if spec.get("managedBy") is not None:
        yield from _managed_by(spec["managedBy"], f"{path}.managedBy")
    yield from _completion_mode(spec, path)
    if (policy := spec.get("podFailurePolicy")) is not None:
        yield from failure_policy(policy, spec, f"{path}.podFailurePolicy")
    if (policy := spec.get("successPolicy")) is not None:
        if spec.get("completionMode") != "Indexed":
            yield invalid(f"{path}.successPolicy", _shown_successes(policy), "requires indexed completion mode")
        else:
            yield from success_policy(policy, spec.get("completions") or 0, f"{path}.successPolicy")
    yield from _replacement(spec, f"{path}.podReplacementPolicy")
    template = spec.get("template") or {}
    yield from template_causes(template, f"{path}.template", (old.get("template") or {}) if old is not None else None)
    yield from _restarts(spec, (template.get("spec") or {}).get("restartPolicy", ""), path)


def _managed_by(name: str, path: str) -> Iterator[Cause]:
    domain, slash, rest = name.partition("/")
    if not name:
        yield required(path)
    elif not slash or not domain or not rest:
        yield invalid(path, name, 'must be a domain-prefixed path (such as "acme.io/foo")')
    else:
        for fault in subdomain_faults(domain):
            yield invalid(path, domain, fault)
        if not re.fullmatch(_PATH, rest):
            yield invalid(path, rest, f"Invalid path (regex used for validation is '{_PATH}')")
    if len(name.encode()) > 63:
        yield too_long(path, 63)


def _completion_mode(spec: Document, path: str) -> Iterator[Cause]:
    mode, per_index, failed = (spec.get(key) for key in ("completionMode", "backoffLimitPerIndex", "maxFailedIndexes"))
    if mode is not None and mode not in ("NonIndexed", "Indexed"):
        yield unsupported(f"{path}.completionMode", mode, ("NonIndexed", "Indexed"))
    if mode == "Indexed":
        yield from _indexed(spec, per_index, failed, path)
    elif mode is None or mode == "NonIndexed":
        for key, value in (("backoffLimitPerIndex", per_index), ("maxFailedIndexes", failed)):
            if value is not None:
                yield invalid(f"{path}.{key}", value, "requires indexed completion mode")


def _indexed(spec: Document, per_index: int | None, failed: int | None, path: str) -> Iterator[Cause]:
    completions, parallelism = spec.get("completions"), spec.get("parallelism")
    if completions is None:
        yield required(f"{path}.completions", "when completion mode is Indexed")
    if parallelism is not None and parallelism > _MOST:
        why = f"must be less than or equal to {_MOST} when completion mode is Indexed"
        yield invalid(f"{path}.parallelism", parallelism, why)
    if failed is not None and completions is not None and failed > completions:
        yield invalid(f"{path}.maxFailedIndexes", failed, "must be less than or equal to completions")
    if failed is not None and failed > _MOST:
        yield invalid(f"{path}.maxFailedIndexes", failed, f"must be less than or equal to {_MOST}")
    if completions is None or completions <= _MOST or per_index is None:
        return
    if failed is None:
        yield required(f"{path}.maxFailedIndexes", f"must be specified when completions is above {_MOST}")
    for key, value in (("parallelism", parallelism), ("maxFailedIndexes", failed)):
        if value is not None and value > _MOST_OF_MANY:
            why = f"must be less than or equal to {_MOST_OF_MANY} when completions are above {_MOST} and used with "
            yield invalid(f"{path}.{key}", value, f"{why}backoff limit per index")


def _replacement(spec: Document, path: str) -> Iterator[Cause]:
    policy = spec.get("podReplacementPolicy")
    allowed = ("Failed",) if spec.get("podFailurePolicy") is not None else ("Failed", "TerminatingOrFailed")
    if policy is not None and policy not in allowed:
        yield unsupported(path, policy, allowed)


def _restarts(spec: Document, policy: str, path: str) -> Iterator[Cause]:
    where = f"{path}.template.spec.restartPolicy"
    if policy in ("Always", ""):
        yield required(where, 'valid values: "OnFailure", "Never"')
    elif policy not in ("OnFailure", "Never"):
        yield unsupported(where, policy, ("OnFailure", "Never"))
    elif spec.get("podFailurePolicy") is not None and policy != "Never":
        yield invalid(where, policy, f"only {quoted('Never')} is supported when podFailurePolicy is specified")


def _completions(spec: Document, old: Document) -> Iterator[Cause]:
    now, before = spec.get("completions"), old.get("completions")
    if now == before:
        return
    if spec.get("completionMode") != "Indexed":
        yield invalid("spec.completions", now, IMMUTABLE)
    elif now is not None and now != spec.get("parallelism"):
        yield invalid("spec.completions", now, "can only be modified in tandem with spec.parallelism")


def _template_update(spec: Document, old: Document) -> Iterator[Cause]:
    """Templates are fixed, save for what places and sizes the pods of a job that is suspended and has none."""
    before, status = old.get("spec") or {}, old.get("status") or {}
    template, earlier = spec.get("template") or {}, before.get("template") or {}
    conditions = status.get("conditions") or ()
    halted = any(each.get("type") == "Suspended" and each.get("status") == "True" for each in conditions)
    waiting = before.get("suspend") and (not status.get("startTime") or halted) and not status.get("active")
    if not waiting:
        if template != earlier:
            yield invalid("spec.template", template, IMMUTABLE)
        return
    if _sized(template) != _sized(earlier):
        yield invalid("spec.template.spec", template.get("spec"), IMMUTABLE)


def _sized(template: Document) -> Document:
    """The spec of a template without what a suspended job may change."""
    free = ("nodeSelector", "tolerations", "schedulingGates")
    spec = {key: value for key, value in (template.get("spec") or {}).items() if key not in free}
    if affinity := {k: v for k, v in (spec.pop("affinity", None) or {}).items() if k != "nodeAffinity"}:
        spec["affinity"] = affinity
    for key in ("containers", "initContainers"):
        if key in spec:
            spec[key] = [{k: v for k, v in each.items() if k != "resources"} for each in spec[key]]
    return spec


def _shown_failures(policy: Document) -> Struct:
    def rule(each: Document) -> Struct:
        codes, patterns = each.get("onExitCodes"), each.get("onPodConditions")
        shown = go_struct(codes, ("containerName", "operator", "values"), {"operator": ""}) if codes else None
        conditions = [go_struct(pattern, ("type", "status")) for pattern in patterns or ()] or None
        return Struct({"Action": each.get("action", ""), "OnExitCodes": shown, "OnPodConditions": conditions})

    return Struct({"Rules": [rule(each) for each in policy.get("rules") or ()] or None})


def _shown_successes(policy: Document) -> Struct:
    fields = ("succeededIndexes", "succeededCount")
    return Struct({"Rules": [go_struct(each, fields) for each in policy.get("rules") or ()] or None})
