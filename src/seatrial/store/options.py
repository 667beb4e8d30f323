"""Options of a write, after metav1's CreateOptions, UpdateOptions, PatchOptions and DeleteOptions."""

from dataclasses import dataclass, replace
from typing import Any, Literal, Self

from seatrial.store.users import User

FieldValidation = Literal["Strict", "Warn", "Ignore"]
Propagation = Literal["", "Orphan", "Background", "Foreground"]
PatchType = Literal["json", "merge", "strategic", "apply"]


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """Options that all writes of a document share.

    `owned`: the caller hands its document over and never reads it again, so that no copy is made.
    `tracked`: the document's managedFields are right already.
    `trusted`: the document was made by our own code from valid parts, so that decoding checks are left out.
    `warnings`: where decoding warnings are put, for the server to send.
    """

    dry_run: bool = False
    field_manager: str = ""
    field_validation: FieldValidation = "Warn"
    owned: bool = False
    trusted: bool = False
    tracked: bool = False
    user: User | None = None
    warnings: list[str] | None = None

    def warning(self, warnings: list[str] | None) -> Self:
        """These options with another list of warnings."""
        return self if warnings is self.warnings else replace(self, warnings=warnings)


@dataclass(frozen=True, slots=True)
class CreateOptions(WriteOptions):
    """Options of a create; `restored` keeps status, uid and times, since the object lived before."""

    restored: bool = False


@dataclass(frozen=True, slots=True)
class UpdateOptions(WriteOptions):
    """Options of an update."""


@dataclass(frozen=True, slots=True)
class PatchOptions(WriteOptions):
    """Options of a patch; `force` takes fields over from other managers in a server-side apply."""

    force: bool = False


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """Options of a delete."""

    grace_period_seconds: int | None = None
    propagation_policy: Propagation = ""
    preconditions_uid: str = ""
    preconditions_resource_version: str = ""
    dry_run: bool = False
    user: User | None = None


@dataclass(frozen=True, slots=True)
class Patch:
    """A patch body (decoded) and how to read it."""

    type: PatchType
    body: Any
