"""Printer columns of storage, network, configuration and access kinds.

Upstream: pkg/printers/internalversion/printers.go.
"""

from typing import Any

from seatrial.model.documents import Document
from seatrial.store.printers.cells import (
    NONE,
    UNKNOWN,
    UNSET,
    age,
    at,
    human_duration,
    items,
    labels_text,
    name,
    number,
    selector_text,
    since,
    text,
)
from seatrial.store.printers.columns import Columns, columns, plain

MODES = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}
DEFAULT_CLASS = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")
CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
NARROW = 16


def volume_cells(obj: Document, now: int) -> list[Any]:
    claim = at(obj, "spec", "claimRef")
    return [
        name(obj),
        text(obj, "spec", "capacity", "storage", absent="0"),
        _modes(at(obj, "spec", "accessModes")),
        text(obj, "spec", "persistentVolumeReclaimPolicy"),
        _phase(obj),
        f"{text(claim, 'namespace')}/{text(claim, 'name')}" if claim else "",
        _class(obj),
        text(obj, "spec", "volumeAttributesClassName", absent=UNSET),
        text(obj, "status", "reason"),
        age(obj, now),
        text(obj, "spec", "volumeMode", absent=UNSET),
    ]


def claim_cells(obj: Document, now: int) -> list[Any]:
    volume = text(obj, "spec", "volumeName")
    return [
        name(obj),
        _phase(obj),
        volume,
        text(obj, "status", "capacity", "storage", absent="0") if volume else "",
        _modes(at(obj, "status", "accessModes")) if volume else "",
        _class(obj),
        text(obj, "spec", "volumeAttributesClassName", absent=UNSET),
        age(obj, now),
        text(obj, "spec", "volumeMode", absent=UNSET),
    ]


def _phase(obj: Document) -> str:
    return "Terminating" if at(obj, "metadata", "deletionTimestamp") else text(obj, "status", "phase")


def _class(obj: Document) -> str:
    annotations = at(obj, "metadata", "annotations") or {}
    return str(annotations.get(CLASS_ANNOTATION) or text(obj, "spec", "storageClassName"))


def _modes(modes: Any) -> str:
    wanted = modes if isinstance(modes, list) else []
    return ",".join(short for mode, short in MODES.items() if mode in wanted)


def storage_class_cells(obj: Document, now: int) -> list[Any]:
    annotations = at(obj, "metadata", "annotations") or {}
    default = " (default)" if any(annotations.get(key) == "true" for key in DEFAULT_CLASS) else ""
    return [
        name(obj) + default,
        text(obj, "provisioner"),
        text(obj, "reclaimPolicy", absent="Delete"),
        text(obj, "volumeBindingMode", absent="Immediate"),
        bool(at(obj, "allowVolumeExpansion")),
        age(obj, now),
    ]


def csi_driver_cells(obj: Document, now: int) -> list[Any]:
    spec = at(obj, "spec") or {}
    requests = spec.get("tokenRequests")
    return [
        name(obj),
        spec.get("attachRequired", True),
        bool(spec.get("podInfoOnMount")),
        bool(spec.get("storageCapacity")),
        UNSET if requests is None else ",".join(text(r, "audience") for r in requests),
        bool(spec.get("requiresRepublish")),
        ",".join(items(spec, "volumeLifecycleModes")) or NONE,
        age(obj, now),
    ]


def service_cells(obj: Document, now: int) -> list[Any]:
    addresses = items(obj, "spec", "clusterIPs")
    return [
        name(obj),
        text(obj, "spec", "type"),
        addresses[0] if addresses else NONE,
        _external_address(obj),
        ",".join(map(_port, items(obj, "spec", "ports"))) or NONE,
        age(obj, now),
        labels_text(at(obj, "spec", "selector")),
    ]


def _external_address(obj: Document) -> str:
    type, given = text(obj, "spec", "type"), items(obj, "spec", "externalIPs")
    if type in ("ClusterIP", "NodePort"):
        return ",".join(given) or NONE
    if type == "LoadBalancer":
        return ",".join(filter(None, (_balancer(obj), *given))) or "<pending>"
    return text(obj, "spec", "externalName") if type == "ExternalName" else UNKNOWN


def _balancer(obj: Document) -> str:
    entries = items(obj, "status", "loadBalancer", "ingress")
    return ",".join(sorted({text(e, "ip") or text(e, "hostname") for e in entries} - {""}))


def _port(port: Document) -> str:
    outer = f":{port['nodePort']}" if port.get("nodePort") else ""
    return f"{port.get('port')}{outer}/{port.get('protocol', '')}"


