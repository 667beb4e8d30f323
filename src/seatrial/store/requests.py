"""A write request: one value that passes through decoding, defaulting, admission and validation."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from seatrial.model.documents import Document
from seatrial.model.kinds import Kind
from seatrial.store.users import User

if TYPE_CHECKING:
    from seatrial.store.store import Store

Operation = Literal["CREATE", "UPDATE", "DELETE", "CONNECT"]


@dataclass(slots=True)
class Request:
    """One write on its way into the store; admission may change `document` in place."""

    store: "Store"
    operation: Operation
    kind: Kind
    namespace: str
    name: str
    document: Document
    old: Document | None
    subresource: str
    writer: str
    user: User | None = None
    """The authenticated user; None for writes of in-process code."""
    dry_run: bool = False
    warnings: list[str] | None = None

    @property
    def generated_name(self) -> bool:
        """Whether the name was made from generateName, which every attempt at the write does again."""
        metadata = self.document.get("metadata") or {}
        return self.operation == "CREATE" and bool(metadata.get("generateName"))

    def warn(self, text: str) -> None:
        """Add a warning to the response."""
        if self.warnings is not None:
            self.warnings.append(text)


class Admission(Protocol):
    """Admission steps: `admit` may change the document, `validate` may only refuse (raise a StatusError).

    `binding_labels` are those that a pod takes over from the node it is bound to. `inputs` are equal while the other
    objects that the steps read for a new object of a kind have not changed; None where each is judged on its own.
    """

    def admit(self, request: Request) -> None: ...

    def validate(self, request: Request) -> None: ...

    def binding_labels(self, store: "Store", node: str) -> Mapping[str, str]: ...

    def inputs(self, store: "Store", kind: Kind, namespace: str) -> tuple[int, ...] | None: ...


class NoAdmission:
    """Lets everything in as it is."""

    def admit(self, request: Request) -> None:
        """Change nothing."""

    def validate(self, request: Request) -> None:
        """Refuse nothing."""

    def binding_labels(self, store: "Store", node: str) -> Mapping[str, str]:
        """A pod takes no labels over from its node."""
        return {}

    def inputs(self, store: "Store", kind: Kind, namespace: str) -> tuple[int, ...] | None:
        """Each object is judged on its own."""
        return None
