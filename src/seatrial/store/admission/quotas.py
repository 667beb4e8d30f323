"""ResourceQuota: a namespace gets no more than its quotas allow.

Upstream: k8s.io/apiserver/pkg/admission/plugin/resourcequota. As there, usage is carried on in the quota's status with
every write that is let in; before a write is refused, a stale status is recomputed from the objects.
"""

from typing import TYPE_CHECKING, Any, Final

from seatrial.model.documents import Document
from seatrial.model.kinds import Kind
from seatrial.model.pod_resources import Resources, add, container_resources, parsed
from seatrial.model.quantity import Quantity
from seatrial.store.admission.namespaced_reader import Reader, forbidden
from seatrial.store.admission.quota_charges import charge, compute_charge, is_in_scope, is_terminating, limited_names
from seatrial.store.admission.resources import has_pod_level_resources
from seatrial.store.deferral import long_turn
from seatrial.store.requests import Request

if TYPE_CHECKING:
    from seatrial.store.store import Store

_POD: Final = ("", "Pod")
_QUOTA: Final = ("", "ResourceQuota")
_ON_UPDATE: Final = frozenset({("", "Service"), ("", "PersistentVolumeClaim"), ("resource.k8s.io", "ResourceClaim")})
_IGNORED: Final = frozenset({("", "Event"), ("events.k8s.io", "Event"), ("", "Binding")})
_MUST_BE_SET: Final = frozenset(
    f"{prefix}{name}" for prefix in ("", "requests.", "limits.") for name in ("cpu", "memory")
)


def check_quota(request: Request, reader: Reader) -> None:
    """Forbidden where a write would use more than a quota allows; else the quotas' usage is brought up to date."""
    if not request.namespace or request.kind.group_kind in _IGNORED or not _is_charged_for(request):
        return
    quotas = reader.all(request.store, "v1", "ResourceQuota", request.namespace)
    updates = []
    for quota in quotas:
        hard = parsed((quota.get("spec") or {}).get("hard"))
        names = limited_names(request.kind, hard)
        if not names or not is_in_scope(quota, request.kind, request.document):
            continue
        _check_all_is_set(request, quota, names)
        delta = _delta(request, quota, names)
        if delta:
            updates.append((quota, hard, _checked(request, quota, hard, delta)))
    if not request.dry_run:
        for quota, hard, used in updates:
            _write_usage(request, quota, hard, used)


def is_charged_in(store: "Store", kind: Kind, namespace: str) -> bool:
    """Whether a quota may be charged for a new object of this kind in a namespace."""
    if not namespace or kind.group_kind in _IGNORED or not store.writes(_QUOTA):
        return False
    quota = store.kinds.named("v1", "ResourceQuota")
    return quota is not None and bool(store.list(quota, namespace))


def quota_usage(store: "Store", quota: Document, now: int) -> dict[str, str]:
    """The usage of a namespace by the names that a quota limits, counted from its objects."""
    hard = (quota.get("spec") or {}).get("hard") or {}
    used: Resources = dict.fromkeys(hard, Quantity(0))
    namespace = quota["metadata"]["namespace"]
    counted: set[tuple[str, str]] = set()
    for kind in store.kinds:
        if not kind.namespaced or kind.group_kind in counted or kind.group_kind in _IGNORED:
            continue
        counted.add(kind.group_kind)
        if names := limited_names(kind, hard):
            add(used, _counted(store, quota, kind, namespace, names, now))
    return {name: str(used[name]) for name in hard}


def _is_charged_for(request: Request) -> bool:
    if request.operation == "CREATE":
        return not request.subresource
    if request.kind.group_kind == _POD:
        if request.subresource == "resize":
            return True
        return not request.subresource and is_terminating(request.old or {}) != is_terminating(request.document)
    return not request.subresource and request.kind.group_kind in _ON_UPDATE


