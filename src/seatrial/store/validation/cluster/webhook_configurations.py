"""Configurations of admission webhooks, and the match conditions that policies have, too.

Upstream: pkg/apis/admissionregistration/validation/validation.go.
"""

from collections.abc import Iterator
from typing import Any

from seatrial.model import cel
from seatrial.model.cel import CelSyntaxError
from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import duplicate, invalid, required, too_many, unsupported
from seatrial.store.object_meta import subdomain_faults
from seatrial.store.validation.cluster.webhook_clients import REVIEWS, client_causes, knows_reviews, review_causes
from seatrial.store.validation.formats import qualified
from seatrial.store.validation.selectors import label_selector

VARIABLES = frozenset(("object", "oldObject", "request", "authorizer"))
"""What the match conditions of a webhook can name."""
MOST_CONDITIONS = 64
OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
_CHOICES = {
    "failurePolicy": ("Fail", "Ignore"),
    "matchPolicy": ("Equivalent", "Exact"),
    "sideEffects": ("None", "NoneOnDryRun"),
    "reinvocationPolicy": ("IfNeeded", "Never"),
}


def create_causes(document: Document) -> Iterator[Cause]:
    """Validation errors of a new configuration."""
    yield from _causes(document, None)


def update_causes(document: Document, old: Document, subresource: str) -> Iterator[Cause]:
    """Validation errors of a changed configuration; what earlier versions let in may stay."""
    yield from _causes(document, old)


def condition_causes(conditions: list[Document], path: str, variables: frozenset[str]) -> Iterator[Cause]:
    """Validation errors of match conditions."""
    if len(conditions) > MOST_CONDITIONS:
        yield too_many(path, len(conditions), MOST_CONDITIONS)
    seen: set[str] = set()
    for index, condition in enumerate(conditions):
        here, name, text = f"{path}[{index}]", condition.get("name") or "", (condition.get("expression") or "").strip()
        if not text:
            yield required(f"{here}.expression")
        else:
            try:
                cel.compile_expression(text, variables)
            except CelSyntaxError as error:
                yield invalid(f"{here}.expression", text, f"compilation failed: {error}")
        if not name:
            yield required(f"{here}.name")
        else:
            yield from qualified(name, f"{here}.name")
            if name in seen:
                yield duplicate(f"{here}.name", name)
        seen.add(name)


def _causes(document: Document, old: Document | None) -> Iterator[Cause]:
    webhooks, before = document.get("webhooks") or [], (old or {}).get("webhooks") or []
    same_conditions = old is not None and _conditions(webhooks) == _conditions(before)
    had_unknown = any(not knows_reviews(each.get("admissionReviewVersions") or []) for each in before)
    had_twice = len({each.get("name") for each in before}) < len(before)
    seen: set[str] = set()
    for index, webhook in enumerate(webhooks):
        path, name = f"webhooks[{index}]", webhook.get("name") or ""
        yield from _webhook_causes(webhook, path, before)
        if not same_conditions:
            yield from condition_causes(webhook.get("matchConditions") or [], f"{path}.matchConditions", VARIABLES)
        versions, missing = webhook.get("admissionReviewVersions") or [], f"must specify one of {', '.join(REVIEWS)}"
        yield from review_causes(versions, f"{path}.admissionReviewVersions", missing, must_know=not had_unknown)
        if name in seen and not had_twice:
            yield duplicate(f"{path}.name", name)
        seen.add(name)


def _webhook_causes(webhook: Document, path: str, before: list[Document]) -> Iterator[Cause]:
    yield from _name_causes(webhook.get("name") or "", f"{path}.name")
    for index, rule in enumerate(webhook.get("rules") or ()):
        yield from _rule_causes(rule, f"{path}.rules[{index}]")
    had_effects = any(each.get("sideEffects") not in _CHOICES["sideEffects"] for each in before)
    for key, allowed in _CHOICES.items():
        value = webhook.get(key)
        if value is None and key == "sideEffects":
            yield required(f"{path}.{key}", f"must specify one of {', '.join(allowed)}")
        elif value is not None and value not in allowed and not (key == "sideEffects" and had_effects):
            yield unsupported(f"{path}.{key}", value, allowed)
    seconds = webhook.get("timeoutSeconds")
    if seconds is not None and not 1 <= seconds <= 30:
        yield invalid(f"{path}.timeoutSeconds", seconds, "the timeout value must be between 1 and 30 seconds")
    for key in ("namespaceSelector", "objectSelector"):
        yield from label_selector(webhook.get(key), f"{path}.{key}")
    yield from client_causes(webhook.get("clientConfig") or {}, f"{path}.clientConfig")


def _name_causes(name: str, path: str) -> Iterator[Cause]:
    if not name:
        yield required(path)
    elif faults := subdomain_faults(name):
        yield invalid(path, name, ",".join(faults))
    elif name.count(".") < 2:
        yield invalid(path, name, "should be a domain with at least three segments separated by dots")


def _rule_causes(rule: Document, path: str) -> Iterator[Cause]:
    for key, what in (("operations", "operations"), ("apiGroups", "API groups"), ("apiVersions", "API versions")):
        values = rule.get(key) or []
        if not values:
            yield required(f"{path}.{key}")
        if len(values) > 1 and "*" in values:
            yield invalid(f"{path}.{key}", values, f"if '*' is present, must not specify other {what}")
        for index, value in enumerate(values):
            if key == "operations" and value not in OPERATIONS:
                yield unsupported(f"{path}.{key}[{index}]", value, OPERATIONS)
            if key == "apiVersions" and not value:
                yield required(f"{path}.{key}[{index}]")
    yield from _resource_causes(rule.get("resources") or [], f"{path}.resources")
    scope = rule.get("scope")
    if scope is not None and scope not in ("*", "Cluster", "Namespaced"):
        yield unsupported(f"{path}.scope", scope, ("*", "Cluster", "Namespaced"))


def _resource_causes(resources: list[str], path: str) -> Iterator[Cause]:
    if not resources:
        yield required(path)
    whole, parts = set(), set()
    for index, resource in enumerate(resources):
        if not resource:
            yield required(f"{path}[{index}]")
            continue
        name, slash, part = resource.partition("/")
        if not slash:
            continue
        if name in whole:
            yield invalid(f"{path}[{index}]", resource, f"if '{name}/*' is present, must not specify {resource}")
        if part in parts:
            yield invalid(f"{path}[{index}]", resource, f"if '*/{part}' is present, must not specify {resource}")
        if part == "*":
            whole.add(name)
        if name == "*":
            parts.add(part)
    if len(resources) > 1 and "*/*" in resources:
        yield invalid(path, resources, "if '*/*' is present, must not specify other resources")
    plain = [resource for resource in resources if resource and "/" not in resource]
    if "*" in resources and plain and plain[-1] != "*":
        # As upstream, the last one decides.
        yield invalid(path, resources, "if '*' is present, must not specify other resources without subresources")


def _conditions(webhooks: list[Document]) -> list[Any]:
    return [webhook.get("matchConditions") or [] for webhook in webhooks]
