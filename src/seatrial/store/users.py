"""The user that a write is authenticated as, with the fields of authentication.k8s.io's UserInfo."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from seatrial.model.writers import user_writer

MASTERS = "system:masters"


@dataclass(frozen=True, slots=True)
class User:
    """A name with its groups."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    acts_as: str = ""
    """The controller of a running scenario that the user is; empty for all others."""

    @property
    def writer(self) -> str:
        """The name under which the store records a write."""
        return self.acts_as or user_writer(self.name)

    @property
    def is_privileged(self) -> bool:
        """Whether every authorization check is skipped for this user."""
        return MASTERS in self.groups

    def document(self) -> dict[str, object]:
        """The authentication.k8s.io UserInfo of this user."""
        info: dict[str, object] = {"username": self.name, "groups": list(self.groups)}
        if self.uid:
            info["uid"] = self.uid
        if self.extra:
            info["extra"] = {key: list(values) for key, values in self.extra.items()}
        return info