def _check_all_is_set(request: Request, quota: Document, names: list[str]) -> None:
    """Where cpu or memory is limited, every container must set it."""
    if request.kind.group_kind != _POD:
        return
    spec = request.document.get("spec") or {}
    required = sorted(_MUST_BE_SET.intersection(names))
    if not required or has_pod_level_resources(spec):
        return
    missing: dict[str, set[str]] = {}
    for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
        asked = compute_charge(container_resources(container, "requests"), container_resources(container, "limits"))
        for name in required:
            if name not in asked:
                missing.setdefault(name, set()).add(str(container.get("name")))
    if missing:
        said = "; ".join(f"{name} for: {','.join(sorted(missing[name]))}" for name in sorted(missing))
        raise forbidden(request, f"failed quota: {quota['metadata']['name']}: must specify {said}")


def _delta(request: Request, quota: Document, names: list[str]) -> Resources:
    """What the write adds to the usage of these names."""
    now = request.store.clock.now()
    wanted = charge(request.kind, request.document, now)
    if negative := sorted(name for name, amount in wanted.items() if amount.sign < 0):
        raise forbidden(request, f"quota usage is negative for resource(s): {','.join(negative)}")
    if request.old is not None and is_in_scope(quota, request.kind, request.old):
        before = charge(request.kind, request.old, now)
        wanted = {name: amount - before.get(name, Quantity(0)) for name, amount in wanted.items()}
    return {name: wanted[name] for name in names if name in wanted and wanted[name].sign > 0}


def _checked(request: Request, quota: Document, hard: Resources, delta: Resources) -> Resources:
    """The usage after the write; Forbidden where it is more than the quota allows."""
    now = request.store.clock.now()
    known = parsed((quota.get("status") or {}).get("used"))
    if not all(name in known for name in hard):
        known = parsed(quota_usage(request.store, quota, now))
    elif _exceeded(known, hard, delta):
        names = limited_names(request.kind, hard)
        known = {**known, **_counted(request.store, quota, request.kind, request.namespace, names, now)}
    exceeded = _exceeded(known, hard, delta)
    if exceeded:
        parts = [_listed(amounts, exceeded) for amounts in (delta, known, hard)]
        name = quota["metadata"]["name"]
        why = f"exceeded quota: {name}, requested: {parts[0]}, used: {parts[1]}, limited: {parts[2]}"
        raise forbidden(request, why)
    used = dict(known)
    add(used, delta)
    return used


def _exceeded(used: Resources, hard: Resources, delta: Resources) -> list[str]:
    return sorted(name for name, amount in delta.items() if used.get(name, Quantity(0)) + amount > hard[name])


def _listed(amounts: Resources, names: list[str]) -> str:
    return ",".join(f"{name}={amounts.get(name, Quantity(0))}" for name in names)


def _counted(store: "Store", quota: Document, kind: Kind, namespace: str, names: list[str], now: int) -> Resources:
    used: Resources = dict.fromkeys(names, Quantity(0))
    for stored in store.list(kind, namespace):
        document = stored.document()
        if is_in_scope(quota, kind, document):
            cost = charge(kind, document, now)
            add(used, {name: cost[name] for name in names if name in cost})
    return used


def _write_usage(request: Request, quota: Document, hard: Resources, used: Resources) -> None:
    kind = request.store.kinds.named("v1", "ResourceQuota")
    if kind is None:
        return
    status = {
        "hard": {name: str(amount) for name, amount in hard.items()},
        "used": {name: str(used.get(name, Quantity(0))) for name in hard},
    }

    def change(document: Document) -> None:
        current: Any = document.get("status") or {}
        document["status"] = {**current, **status}

    # A request whose other work is long is made again, and must not be charged twice: this is done at once.
    with long_turn():
        request.store.modify(
            kind,
            quota["metadata"]["name"],
            change,
            writer=request.writer,
            namespace=request.namespace,
            subresource="status",
        )
