"""Authentication: maps bearer tokens to users with groups."""

import csv
import secrets
from collections.abc import Sequence
from pathlib import Path

from seatrial.model.errors import ConfigError, Unauthorized
from seatrial.server.auth.service_account_tokens import AUTHENTICATED, ISSUER, Authenticated, ServiceAccountTokens
from seatrial.store import MASTERS, Store, User

__all__ = ["ADMIN", "ANONYMOUS_ADMIN", "AUTHENTICATED", "ISSUER", "Identities"]

ADMIN = User("kubernetes-admin", (MASTERS, AUTHENTICATED))
ANONYMOUS_ADMIN = User("system:anonymous", (MASTERS, "system:unauthenticated"))


class Identities:
    """The tokens this server knows."""

    def __init__(self, key: bytes | None = None, *, anonymous: bool = False) -> None:
        self._users: dict[str, User] = {}
        self._key = key or secrets.token_bytes(32)
        self._anonymous = anonymous
        self._accounts: ServiceAccountTokens | None = None

    def add(self, token: str, user: User) -> None:
        self._users[token] = user

    def load_file(self, path: Path) -> None:
        """Read a token file as kube-apiserver's --token-auth-file: token,user,uid,"group1,group2"."""
        try:
            rows = list(csv.reader(path.read_text().splitlines(), skipinitialspace=True))
        except OSError as error:
            raise ConfigError(str(path), "", error.strerror or "cannot be read") from error
        except (UnicodeDecodeError, csv.Error) as error:
            raise ConfigError(str(path), "", f"not a token file: {error}") from error
        for number, row in enumerate(rows, 1):
            if not row:
                continue
            if len(row) < 3 or not row[0] or not row[1]:
                raise ConfigError(str(path), f"line {number}", 'expected token,user,uid[,"group1,group2"]')
            groups = tuple(filter(None, (g.strip() for g in row[3].split(",")))) if len(row) > 3 else ()
            self.add(row[0], User(row[1], (*groups, AUTHENTICATED), row[2]))

    def authenticate(self, authorization: str) -> User:
        """The user of an Authorization header; Unauthorized if it names no user."""
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() == "bearer" and token:
            user = self.user_of(token)
            if user is not None:
                return user
        elif self._anonymous and not authorization:
            return ANONYMOUS_ADMIN
        raise Unauthorized("Unauthorized")

    def user_of(self, token: str) -> User | None:
        """The user of a token; None where the token is unknown or has expired."""
        found = self.review(token, (ISSUER,))
        return found.user if found is not None else None

    def review(self, token: str, audiences: Sequence[str]) -> Authenticated | None:
        """The user of a token that is for one of these audiences; the tokens of users are for the API alone."""
        user = self._users.get(token)
        if user is not None:
            return Authenticated(user, (ISSUER,)) if ISSUER in audiences else None
        return self._accounts.authenticate(token, audiences) if self._accounts is not None else None

    def know_accounts(self, store: Store) -> ServiceAccountTokens:
        """Issue tokens for the service accounts of this store, and accept them as long as these exist."""
        self._accounts = ServiceAccountTokens(self._key, store)
        return self._accounts