def ingress_cells(obj: Document, now: int) -> list[Any]:
    rules = items(obj, "spec", "rules")
    hosts = [rule["host"] for rule in rules if rule.get("host")]
    more = f" + {len(rules) - 3} more..." if len(rules) > 3 else ""
    address = _balancer(obj)
    return [
        name(obj),
        text(obj, "spec", "ingressClassName", absent=NONE),
        (",".join(hosts[:3]) + more) if hosts else "*",
        address[: NARROW - 3] + "..." if len(address) > NARROW else address,
        "80, 443" if items(obj, "spec", "tls") else "80",
        age(obj, now),
    ]


def endpoints_cells(obj: Document, now: int) -> list[Any]:
    found = []
    for subset in items(obj, "subsets"):
        ports = [f":{port.get('port')}" for port in items(subset, "ports")] or [""]
        found += [text(a, "ip") + port for port in ports for a in items(subset, "addresses")]
    return [name(obj), _some(found, NONE), age(obj, now)]


def endpoint_slice_cells(obj: Document, now: int) -> list[Any]:
    ports = [text(p, "port") or text(p, "name", absent="*") for p in items(obj, "ports")]
    addresses = [a for endpoint in items(obj, "endpoints") for a in items(endpoint, "addresses")]
    return [name(obj), text(obj, "addressType"), _some(ports, UNSET), _some(addresses, UNSET), age(obj, now)]


def _some(found: list[str], absent: str) -> str:
    more = f" + {len(found) - 3} more..." if len(found) > 3 else ""
    return ",".join(found[:3]) + more if found else absent


def event_cells(obj: Document, now: int) -> list[Any]:
    event = at(obj, "eventTime")
    first = since(at(obj, "firstTimestamp") or at(obj, "deprecatedFirstTimestamp") or event, now)
    last_seen = at(obj, "lastTimestamp") or at(obj, "deprecatedLastTimestamp")
    last = since(last_seen, now) if last_seen else first
    count = number(obj, "count") or number(obj, "deprecatedCount") or 1
    if at(obj, "series"):
        last, count = since(at(obj, "series", "lastObservedTime"), now), number(obj, "series", "count")
    about = at(obj, "involvedObject") or at(obj, "regarding") or {}
    kind = text(about, "kind").lower()
    source = at(obj, "source") or at(obj, "deprecatedSource") or {}
    component = text(source, "component") or text(obj, "reportingComponent") or text(obj, "reportingController")
    instance = text(source, "host") or text(obj, "reportingInstance")
    return [
        last,
        text(obj, "type"),
        text(obj, "reason"),
        f"{kind}/{about['name']}" if about.get("name") else kind,
        text(about, "fieldPath"),
        f"{component}, {instance}" if instance else component,
        (text(obj, "message") or text(obj, "note")).strip(),
        first,
        count,
        name(obj),
    ]


def binding_cells(obj: Document, now: int) -> list[Any]:
    role = f"{text(obj, 'roleRef', 'kind')}/{text(obj, 'roleRef', 'name')}"
    subjects = items(obj, "subjects")

    def named(kind: str) -> str:
        accounts = kind == "ServiceAccount"
        chosen = [s for s in subjects if s.get("kind") == kind]
        return ", ".join(f"{text(s, 'namespace')}/{text(s, 'name')}" if accounts else text(s, "name") for s in chosen)

    return [name(obj), role, age(obj, now), named("User"), named("Group"), named("ServiceAccount")]


def signing_request_cells(obj: Document, now: int) -> list[Any]:
    types = {c.get("type") for c in items(obj, "status", "conditions")}
    status = "Denied" if "Denied" in types else "Approved" if "Approved" in types else "Pending"
    status += ",Failed" * ("Failed" in types) + ",Issued" * bool(at(obj, "status", "certificate"))
    seconds = at(obj, "spec", "expirationSeconds")
    return [
        name(obj),
        age(obj, now),
        text(obj, "spec", "signerName", absent=NONE),
        text(obj, "spec", "username"),
        human_duration(seconds) if isinstance(seconds, int) else NONE,
        status,
    ]


def quota_cells(obj: Document, now: int) -> list[Any]:
    hard, used = at(obj, "status", "hard") or {}, at(obj, "status", "used") or {}
    lines: dict[bool, list[str]] = {True: [], False: []}
    for resource in sorted(hard):
        lines[resource.startswith("limits.")].append(f"{resource}: {used.get(resource, '0')}/{hard[resource]}")
    return [name(obj), ", ".join(lines[False]), ", ".join(lines[True]), age(obj, now)]


