"""A fresh store of built-in kinds for each test, without admission so that each test says what it needs."""

from collections.abc import Callable

import pytest

from seatrial.clock.virtual import Clock
from seatrial.model.builtin import builtin_kinds
from seatrial.model.kinds import Kind
from seatrial.store.store import Store
from tests.known_kinds import known_kind

FindKind = Callable[[str, str], Kind]


@pytest.fixture
def store() -> Store:
    return Store(builtin_kinds(), Clock())


@pytest.fixture
def kind(store: Store) -> FindKind:
    def find(api_version: str, name: str) -> Kind:
        return known_kind(store.kinds, api_version, name)

    return find


@pytest.fixture
def pods(kind: FindKind) -> Kind:
    return kind("v1", "Pod")


@pytest.fixture
def maps(kind: FindKind) -> Kind:
    return kind("v1", "ConfigMap")
