"""Authorizers: the protocol, and the one that allows everything.

Upstream: k8s.io/apiserver/pkg/authorization (authorizer, authorizerfactory).
"""

from dataclasses import dataclass
from typing import Protocol

from seatrial.server.authorization.attributes import Attributes
from seatrial.server.authorization.rules import FULL_AUTHORITY, PolicyRule
from seatrial.store import User


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether an action is allowed, and the reason if one is known."""

    allowed: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ResolvedRules:
    """The rules that apply to a user, and the errors met while they were looked up."""

    rules: tuple[PolicyRule, ...]
    errors: tuple[str, ...] = ()


class Authorizer(Protocol):
    """Decides about actions."""

    def authorize(self, action: Attributes) -> Decision:
        """Whether the action is allowed."""

    def rules_for(self, user: User, namespace: str) -> ResolvedRules:
        """The rules that a user has in a namespace."""


class AlwaysAllow:
    """Allows every action of every user: `--authorization-mode AlwaysAllow`."""

    def authorize(self, action: Attributes) -> Decision:
        return Decision(True)

    def rules_for(self, user: User, namespace: str) -> ResolvedRules:
        return ResolvedRules(FULL_AUTHORITY)


def check(authorizer: Authorizer, action: Attributes) -> None:
    """Raise Forbidden unless the action is allowed."""
    if action.user.is_privileged:
        return
    decision = authorizer.authorize(action)
    if not decision.allowed:
        raise action.forbidden(decision.reason)
