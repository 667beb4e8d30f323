"""Validation of workloads that keep pods of a template running: Deployment, ReplicaSet, StatefulSet, DaemonSet and
ReplicationController.

Upstream: pkg/apis/apps/validation/validation.go and ValidateReplicationController of core's.
"""

from collections.abc import Iterator
from typing import Any

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.model.label_selectors import LabelSelector, SelectorError
from seatrial.store.field_errors import Struct, forbidden, invalid, required, unsupported
from seatrial.store.object_meta import IMMUTABLE
from seatrial.store.validation.formats import label, not_negative
from seatrial.store.validation.pods.templates import template_causes
from seatrial.store.validation.rules import always, among, need, need_set, present, rules
from seatrial.store.validation.selectors import label_selector
from seatrial.store.validation.storage.claim_specs import claim_spec
from seatrial.store.validation.workloads.rollouts import deployment_strategy, rolling_daemon_set, rolling_stateful_set

_MISMATCH = "`selector` does not match template `labels`"
_STATEFUL = ("replicas", "template", "updateStrategy", "minReadySeconds", "ordinals", "revisionHistoryLimit")
_CLAIM_POLICY = "persistentVolumeClaimRetentionPolicy"
_STATEFUL_FIXED = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
    "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
)


def spec_of(document: Document | None) -> Document:
    """The spec of an object; empty without a spec."""
    return (document or {}).get("spec") or {}


def selector_of(selector: Document | None) -> Any:
    """A label selector as Go shows it."""
    if selector is None:
        return None
    shown = Struct()
    if labels := selector.get("matchLabels"):
        shown["matchLabels"] = dict(sorted(labels.items()))
    if expressions := selector.get("matchExpressions"):
        fields = ("key", "operator", "values")
        shown["matchExpressions"] = [{key: each[key] for key in fields if key in each} for each in expressions]
    return shown


def _selector(spec: Document, empty: str, unreadable: str | None) -> Iterator[Cause]:
    """The selector must select something, and the pods of the template."""
    selector, path = spec.get("selector"), "spec.selector"
    if selector is None:
        yield required(path)
    else:
        yield from label_selector(selector, path)
        if not selector.get("matchLabels") and not selector.get("matchExpressions"):
            yield invalid(path, Struct(), f"empty selector is invalid for {empty}")
    if unreadable is not None and not _readable(selector):
        yield invalid(path, selector_of(selector), unreadable)


def _readable(selector: Document | None) -> bool:
    try:
        LabelSelector.from_document(selector)
    except SelectorError:
        return False
    return True


def mismatch(selector: Document | None, template: Document, path: str) -> Iterator[Cause]:
    """The selector must match the labels of the template."""
    labels = (template.get("metadata") or {}).get("labels")
    if _readable(selector) and not LabelSelector.from_document(selector).matches(labels):
        yield invalid(f"{path}.metadata.labels", labels, _MISMATCH)


def _template(spec: Document, old: Document | None, kind: str) -> Iterator[Cause]:
    """Pods that are kept running are always restarted."""
    template = spec.get("template") or {}
    yield from template_causes(template, "spec.template", (old.get("template") or {}) if old else None)
    yield from _always(template, kind)


def _always(template: Document, kind: str) -> Iterator[Cause]:
    pod = template.get("spec") or {}
    if pod.get("restartPolicy") != "Always":
        yield unsupported("spec.template.spec.restartPolicy", pod.get("restartPolicy", ""), ("Always",))
    if pod.get("activeDeadlineSeconds") is not None:
        why = f"activeDeadlineSeconds in {kind} is not Supported"
        yield forbidden("spec.template.spec.activeDeadlineSeconds", why)


def _fixed_selector(spec: Document, old: Document | None) -> Iterator[Cause]:
    if old is not None and spec.get("selector") != old.get("selector"):
        yield invalid("spec.selector", selector_of(spec.get("selector")), IMMUTABLE)


def _counts(spec: Document, path: str, *keys: str) -> Iterator[Cause]:
    for key in keys:
        yield from not_negative(spec.get(key), f"{path}.{key}")


def _readable_template(spec: Document, old: Document | None, kind: str) -> Iterator[Cause]:
    selector = spec.get("selector")
    if _readable(selector):
        if selector is None or selector.get("matchLabels") or selector.get("matchExpressions"):
            yield from mismatch(selector, spec.get("template") or {}, "spec.template")
        yield from _template(spec, old, kind)


