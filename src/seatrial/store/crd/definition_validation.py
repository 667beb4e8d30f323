"""Validation of CustomResourceDefinitions.

Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go and
pkg/apiserver/schema/validation.go (structural schemas).
"""

from collections.abc import Iterator
from typing import Any

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.model.regular_expressions import RegexError, regex
from seatrial.store.crd.approval import approval_causes
from seatrial.store.crd.conversion_validation import conversion_causes, stored_version_causes
from seatrial.store.crd.default_validation import default_causes
from seatrial.store.crd.rule_validation import rule_causes, rule_text_causes
from seatrial.store.crd.validation_rules import RULES
from seatrial.store.field_errors import duplicate, forbidden, invalid, required, unsupported
from seatrial.store.object_meta import label_1035_faults, subdomain_faults

COLUMN_TYPES = ("integer", "number", "string", "boolean", "date")
TYPES = ("array", "boolean", "integer", "number", "object", "string")
UNSUPPORTED = ("id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref")
_PRESERVES = "x-kubernetes-preserve-unknown-fields"


def definition_causes(document: Document, old: Document | None = None) -> list[Cause]:
    """All errors of a definition; `old` is the one that it replaces."""
    spec = document.get("spec") or {}
    names, group = spec.get("names") or {}, spec.get("group", "")
    found: list[Cause] = []
    found += _group_causes(group)
    if spec.get("scope") not in ("Cluster", "Namespaced"):
        scope = spec.get("scope") or ""
        found.append(unsupported("spec.scope", scope, ("Cluster", "Namespaced")) if scope else required("spec.scope"))
    found += _name_causes(names)
    versions = spec.get("versions") or []
    found += _versions_causes(versions)
    alike = len({str(version.get("schema") or {}) for version in versions}) == 1
    for index, version in enumerate(versions):
        if index and alike:
            break
        found += _version_causes(version, f"spec.versions[{index}]", alike)
    found += conversion_causes(spec, old)
    found += approval_causes(document, old)
    if old is not None:
        found += stored_version_causes(document)
    return found


def _group_causes(group: str) -> Iterator[Cause]:
    if not group:
        yield required("spec.group")
    elif faults := subdomain_faults(group):
        yield invalid("spec.group", group, ",".join(faults))
    elif "." not in group:
        yield invalid("spec.group", group, "should be a domain with at least one dot")


def _name_causes(names: Document) -> Iterator[Cause]:
    for key in ("plural", "singular", "kind", "listKind"):
        value = names.get(key) or ""
        if not value:
            yield required(f"spec.names.{key}")
        elif key in ("plural", "singular"):
            if faults := label_1035_faults(value):
                yield invalid(f"spec.names.{key}", value, ",".join(faults))
        elif faults := label_1035_faults(value.lower()):
            text = f"may have mixed case, but should otherwise match: {','.join(faults)}"
            yield invalid(f"spec.names.{key}", value, text)
    for key in ("shortNames", "categories"):
        for index, value in enumerate(names.get(key) or ()):
            if faults := label_1035_faults(value):
                yield invalid(f"spec.names.{key}[{index}]", value, ",".join(faults))
    if names.get("kind") and names.get("kind") == names.get("listKind"):
        yield invalid("spec.names.listKind", names["listKind"], "kind and listKind may not be the same")


def _versions_causes(versions: list[Document]) -> Iterator[Cause]:
    names = [version.get("name", "") for version in versions]
    for index, name in enumerate(names):
        if faults := label_1035_faults(name):
            yield invalid(f"spec.versions[{index}].name", name, ",".join(faults))
    if len(set(names)) != len(names):
        yield invalid("spec.versions", versions, "must contain unique version names")
    if sum(bool(version.get("storage")) for version in versions) != 1:
        yield invalid("spec.versions", versions, "must have exactly one version marked as storage version")


def _version_causes(version: Document, path: str, alike: bool) -> Iterator[Cause]:
    """Where all versions have one schema, upstream reports it under the name it has inside: spec.validation."""
    where = "spec.validation" if alike else f"{path}.schema"
    schema = (version.get("schema") or {}).get("openAPIV3Schema")
    if not schema:
        yield required(f"{path}.schema.openAPIV3Schema", "schemas are required")
    else:
        yield from _schema_and_rule_causes(schema, f"{where}.openAPIV3Schema")
    for index, column in enumerate(version.get("additionalPrinterColumns") or ()):
        yield from _column_causes(column, f"{path}.additionalPrinterColumns[{index}]")
    yield from _subresource_causes(version.get("subresources") or {}, f"{path}.subresources")
    seen: set[str] = set()
    for index, field in enumerate(version.get("selectableFields") or ()):
        here, json_path = f"{path}.selectableFields[{index}].jsonPath", field.get("jsonPath", "")
        if not json_path:
            yield required(here)
        elif json_path.startswith(".metadata"):
            yield invalid(here, json_path, "must not point to fields in metadata")
        elif json_path in seen:
            yield duplicate(here, json_path)
        seen.add(json_path)


def _schema_and_rule_causes(schema: Any, path: str) -> list[Cause]:
    """Defaults are checked only where the schema is valid, and rules only where the defaults are."""
    return (
        list(schema_causes(schema, path, root=True)) or list(default_causes(schema, path)) or rule_causes(schema, path)
    )


