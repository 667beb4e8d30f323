"""A fresh store of built-in kinds for each test, without admission so that each test says what it needs."""

from collections.abc import Callable

import pytest

from seatrial.clock.virtual import Clock
from seatrial.model.builtin import builtin_kinds
from seatrial.model.kinds import Kind
from seatrial.store.store import Store


@pytest.fixture
def store() -> Store:
    return Store(builtin_kinds(), Clock())


@pytest.fixture
def kind(store: Store) -> Callable[[str, str], Kind]:
    def find(api_version: str, name: str) -> Kind:
        found = store.kinds.named(api_version, name)
        assert found is not None
        return found

    return find


@pytest.fixture
def pods(kind: Callable[[str, str], Kind]) -> Kind:
    return kind("v1", "Pod")


@pytest.fixture
def maps(kind: Callable[[str, str], Kind]) -> Kind:
    return kind("v1", "ConfigMap")
