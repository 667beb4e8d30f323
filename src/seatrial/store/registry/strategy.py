"""The strategy of a kind: the behaviour of the API server that is specific to it.

One record per kind; routes, discovery and OpenAPI follow from the data file of the model, the rest follows from here.
Upstream: the strategies of pkg/registry/*/*/strategy.go, with the printers and field labels that each storage wires in.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.model.field_selectors import SelectableFields
from seatrial.store.object_meta import NameFaults
from seatrial.store.objects import Path
from seatrial.store.printers.columns import Columns

CreateCauses = Callable[[Document], Iterable[Cause]]
UpdateCauses = Callable[[Document, Document, str], Iterable[Cause]]
Check = Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class Validation:
    """The rules of a kind: for a new object, and for a changed one (given the old one and the subresource)."""

    on_create: CreateCauses
    on_update: UpdateCauses


def on_every_write(causes: CreateCauses) -> Validation:
    """Rules that a new and a changed object must pass alike; a write of the status passes."""
    return Validation(causes, lambda document, old, subresource: () if subresource else causes(document))


class VariableField(NamedTuple):
    """A value of one object in which it may differ from others of its template."""

    path: Path
    value: Any
    is_valid: Check


@dataclass(frozen=True, slots=True)
class VariableFields:
    """How objects of a kind may differ and still be created from one template; the name always may."""

    of: Callable[[Document], Iterator[VariableField]]
    never_with: tuple[bytes, ...] = ()
    """Texts in the encoded object that make a creation read more than the template fixes."""
    accepts: Callable[[Document], bool] | None = None
    """Whether the name is valid with the rest of the object, where that is not known from the name alone."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """The behaviour of one kind; the defaults are those of most kinds."""

    created_by_update: bool = False
    """A PUT of a name that does not exist creates the object."""
    needs_resource_version: bool = False
    """An update must name the revision it was made from."""
    has_generation: bool = False
    """metadata.generation counts the changes of the desired state."""
    generation_counts: tuple[str, ...] = ()
    """Fields of metadata whose changes metadata.generation counts too."""
    keeps_status_on_create: bool = False
    """A create may bring its status along."""
    name_faults: NameFaults | None = None
    """Validation errors of a name; None: names are DNS subdomains."""
    name_faults_of: Callable[[Document], NameFaults] | None = None
    """The same where the rule for names depends on the object."""
    deletes_gracefully: bool = False
    """A delete marks the object and waits for its grace period."""
    garbage_collected: bool = True
    """A delete honours the propagation policy."""
    orphans_dependents: bool = False
    """The default propagation policy is Orphan."""
    delete_returns_object: bool = False
    """A delete answers with the object and not with a Status."""
    status_keeps_labels: bool = False
    """A write to the status subresource leaves labels as they were."""
    status_keeps_metadata: bool = False
    """A write to the status subresource leaves metadata as it was."""
    status_owns_metadata: bool = False
    """A write to the status subresource may own metadata fields in managedFields."""
    reset_fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By subresource: the fields that a write to it cannot own, where they differ from the usual ones."""
    prepare_create: Callable[[Document, int], None] | None = None
    """Fills in what a new object begins with; the second argument is the present instant."""
    prepare_update: Mapping[str, Callable[[Document, Document, int], None]] = field(default_factory=dict)
    """By subresource: fills in or keeps what an update may not change."""
    variable_fields: VariableFields | None = None
    """In what objects of one template differ; None: every object is prepared on its own."""
    validation: Validation | None = None
    """None: what the data file says (required texts and enumerations) is all."""
    selectable_fields: SelectableFields | None = None
    """The fields of field selectors; None: name and namespace."""
    columns: Columns | None = None
    """The columns of `kubectl get`; None: name and age."""
