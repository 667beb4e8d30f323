"""For all tests: random cases are the same in every run, a busy machine is no failure, and proofs are counted."""

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
