"""The credentials of outside controllers: one user and one kubeconfig for each."""

import secrets
from pathlib import Path

from seatrial.outside.configuration import OutsideController
from seatrial.server.auth import AUTHENTICATED, Identities, write_kubeconfig
from seatrial.store import MASTERS, User


class Kubeconfigs:
    """Places a kubeconfig for each outside controller: its own user, with all rights."""

    def __init__(self, identities: Identities, folder: Path, url: str, authority: Path | None) -> None:
        self._identities, self._folder = identities, folder
        self._url, self._authority = url, authority

    def place(self, controller: OutsideController) -> Path:
        """The path of the kubeconfig; every call makes a new token."""
        token = secrets.token_urlsafe(32)
        self._identities.add(token, User(controller.username, (MASTERS, AUTHENTICATED)))
        path = (self._folder / f"{controller.name}.kubeconfig").absolute()
        write_kubeconfig(path, self._url, token, self._authority, as_json=True)
        return path
