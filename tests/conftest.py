"""For all tests: random cases are the same in every run, a busy machine is no failure, and proofs are counted."""

import gc

from hypothesis import settings

from tests.proofs import (
    pytest_addoption,
    pytest_collection_modifyitems,
    pytest_configure,
    pytest_sessionstart,
    pytest_terminal_summary,
)

__all__ = [
    "pytest_addoption",
    "pytest_collection_modifyitems",
    "pytest_configure",
    "pytest_sessionstart",
    "pytest_terminal_summary",
]

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


def pytest_collection_finish() -> None:
    """Leave the collected tests, a million objects, out of what the garbage collector walks."""
    gc.freeze()
