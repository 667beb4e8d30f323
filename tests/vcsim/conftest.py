"""A home directory, and one small cluster that the tests of a module share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.vcsim.files import cluster, group, written
from tests.vcsim.processes import User


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[User]:
    """A user with the cluster `kind-simulator`: 3 nodes with all their capacity, and 2 of which half is allocatable."""
    user = User(tmp_path_factory.mktemp("home"))
    half = group("half", 2, allocatable={"cpu": "64", "memory": "128Gi", "pods": "55"})
    config = written(user.home / "cluster.yaml", cluster(group("big-node", 3), half))
    made = user("create", "cluster", f"--config={config}")
    assert made.code == 0, made.errors
    try:
        yield user
    finally:
        user("delete", "cluster", "kind-simulator")
