"""The rules a document must pass: decoding, defaulting and validation, each from the package that implements it."""

from collections.abc import Callable
from functools import partial

from seatrial.model.decoding import check
from seatrial.model.defaults import apply_defaults
from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.model.kinds import Kind
from seatrial.model.schema import Schema, schema_of
from seatrial.store.crd import DEFINITIONS, Definitions
from seatrial.store.deferral import isolated, seen
from seatrial.store.field_errors import refusal
from seatrial.store.object_meta import NameFaults, metadata_causes, metadata_update_causes
from seatrial.store.options import WriteOptions
from seatrial.store.registry.kinds import strategy_of
from seatrial.store.validation.constraints import violations
from seatrial.store.validation.pods.pods import GROWN


class Rules:
    """The checks that every incoming document must pass."""

    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions
        self.checks: dict[tuple[str, str], Callable[[Document], list[Cause]]] = {}
        """Validation of kinds that other rooms serve without a definition, by group and kind."""

    def schema(self, kind: Kind) -> Schema | None:
        """The schema of a kind's documents; None where any document is valid."""
        return self._definitions.schema(kind) if kind.custom else schema_of(kind)

    def decode(self, kind: Kind, document: Document, options: WriteOptions) -> Document:
        """The document in canonical form, unknown fields treated as fieldValidation says."""
        if options.trusted:
            return document
        document, warnings = check(kind, document, options.field_validation, schema=self.schema(kind))
        if options.warnings is not None:
            options.warnings.extend(warnings)
        return document

    def apply_defaults(self, kind: Kind, document: Document) -> None:
        """Apply upstream's API defaulting."""
        if kind.custom:
            self._definitions.apply_defaults(kind, document)
        else:
            apply_defaults(kind, document)

    def validate_create(self, kind: Kind, document: Document, *, restored: bool = False) -> None:
        """Raise Invalid where a new or restored object is not valid."""
        causes = metadata_causes(kind, document["metadata"], _name_faults(kind, document))
        causes += self._causes(kind, document, None, "") or isolated(
            "rules",
            lambda: seen(document),
            lambda: _create_causes(kind, document, restored),
            lambda: partial(_create_causes, kind, document, restored),
        )
        if causes:
            raise refusal(kind, document["metadata"].get("name", ""), causes)

    def validate_update(self, kind: Kind, document: Document, old: Document, subresource: str) -> None:
        """Raise Invalid where an update is not valid."""
        causes = metadata_causes(kind, document["metadata"], _name_faults(kind, document))
        causes += metadata_update_causes(document["metadata"], old["metadata"])
        causes += self._causes(kind, document, old, subresource) or isolated(
            "rules",
            lambda: seen(document, old),
            lambda: _update_causes(kind, document, old, subresource),
            lambda: partial(_update_causes, kind, document, old, subresource),
        )
        if causes:
            raise refusal(kind, document["metadata"].get("name", ""), causes)

    def warn(self, kind: Kind, document: Document, old: Document | None, options: WriteOptions) -> None:
        """Warn the writer of what is valid and yet has no effect."""
        if kind.group_kind == DEFINITIONS and options.warnings is not None:
            options.warnings.extend(self._definitions.warnings(document, old))

    def _causes(self, kind: Kind, document: Document, old: Document | None, subresource: str) -> list[Cause]:
        if kind.custom:
            return self._definitions.causes(kind, document, old)
        if kind.group_kind == DEFINITIONS:
            check = partial(self._definitions.definition_causes, document, old, subresource)
        elif kind.group_kind in self.checks:
            check = partial(self.checks[kind.group_kind], document)
        else:
            return []
        return isolated("checks", lambda: seen(document, old), check, lambda: check)


def _create_causes(kind: Kind, document: Document, restored: bool) -> list[Cause]:
    """Causes for a new object, or for one from a snapshot, which may carry what a pod gets only while it runs."""
    rules = strategy_of(kind).validation
    found = list(rules.on_create(document)) if rules is not None else _plain_causes(kind, document)
    return [cause for cause in found if cause != GROWN] if restored and found else found


def _update_causes(kind: Kind, document: Document, old: Document, subresource: str) -> list[Cause]:
    rules = strategy_of(kind).validation
    if rules is not None:
        return list(rules.on_update(document, old, subresource))
    return [] if subresource else _plain_causes(kind, document)


def _plain_causes(kind: Kind, document: Document) -> list[Cause]:
    schema = None if kind.custom else schema_of(kind)
    return violations(schema, document) if schema is not None else []


def _name_faults(kind: Kind, document: Document) -> NameFaults | None:
    strategy = strategy_of(kind)
    return strategy.name_faults_of(document) if strategy.name_faults_of is not None else strategy.name_faults