def _column_causes(column: Document, path: str) -> Iterator[Cause]:
    listed = ",".join(sorted(COLUMN_TYPES))
    if not column.get("name"):
        yield required(f"{path}.name")
    if not column.get("type"):
        yield required(f"{path}.type", f"must be one of {listed}")
    elif column["type"] not in COLUMN_TYPES:
        yield invalid(f"{path}.type", column["type"], f"must be one of {listed}")
    if not column.get("jsonPath"):
        yield required(f"{path}.JSONPath")


def _subresource_causes(subresources: Document, path: str) -> Iterator[Cause]:
    scale = subresources.get("scale")
    if scale is None:
        return
    for key, beginnings, under in (
        ("specReplicasPath", (".spec.",), ".spec"),
        ("statusReplicasPath", (".status.",), ".status"),
        ("labelSelectorPath", (".spec.", ".status."), "either .spec or .status"),
    ):
        value = scale.get(key) or ""
        if not value:
            if key != "labelSelectorPath":
                yield required(f"{path}.scale.{key}")
        elif not value.startswith(beginnings):
            yield invalid(f"{path}.scale.{key}", value, f"should be a json path under {under}")


def schema_causes(schema: Any, path: str, *, root: bool = False, what: str = "at the root") -> Iterator[Cause]:
    """The errors of a schema that is not structural."""
    if not isinstance(schema, dict):
        return
    type_ = schema.get("type") or ""
    typed_elsewhere = schema.get("x-kubernetes-int-or-string") or schema.get(_PRESERVES)
    if not type_ and (root or not typed_elsewhere):
        yield required(f"{path}.type", f"must not be empty {what}")
    elif root and type_ != "object":
        yield invalid(f"{path}.type", type_, "must be object at the root")
    elif type_ and type_ not in TYPES:
        yield unsupported(f"{path}.type", type_, TYPES)
    yield from _keyword_causes(schema, path, root)
    yield from _list_type_causes(schema, path)
    for index, rule in enumerate(schema.get(RULES) or ()):
        yield from rule_text_causes(schema, rule, f"{path}.{RULES}[{index}]")
    for key, known in (schema.get("properties") or {}).items():
        if root and key in ("apiVersion", "kind", "metadata"):
            continue
        yield from schema_causes(known, f"{path}.properties[{key}]", what="for specified object fields")
    if isinstance(extra := schema.get("additionalProperties"), dict):
        yield from schema_causes(extra, f"{path}.additionalProperties", what="for specified object fields")
    if isinstance(items := schema.get("items"), dict):
        yield from schema_causes(items, f"{path}.items", what="for specified array items")


def _keyword_causes(schema: Document, path: str, root: bool) -> Iterator[Cause]:
    for key in UNSUPPORTED:
        if schema.get(key):
            yield forbidden(f"{path}.{key}", f"{key} is not supported")
    if schema.get("uniqueItems"):
        why = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        yield forbidden(f"{path}.uniqueItems", why)
    if schema.get("additionalProperties") not in (None, True) and schema.get("properties"):
        yield forbidden(f"{path}.additionalProperties", "additionalProperties and properties are mutual exclusive")
    if schema.get(_PRESERVES) is False:
        yield invalid(f"{path}.{_PRESERVES}", False, "must be true or undefined")
    if root and schema.get("nullable"):
        yield forbidden(f"{path}.nullable", "nullable cannot be true at the root")
    if schema.get("pattern"):
        try:
            regex(schema["pattern"])
        except RegexError as error:
            why = f"must be a valid regular expression, but isn't: {error}"
            yield invalid(f"{path}.pattern", schema["pattern"], why)
    if isinstance(schema.get("items"), list):
        yield forbidden(f"{path}.items", "items must be a schema object and not an array")


def _list_type_causes(schema: Document, path: str) -> Iterator[Cause]:
    kind, keys = schema.get("x-kubernetes-list-type"), schema.get("x-kubernetes-list-map-keys") or []
    if kind is not None and schema.get("type") != "array":
        yield required(f"{path}.type", "must be array if x-kubernetes-list-type is specified")
    if kind not in (None, "atomic", "set", "map"):
        yield unsupported(f"{path}.x-kubernetes-list-type", kind, ("atomic", "set", "map"))
    if keys and kind != "map":
        yield required(f"{path}.x-kubernetes-list-type", "must be map if x-kubernetes-list-map-keys is non-empty")
    if kind == "map":
        known = ((schema.get("items") or {}).get("properties")) or {}
        if not keys:
            why = "must not be empty if x-kubernetes-list-type is map"
            yield required(f"{path}.x-kubernetes-list-map-keys", why)
        elif any(key not in known for key in keys):
            why = "entries must all be names of item properties"
            yield invalid(f"{path}.x-kubernetes-list-map-keys", keys, why)
    if schema.get("x-kubernetes-map-type") not in (None, "atomic", "granular"):
        yield unsupported(f"{path}.x-kubernetes-map-type", schema["x-kubernetes-map-type"], ("atomic", "granular"))
