"""Kinds that a test knows to be served."""

from seatrial.model.kinds import Kind, Kinds


def known_kind(kinds: Kinds, api_version: str, kind: str) -> Kind:
    """The kind of this name; an assertion fails where it is not served."""
    found = kinds.named(api_version, kind)
    assert found is not None, f"{api_version} {kind} is not served"
    return found
