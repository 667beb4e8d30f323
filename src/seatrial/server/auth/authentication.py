"""Authentication: bearer tokens stand for users with groups.

Tokens of service accounts are signed with a key of this server, so they need no storage and survive a restart.
"""

import base64
import binascii
import csv
import hashlib
import hmac
import secrets
from pathlib import Path

from seatrial.model.documents import decode, encode
from seatrial.model.errors import ConfigError, Unauthorized
from seatrial.store.users import MASTERS, User

AUTHENTICATED = "system:authenticated"
ISSUER = "https://kubernetes.default.svc"


ADMIN = User("kubernetes-admin", (MASTERS, AUTHENTICATED))
ANONYMOUS_ADMIN = User("system:anonymous", (MASTERS, "system:unauthenticated"))


class Identities:
    """The tokens this server knows."""

    def __init__(self, key: bytes | None = None, *, anonymous: bool = False) -> None:
        self._users: dict[str, User] = {}
        self._key = key or secrets.token_bytes(32)
        self._anonymous = anonymous

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
        """The user of an Authorization header; Unauthorized where there is none."""
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() == "bearer" and token:
            user = self.user_of(token)
            if user is not None:
                return user
        elif self._anonymous and not authorization:
            return ANONYMOUS_ADMIN
        raise Unauthorized("Unauthorized")

    def user_of(self, token: str) -> User | None:
        """The user a token stands for; None where it is unknown."""
        return self._users.get(token) or self.of_service_account_token(token)

    def token_for_service_account(
        self, namespace: str, name: str, uid: str, *, expires: int, audiences: list[str]
    ) -> str:
        """A signed token (JWT, HS256) that stands for a service account until `expires` (Unix seconds)."""
        claims = {
            "aud": audiences or [ISSUER],
            "exp": expires,
            "iss": ISSUER,
            "kubernetes.io": {"namespace": namespace, "serviceaccount": {"name": name, "uid": uid}},
            "sub": f"system:serviceaccount:{namespace}:{name}",
        }
        head = _text({"alg": "HS256", "typ": "JWT"}) + "." + _text(claims)
        return head + "." + self._signature(head)

    def of_service_account_token(self, token: str) -> User | None:
        """The user of a token that this server signed; None for any other text."""
        head, _, signature = token.rpartition(".")
        if head.count(".") != 1 or not hmac.compare_digest(signature.encode(), self._signature(head).encode()):
            return None
        try:
            claims = decode(_bytes(head.partition(".")[2]))
        except (ValueError, binascii.Error):
            return None
        namespace = claims["kubernetes.io"]["namespace"]
        account = claims["kubernetes.io"]["serviceaccount"]
        groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", AUTHENTICATED)
        return User(claims["sub"], groups, account["uid"])

    def _signature(self, head: str) -> str:
        digest = hmac.new(self._key, head.encode("utf-8", "surrogateescape"), hashlib.sha256).digest()
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def _text(document: object) -> str:
    return base64.urlsafe_b64encode(encode(document)).rstrip(b"=").decode()


def _bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
