"""Programs that the packages are used with."""

import shutil
from pathlib import Path

import pytest

from tests.outside.conftest import built


@pytest.fixture(scope="session")
def kubectl() -> Path:
    """kubectl of this machine, or else the pinned one."""
    found = shutil.which("kubectl")
    return Path(found) if found else built("kubectl") / "kubectl"
