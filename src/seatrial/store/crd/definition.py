"""A decoded CustomResourceDefinition: the kinds it serves and the schema of each version."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from seatrial.model.documents import Document, decode, encode
from seatrial.model.errors import Cause
from seatrial.model.kinds import Kind, Subresource
from seatrial.model.schema import Schema, schema_from_openapi
from seatrial.store.crd.ratcheting import is_unchanged
from seatrial.store.field_errors import invalid
from seatrial.store.registry.scale import ScalePaths

if TYPE_CHECKING:
    from seatrial.store.crd.schema_validation import Validator
    from seatrial.store.crd.validation_rules import Expressions

_VERSION_VERBS = ("get", "patch", "update")


BLOCKING = frozenset(f"FieldValue{what}" for what in ("NotSupported", "Required", "TooLong", "TooMany", "TypeInvalid"))
"""Errors after which the rules of a schema are not evaluated."""
NOT_CHECKED = invalid(
    "<nil>",
    None,
    "some validation rules were not checked because the object was invalid; correct the existing errors to complete "
    "validation",
)
VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
"""In the order in which upstream lists them for custom resources."""


@dataclass(frozen=True)
class Version:
    """One version of a defined kind."""

    kind: Kind
    served: bool
    stored: bool
    warning: str
    """The text of the Warning header that answers about a deprecated version carry."""
    openapi: Document
    columns: tuple[Document, ...]
    selectable: tuple[str, ...]
    scale: ScalePaths | None

    @cached_property
    def schema(self) -> Schema:
        """The shape of its documents, for pruning, patches and apply."""
        return schema_from_openapi(self.openapi, root=True)

    @cached_property
    def has_defaults(self) -> bool:
        return b'"default":' in encode(self.openapi)

    @cached_property
    def validator(self) -> "Validator":
        from seatrial.store.crd.schema_validation import Validator

        return Validator(self.openapi)

    @cached_property
    def expressions(self) -> "Expressions":
        """Its x-kubernetes-validations."""
        from seatrial.store.crd.validation_rules import Expressions

        return Expressions(self.openapi)

    def causes(self, document: Document, old: Document | None) -> list[Cause]:
        """The errors of an object by schema and rules."""
        return _causes(self.openapi, self.validator, self.expressions, document, old)


def _causes(
    openapi: Document, validator: "Validator", expressions: "Expressions", document: Document, old: Document | None
) -> list[Cause]:
    found = validator.causes(document)
    if old is not None:
        found = [cause for cause in found if not is_unchanged(cause, openapi, document, old)]
    if not expressions.has_rules:
        return found
    if any(cause.reason in BLOCKING for cause in found):
        return [*found, NOT_CHECKED]
    return [*found, *expressions.causes(document, old)]


def causes_by_schema(encoded: bytes, document: Document, old: Document | None) -> list[Cause]:
    """The errors of an object by an encoded OpenAPI schema and its rules."""
    from seatrial.store.crd.schema_validation import Validator
    from seatrial.store.crd.validation_rules import Expressions

    openapi: Document = decode(encoded)
    return _causes(openapi, Validator(openapi), Expressions(openapi), document, old)


@dataclass(frozen=True)
class Definition:
    """All versions of a defined kind."""

    name: str
    group: str
    kind: str
    versions: tuple[Version, ...]
    established: bool
    terminating: bool
    webhook: Document | None
    """The webhook that converts between versions; None where only their apiVersion differs."""

    @property
    def group_kind(self) -> tuple[str, str]:
        return self.group, self.kind

    @property
    def storage(self) -> Version:
        """The version in which objects are kept."""
        return next((version for version in self.versions if version.stored), self.versions[0])

    def version(self, name: str) -> Version | None:
        return next((version for version in self.versions if version.kind.version == name), None)


def read_definition(document: Document) -> Definition:
    """The definition of a valid CustomResourceDefinition."""
    spec, status = document["spec"], document.get("status") or {}
    conversion = spec.get("conversion") or {}
    conditions = {condition["type"]: condition["status"] for condition in status.get("conditions") or ()}
    versions = sorted(spec["versions"], key=lambda version: version_rank(version["name"]))
    return Definition(
        document["metadata"]["name"],
        spec["group"],
        spec["names"]["kind"],
        tuple(_version(spec, version) for version in versions),
        established=conditions.get("Established") == "True",
        terminating="deletionTimestamp" in document["metadata"],
        webhook=conversion.get("webhook") if conversion.get("strategy") == "Webhook" else None,
    )


def _version(spec: Document, version: Document) -> Version:
    subresources = version.get("subresources") or {}
    return Version(
        _kind(spec, version["name"], subresources),
        served=bool(version.get("served")),
        stored=bool(version.get("storage")),
        warning=_deprecation(spec, version) if version.get("deprecated") else "",
        openapi=(version.get("schema") or {}).get("openAPIV3Schema") or {},
        columns=tuple(version.get("additionalPrinterColumns") or ()),
        selectable=tuple(field["jsonPath"].removeprefix(".") for field in version.get("selectableFields") or ()),
        scale=_scale(subresources["scale"]) if "scale" in subresources else None,
    )


def _deprecation(spec: Document, version: Document) -> str:
    if version.get("deprecationWarning"):
        return str(version["deprecationWarning"])
    rank = version_rank(version["name"])
    better = [
        (version_rank(other["name"]), other["name"])
        for other in spec["versions"]
        if other.get("served") and not other.get("deprecated") and version_rank(other["name"]) < rank
    ]
    group, kind = spec["group"], spec["names"]["kind"]
    advice = f"; use {group}/{min(better)[1]} {kind}" if better else ""
    return f"{group}/{version['name']} {kind} is deprecated{advice}"


def _kind(spec: Document, version: str, subresources: Document) -> Kind:
    names, group = spec["names"], spec["group"]
    parts = []
    if "status" in subresources:
        parts.append(Subresource("status", group, version, names["kind"], _VERSION_VERBS))
    if "scale" in subresources:
        parts.append(Subresource("scale", "autoscaling", "v1", "Scale", _VERSION_VERBS))
    return Kind(
        group,
        version,
        names["kind"],
        names["plural"],
        namespaced=spec["scope"] == "Namespaced",
        singular=names.get("singular") or names["kind"].lower(),
        short_names=tuple(names.get("shortNames") or ()),
        categories=tuple(names.get("categories") or ()),
        subresources=tuple(part.name for part in parts),
        verbs=VERBS,
        custom=True,
        subresource_facts=tuple(parts),
    )


def _scale(paths: Document) -> ScalePaths:
    def split(key: str) -> tuple[str, ...]:
        return tuple(part for part in (paths.get(key) or "").split(".") if part)

    return ScalePaths(split("specReplicasPath"), split("statusReplicasPath"), split("labelSelectorPath"))


def version_rank(name: str) -> tuple[Any, ...]:
    """Kubernetes' order of versions: v10, v2, v1, v11beta2, v1alpha1, then others by name."""
    stem, _, rest = name[1:].partition("alpha") if "alpha" in name else name[1:].partition("beta")
    level = 1 if "beta" in name else 2 if "alpha" in name else 0
    digits = rest if level else "0"
    if name.startswith("v") and stem.isdigit() and stem[:1] != "0" and digits.isdigit():
        return (0, level, -int(stem), -int(digits))
    return (1, 0, 0, 0, name)
