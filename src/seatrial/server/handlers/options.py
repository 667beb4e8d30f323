"""The options of a request, from its query or its body, checked as upstream checks them.

Upstream: k8s.io/apimachinery/pkg/apis/meta/v1/validation/validation.go.
"""

from collections.abc import Iterable
from typing import Any, cast

from seatrial.model.documents import Document
from seatrial.model.errors import BadRequest, Cause, Invalid
from seatrial.server.messages import Request
from seatrial.store.field_errors import shown
from seatrial.store.options import (
    CreateOptions,
    DeleteOptions,
    FieldValidation,
    PatchOptions,
    Propagation,
    UpdateOptions,
)

LONGEST_MANAGER = 128
VALIDATIONS = ("", "Ignore", "Warn", "Strict")
PROPAGATIONS = ("Foreground", "Background", "Orphan")


def create_options(request: Request, *, trusted: bool = False) -> CreateOptions:
    """Options of a POST; `trusted` says that the document has been checked."""
    _check(request, "CreateOptions")
    return CreateOptions(**_write_options(request), trusted=trusted)


def update_options(request: Request, *, trusted: bool = False) -> UpdateOptions:
    """Options of a PUT; `trusted` says that the document has been checked."""
    _check(request, "UpdateOptions")
    return UpdateOptions(**_write_options(request), trusted=trusted)


def patch_options(request: Request, *, apply: bool) -> PatchOptions:
    """Options of a PATCH; an apply must name its manager, and it alone may force."""
    causes = []
    if apply and not request.query.get("fieldManager"):
        causes.append(Cause("fieldManager", "Required value: is required for apply patch", "FieldValueRequired"))
    if not apply and "force" in request.query:
        text = "Forbidden: may not be specified for non-apply patch"
        causes.append(Cause("force", text, "FieldValueForbidden"))
    _check(request, "PatchOptions", causes)
    return PatchOptions(**_write_options(request), force=request.flag("force"))


def manager_of(request: Request) -> str:
    """The field manager of a write: the query's, or the program in the User-Agent."""
    named = request.query.get("fieldManager", "")
    return named or request.header("user-agent").partition("/")[0][:LONGEST_MANAGER] or "unknown"


def is_dry_run(request: Request) -> bool:
    return request.query.get("dryRun") == "All"


def delete_options(request: Request, body: Document) -> DeleteOptions:
    """Options of a DELETE: the body's, or those of the query where there is no body."""
    fields = dict(body) if body else _query_options(request)
    causes = list(_deletion_causes(fields))
    if causes:
        raise invalid("DeleteOptions", causes)
    preconditions = fields.get("preconditions") or {}
    policy = fields.get("propagationPolicy") or ""
    if fields.get("orphanDependents") is not None:
        policy = "Orphan" if fields["orphanDependents"] else "Background"
    return DeleteOptions(
        grace_period_seconds=fields.get("gracePeriodSeconds"),
        propagation_policy=cast(Propagation, policy),
        preconditions_uid=preconditions.get("uid") or "",
        preconditions_resource_version=preconditions.get("resourceVersion") or "",
        dry_run=bool(fields.get("dryRun")) or is_dry_run(request),
        user=request.user,
    )


def _query_options(request: Request) -> Document:
    fields: Document = {}
    if request.query.get("dryRun"):
        fields["dryRun"] = [request.query["dryRun"]]
    grace = request.number("gracePeriodSeconds")
    if grace is not None:
        fields["gracePeriodSeconds"] = grace
    if request.query.get("propagationPolicy"):
        fields["propagationPolicy"] = request.query["propagationPolicy"]
    if request.query.get("orphanDependents"):
        fields["orphanDependents"] = request.flag("orphanDependents")
    return fields


def _deletion_causes(fields: Document) -> Iterable[Cause]:
    expectations: tuple[tuple[str, type[object], str], ...] = (
        ("gracePeriodSeconds", int, "an integer"),
        ("propagationPolicy", str, "a string"),
        ("orphanDependents", bool, "a boolean"),
        ("preconditions", dict, "an object"),
        ("dryRun", list, "a list"),
    )
    for field, wanted, expected in expectations:
        value = fields.get(field)
        if value is not None and (not isinstance(value, wanted) or (wanted is int and isinstance(value, bool))):
            raise BadRequest(f"DeleteOptions: {field}: expected {expected}")
    for field in ("uid", "resourceVersion"):
        if not isinstance((fields.get("preconditions") or {}).get(field) or "", str):
            raise BadRequest(f"DeleteOptions: preconditions.{field}: expected a string")
    policy = fields.get("propagationPolicy")
    if policy is not None and fields.get("orphanDependents") is not None:
        why = "orphanDependents and deletionPropagation cannot be both set"
        yield Cause("propagationPolicy", f'Invalid value: "{policy}": {why}')
    if policy is not None and policy not in PROPAGATIONS:
        yield _unsupported("propagationPolicy", policy, (*PROPAGATIONS, "nil"))
    for value in fields.get("dryRun") or ():
        if value != "All":
            yield _unsupported("dryRun", fields["dryRun"], ("All",))
            break


def _write_options(request: Request) -> dict[str, Any]:
    return {
        "dry_run": is_dry_run(request),
        "field_manager": manager_of(request),
        "field_validation": cast(FieldValidation, request.query.get("fieldValidation") or "Warn"),
        "owned": True,
        "user": request.user,
        "warnings": request.warnings,
    }


def _check(request: Request, what: str, causes: Iterable[Cause] = ()) -> None:
    found = list(causes)
    query = request.query
    if not query and not found:
        return
    manager = query.get("fieldManager", "")
    if len(manager) > LONGEST_MANAGER:
        found.append(
            Cause("fieldManager", f"Too long: may not be more than {LONGEST_MANAGER} bytes", "FieldValueTooLong")
        )
    for position, letter in enumerate(manager):
        if not letter.isprintable():
            text = f"invalid character U+{ord(letter):04X} (at position {position})"
            found.append(Cause("fieldManager", f'Invalid value: "{manager}": {text}'))
    if query.get("dryRun", "All") not in ("All", ""):
        found.append(_unsupported("dryRun", [query["dryRun"]], ("All",)))
    if query.get("fieldValidation", "") not in VALIDATIONS:
        found.append(_unsupported("fieldValidation", query["fieldValidation"], VALIDATIONS))
    if found:
        raise invalid(what, found)


def _unsupported(field: str, value: object, supported: Iterable[str]) -> Cause:
    choices = ", ".join(f'"{choice}"' for choice in supported)
    return Cause(field, f"Unsupported value: {shown(value)}: supported values: {choices}", "FieldValueNotSupported")


def invalid(what: str, causes: Iterable[Cause]) -> Invalid:
    """The refusal of options of a meta.k8s.io kind."""
    found = list(causes)
    texts = [f"{cause.field}: {cause.message}" for cause in found]
    text = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    return Invalid(f'{what}.meta.k8s.io "" is invalid: {text}', group="meta.k8s.io", kind=what, causes=found)
