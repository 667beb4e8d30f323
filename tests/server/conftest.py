import pytest

from tests.server.client import Server


@pytest.fixture
def server() -> Server:
    return Server()