def claim_state_cells(obj: Document, now: int) -> list[Any]:
    deleted, allocation = at(obj, "metadata", "deletionTimestamp"), at(obj, "status", "allocation")
    states = ["deleted"] if deleted else []
    if allocation is not None:
        states += ["allocated", "reserved"] if items(obj, "status", "reservedFor") else ["allocated"]
    elif not deleted:
        states.append("pending")
    return [name(obj), ",".join(states), age(obj, now)]


def flow_schema_cells(obj: Document, now: int) -> list[Any]:
    dangling = (c for c in items(obj, "status", "conditions") if c.get("type") == "Dangling")
    return [
        name(obj),
        text(obj, "spec", "priorityLevelConfiguration", "name"),
        number(obj, "spec", "matchingPrecedence"),
        text(obj, "spec", "distinguisherMethod", "type", absent=NONE),
        age(obj, now),
        text(next(dangling, None), "status", absent="?"),
    ]


def priority_level_cells(obj: Document, now: int) -> list[Any]:
    limited = at(obj, "spec", "limited") or {}
    queuing = at(limited, "limitResponse", "queuing") or {}
    limits = [queuing.get(key, NONE) for key in ("queues", "handSize", "queueLengthLimit")]
    return [
        name(obj),
        text(obj, "spec", "type"),
        limited.get("nominalConcurrencyShares", NONE),
        *limits,
        age(obj, now),
    ]


def ingress_class_cells(obj: Document, now: int) -> list[Any]:
    annotations = at(obj, "metadata", "annotations") or {}
    default = " (default)" if annotations.get("ingressclass.kubernetes.io/is-default-class") == "true" else ""
    parameters = at(obj, "spec", "parameters")
    reference = NONE
    if parameters:
        group = f".{parameters['apiGroup']}" if parameters.get("apiGroup") else ""
        reference = f"{text(parameters, 'kind')}{group}/{text(parameters, 'name')}"
    return [name(obj) + default, text(obj, "spec", "controller"), reference, age(obj, now)]


def address_cells(obj: Document, now: int) -> list[Any]:
    parent = at(obj, "spec", "parentRef")
    reference = NONE
    if parent:
        group = f".{parent['group']}" if parent.get("group") else ""
        parts = [f"{text(parent, 'resource')}{group}".lower(), text(parent, "namespace"), text(parent, "name")]
        reference = "/".join(filter(None, parts))
    # Upstream has a cell for the age but no column.
    return [name(obj), reference, age(obj, now)]


def policy_binding_cells(obj: Document, now: int) -> list[Any]:
    reference = at(obj, "spec", "paramRef") or {}
    parameter = UNSET
    if reference.get("name"):
        parameter = f"{reference.get('namespace') or '*'}/{reference['name']}"
    elif reference.get("selector") is not None:
        parameter = selector_text(reference["selector"])
    return [name(obj), text(obj, "spec", "policyName"), parameter, age(obj, now)]


def policy_cells(field: str) -> Any:
    def cells(obj: Document, now: int) -> list[Any]:
        kind = at(obj, "spec", "paramKind")
        parameter = f"{text(kind, 'apiVersion')}/{text(kind, 'kind')}" if kind else UNSET
        return [name(obj), len(items(obj, "spec", field)), parameter, age(obj, now)]

    return cells


BINDINGS = Columns(columns("Name Role Age +Users +Groups +ServiceAccounts"), binding_cells)
EVENTS = Columns(
    columns("Last_Seen Type Reason Object +Subobject +Source Message +First_Seen +Count +Name"), event_cells
)
CREATED_AT = Columns(columns("Name Created_At:date"), lambda o, _: [name(o), text(o, "metadata", "creationTimestamp")])
"""What upstream prints of kinds that have no printer of their own."""


def api_service_cells(obj: Document) -> list[Any]:
    """The service behind an APIService, or Local, and whether it is available."""
    service = at(obj, "spec", "service")
    where = f"{service.get('namespace', '')}/{service.get('name', '')}" if service else "Local"
    available = [each for each in items(obj, "status", "conditions") if each.get("type") == "Available"]
    state = available[0] if available else {"status": "Unknown"}
    reason = f" ({state['reason']})" if state["status"] != "True" and state.get("reason") else ""
    return [where, f"{state['status']}{reason}"]


WEBHOOKS = plain("Name Webhooks:integer Age", lambda obj: [len(items(obj, "webhooks"))])
POLICY_BINDINGS = Columns(columns("Name PolicyName ParamRef Age"), policy_binding_cells)
