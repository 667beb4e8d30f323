"""Refusals against upstream's own: each manifest broken in one place, created, updated or sent to a subresource.

Tests: store/validation/*.py
"""

import pytest

from tests.store.validation.validation_recorded import Asked, comparable, left_out, recorded

MANIFESTS, ROWS = recorded()
KINDS = sorted({manifest["kind"] for manifest in MANIFESTS.values()})


@pytest.fixture(scope="module")
def asked() -> Asked:
    return Asked(MANIFESTS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_broken_manifest_is_refused_for_upstreams_reasons(kind: str, asked: Asked) -> None:
    wrong = []
    for name, changes, door, causes in ROWS:
        if MANIFESTS[name]["kind"] != kind or left_out(name, changes):
            continue
        ours, theirs = comparable(asked.causes(name, changes, door)), comparable(causes)
        if ours != theirs:
            wrong.append((name, changes, door, ours, theirs))
    assert not wrong, f"{len(wrong)} differ, the first: {wrong[0]}"
