"""Files that a server keeps: whole or not there, and refused by name where they are damaged."""

from pathlib import Path

import pytest

from seatrial.model.errors import ConfigError
from seatrial.server.auth.certificates import Certificates
from seatrial.server.auth.state_files import kept_secret, write_private


@pytest.mark.parametrize(
    "name", ["token", "signing-key", "pki/ca.crt", "pki/ca.key", "pki/server.crt", "pki/server.key"]
)
@pytest.mark.parametrize("data", [b"", b"\xff\x00"])
def test_a_damaged_secret_or_certificate_is_refused_by_name(tmp_path: Path, name: str, data: bytes) -> None:
    def start() -> None:
        Certificates.in_directory(tmp_path / "pki").context()
        for secret in ("token", "signing-key"):
            kept_secret(tmp_path / secret)

    start()
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ConfigError, match=f"{tmp_path / name.split('/')[0]}: .*remove"):
        start()
    assert not [path for path in tmp_path.rglob(".*") if path.is_file()]


def test_a_file_that_cannot_be_written_is_named_and_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "token").mkdir()
    with pytest.raises(ConfigError, match=f"{tmp_path / 'token'}: cannot be written"):
        write_private(tmp_path / "token", b"x")
    assert [path.name for path in tmp_path.iterdir()] == ["token"]
