"""A cluster with three nodes and every controller that is on by default."""

import pytest

from tests.controllers.manifests import node
from tests.controllers.replaying import Cluster


@pytest.fixture
def cluster() -> Cluster:
    made = Cluster()
    made.create(*(node(f"n{number}") for number in range(3)))
    made.settle()
    return made
