"""Files of secrets that are damaged, incomplete or watched: the start is refused by name, and nothing is replaced."""

import os
import subprocess
from pathlib import Path

import pytest

from seatrial.server.auth.state_files import write_private
from tests.server.test_process import SEATRIAL, serving


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory whose server has ended."""
    with serving(tmp_path, "--port", "0", "--data-dir", str(tmp_path / "data")):
        pass
    return tmp_path / "data"


def refused(data: Path) -> str:
    command = [str(SEATRIAL), "serve", "--port", "0", "--no-scheduler", "--controllers", "", "--data-dir", str(data)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 2, ended
    assert len(ended.stderr.splitlines()) == 1, ended.stderr
    return ended.stderr


@pytest.mark.parametrize("damage", [b"", b"no key\n", None])
def test_a_damaged_client_key_is_refused_by_name(data: Path, damage: bytes | None) -> None:
    """None stands for a sound key of another certificate."""
    key = data / "pki" / "client.key"
    key.write_bytes((data / "pki" / "server.key").read_bytes() if damage is None else damage)
    said = refused(data)
    assert f"{key}: this or client.crt is damaged" in said
    assert "remove both" in said


@pytest.mark.parametrize("name", ["ca.crt", "ca.key", "server.crt", "server.key"])
def test_a_missing_certificate_or_key_makes_no_new_authority(data: Path, name: str) -> None:
    before = {path.name: path.read_bytes() for path in (data / "pki").iterdir() if path.name != name}
    (data / "pki" / name).unlink()
    assert f"{data / 'pki' / name}: the file is missing, and others beside it are there" in refused(data)
    assert {path.name: path.read_bytes() for path in (data / "pki").iterdir()} == before


def test_certificates_that_a_killed_start_has_not_finished_are_made(data: Path) -> None:
    """They are made in a folder of their own, which then gets the name."""
    for path in (data / "pki").iterdir():
        path.unlink()
    with serving(data.parent, "--port", "0", "--data-dir", str(data)) as server:
        assert server.get("/version")["major"] == "1"
    assert not [path for path in data.iterdir() if path.name.startswith(".")]


def test_a_secret_is_not_written_through_a_name_that_others_can_guess(tmp_path: Path) -> None:
    """A link that waits under the temporary name would receive the secret, or the file would keep its open mode."""
    stolen = tmp_path / "stolen"
    (tmp_path / f".token.{os.getpid()}").symlink_to(stolen)
    write_private(tmp_path / "token", b"secret")
    assert not stolen.exists()
    assert (tmp_path / "token").read_bytes() == b"secret"
    assert (tmp_path / "token").stat().st_mode & 0o777 == 0o600
