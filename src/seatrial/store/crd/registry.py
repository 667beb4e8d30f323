"""The definitions in force: they follow the CustomResourceDefinitions in the store, write by write."""

from functools import partial

from seatrial.model.documents import Document, encode
from seatrial.model.errors import Cause
from seatrial.model.kinds import Kind, Kinds
from seatrial.model.schema import Schema
from seatrial.store.crd.defaulting import apply_defaults
from seatrial.store.crd.definition import Definition, Version, causes_by_schema, read_definition
from seatrial.store.crd.names import accept
from seatrial.store.deferral import isolated, seen
from seatrial.store.printers.columns import Columns
from seatrial.store.registry.scale import ScalePaths
from seatrial.store.versions import Versions

DEFINITIONS = ("apiextensions.k8s.io", "CustomResourceDefinition")


class Definitions:
    """The kinds that are defined by CustomResourceDefinitions."""

    def __init__(self, kinds: Kinds, versions: Versions) -> None:
        self._kinds = kinds
        self._versions = versions
        self._definitions: dict[str, Definition] = {}
        self._written: dict[str, int] = {}
        self._by_kind: dict[tuple[str, str, str], Version] = {}
        self.declared: dict[tuple[str, str], Schema] = {}
        """Kinds of ours whose schema says more than a CustomResourceDefinition can: merge keys."""
        self.published: dict[tuple[str, str], Document] = {}
        """OpenAPI of kinds that are served without a definition, for clients alone."""
        self.printers: dict[tuple[str, str], Columns] = {}
        """Printers of kinds of ours whose cells no JSONPath gives."""
        versions.defined = self

    def changed(self, document: Document, revision: int) -> None:
        """Serve the kinds of a definition that is new or changed from a revision on."""
        self.removed(document["metadata"]["name"])
        definition = read_definition(document)
        self._definitions[definition.name] = definition
        self._written[definition.name] = revision
        if not definition.established:
            return
        for version in definition.versions:
            self._by_kind[definition.group, version.kind.version, definition.kind] = version
            if version.served:
                self._kinds.add(version.kind)
        self._versions.store_as(definition.storage.kind)

    def removed(self, name: str) -> None:
        """Stop serving the kinds of a deleted definition."""
        definition = self._definitions.pop(name, None)
        if definition is None:
            return
        for version in definition.versions:
            if self._by_kind.pop((definition.group, version.kind.version, definition.kind), None) is not None:
                self._kinds.remove(version.kind)
        self._versions.forget(definition.storage.kind)

    def version(self, kind: Kind) -> Version | None:
        """One version of a defined kind; None for other kinds."""
        return self._by_kind.get((kind.group, kind.version, kind.kind))

    def named(self, name: str) -> Definition | None:
        """The definition of that name (`widgets.example.com`)."""
        return self._definitions.get(name)

    def of_kind(self, kind: Kind) -> Definition | None:
        """The definition that a kind comes from."""
        return self._definitions.get(f"{kind.plural}.{kind.group}")

    def schema(self, kind: Kind) -> Schema | None:
        if kind.group_kind in self.declared:
            return self.declared[kind.group_kind]
        version = self.version(kind)
        return version.schema if version is not None else None

    def webhook(self, kind: Kind) -> Document | None:
        """The webhook that converts between the versions of a kind."""
        definition = self.of_kind(kind)
        return definition.webhook if definition is not None else None

    def columns(self, kind: Kind) -> tuple[Document, ...]:
        """The additionalPrinterColumns of a kind."""
        version = self.version(kind)
        return version.columns if version is not None else ()

    def selectable(self, kind: Kind) -> tuple[str, ...]:
        """The fields of a defined kind that a field selector may name."""
        version = self.version(kind)
        return version.selectable if version is not None else ()

    def deprecation(self, kind: Kind) -> str:
        """The warning that answers about a deprecated version of a defined kind carry."""
        version = self.version(kind) if kind.custom else None
        return version.warning if version is not None else ""

    def scale_paths(self, kind: Kind) -> ScalePaths | None:
        version = self.version(kind)
        return version.scale if version is not None else None

    def apply_defaults(self, kind: Kind, document: Document) -> None:
        """Fill in the defaults of a kind's schema."""
        version = self.version(kind)
        if version is not None:
            apply_defaults(version.openapi, document)

    def apply_status_default(self, kind: Kind, document: Document) -> None:
        """Fill in the default of a status that the creation of the object has dropped.

        Upstream applies defaults when it reads an object from its storage, so the answer has them too.
        """
        version = self.version(kind)
        status = (version.openapi.get("properties") or {}).get("status") if version is not None else None
        if status and "default" in status and "status" not in document:
            apply_defaults({"properties": {"status": status}}, document)

    def defaults_since(self, kind: Kind, revision: int) -> Document | None:
        """The schema whose defaults an object of this revision may lack, as its definition was written later."""
        version = self.version(kind)
        if version is None or revision > self._written[f"{kind.plural}.{kind.group}"] or not version.has_defaults:
            return None
        return version.openapi

    def causes(self, kind: Kind, document: Document, old: Document | None) -> list[Cause]:
        """The errors of an object by its kind's schema and rules."""
        version = self.version(kind)
        if version is None:
            return []
        return isolated(
            "schema",
            lambda: seen(document, old),
            lambda: version.causes(document, old),
            lambda: partial(causes_by_schema, encode(version.openapi), document, old),
        )

    def accept(self, document: Document, old: Document | None, now: int) -> None:
        """Set the status of a definition: whether its names are free, and which versions have been stored."""
        accept(document, old, self._definitions.values(), now)

    @staticmethod
    def warnings(document: Document, old: Document | None) -> list[str]:
        """The warnings about a CustomResourceDefinition that replaces another."""
        from seatrial.store.crd.formats import unrecognized_formats

        before = set(unrecognized_formats(old)) if old is not None else ()
        return [f'unrecognized format "{name}"' for name in unrecognized_formats(document) if name not in before]

    @staticmethod
    def definition_causes(document: Document, old: Document | None, subresource: str) -> list[Cause]:
        """The errors of a CustomResourceDefinition itself; a change of the status leaves the rest alone."""
        from seatrial.store.crd.definition_validation import definition_causes

        return definition_causes(document, old) if not subresource else []