def deployment(spec: Document, old: Document | None) -> Iterator[Cause]:
    """The spec of a Deployment."""
    yield from _counts(spec, "spec", "replicas")
    yield from _selector(spec, "deployment", "invalid label selector")
    yield from _readable_template(spec, old, "ReplicaSet")
    yield from deployment_strategy(spec.get("strategy") or {}, "spec.strategy")
    yield from _counts(spec, "spec", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds")
    deadline = spec.get("progressDeadlineSeconds")
    if deadline is not None and deadline <= spec.get("minReadySeconds", 0):
        yield invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds")
    yield from _fixed_selector(spec, old)


def replica_set(spec: Document, old: Document | None) -> Iterator[Cause]:
    """The spec of a ReplicaSet."""
    yield from _counts(spec, "spec", "replicas", "minReadySeconds")
    yield from _selector(spec, "deployment", "invalid label selector")
    yield from _readable_template(spec, old, "ReplicaSet")
    yield from _fixed_selector(spec, old)


def replication_controller(spec: Document, old: Document | None) -> Iterator[Cause]:
    """The spec of a ReplicationController."""
    yield from _REPLICATION(spec, "spec")
    selector, template = spec.get("selector"), spec.get("template")
    if template is None:
        return
    labels = (template.get("metadata") or {}).get("labels")
    if selector and not LabelSelector.from_labels(selector).matches(labels):
        yield invalid("spec.template.metadata.labels", labels, _MISMATCH)
    yield from _template(spec, old, "ReplicationController")


_REPLICATION = rules(
    present("minReadySeconds", not_negative), need("selector"), need_set("replicas", not_negative), need_set("template")
)


def daemon_set(spec: Document, old: Document | None) -> Iterator[Cause]:
    """The spec of a DaemonSet."""
    selector = spec.get("selector")
    yield from label_selector(selector, "spec.selector")
    yield from mismatch(selector, spec.get("template") or {}, "spec.template")
    if selector is not None and not selector.get("matchLabels") and not selector.get("matchExpressions"):
        yield invalid("spec.selector", Struct(), "empty selector is invalid for daemonset")
    yield from _template(spec, old, "DaemonSet")
    yield from _counts(spec, "spec", "minReadySeconds")
    yield from rolling_daemon_set(spec.get("updateStrategy") or {}, "spec.updateStrategy")
    yield from _counts(spec, "spec", "revisionHistoryLimit")
    yield from _fixed_selector(spec, old)


def stateful_set(spec: Document, old: Document | None) -> Iterator[Cause]:
    """The spec of a StatefulSet."""
    yield from _MANAGEMENT(spec, "spec")
    yield from rolling_stateful_set(spec.get("updateStrategy") or {}, "spec.updateStrategy")
    yield from _RETENTION(spec, "spec")
    claims = spec.get("volumeClaimTemplates") or ()
    if old is None:
        for index, claim in enumerate(claims):
            yield from claim_spec(claim.get("spec") or {}, f"spec.volumeClaimTemplates[{index}].spec")
    yield from _counts(spec, "spec", "replicas", "minReadySeconds")
    yield from not_negative((spec.get("ordinals") or {}).get("start"), "spec.ordinals.start")
    if old is None and spec.get("serviceName"):
        yield from label(spec["serviceName"], "spec.serviceName")
    yield from _selector(spec, "statefulset", "")
    if _readable(spec.get("selector")):
        yield from _stateful_template(spec, old)
    yield from _always(spec.get("template") or {}, "StatefulSet")
    if old is not None and _fixed(spec) != _fixed(old):
        yield forbidden("spec", _STATEFUL_FIXED)


def _management(policy: str, path: str) -> Iterator[Cause]:
    if policy not in ("OrderedReady", "Parallel"):
        yield invalid(path, policy, "must be 'OrderedReady' or 'Parallel'")


_KEPT = among("Retain", "Delete")
_MANAGEMENT = rules(need("podManagementPolicy", _management))
_RETENTION = rules(present(_CLAIM_POLICY, rules(always("whenDeleted", _KEPT), always("whenScaled", _KEPT))))


def _stateful_template(spec: Document, old: Document | None) -> Iterator[Cause]:
    selector, template = spec.get("selector"), spec.get("template") or {}
    if selector is None or selector.get("matchLabels") or selector.get("matchExpressions"):
        yield from mismatch(selector, template, "spec.template")
    filled = _with_claims(spec)
    yield from template_causes(filled, "spec.template", _with_claims(old) if old is not None else None)


def _with_claims(spec: Document) -> Document:
    """The template with the volumes that the claims will be; host names are the set's own."""
    template = dict(spec.get("template") or {})
    pod = {k: v for k, v in (template.get("spec") or {}).items() if k not in ("hostname", "subdomain")}
    names = [(claim.get("metadata") or {}).get("name", "") for claim in spec.get("volumeClaimTemplates") or ()]
    if names:
        made = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in dict.fromkeys(names)]
        pod["volumes"] = made + [volume for volume in pod.get("volumes") or () if volume.get("name") not in names]
    return {**template, "spec": pod}


def _fixed(spec: Document) -> Document:
    claims = [
        {key: value for key, value in claim.items() if key != "status"}
        for claim in spec.get("volumeClaimTemplates") or ()
    ]
    rest = {key: value for key, value in spec.items() if key not in _STATEFUL and key != _CLAIM_POLICY}
    return {**rest, "volumeClaimTemplates": claims}
