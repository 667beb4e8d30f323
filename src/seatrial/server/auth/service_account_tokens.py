"""Tokens of service accounts: signed with a key of this server, for some audiences, until they expire.

They need no storage and survive a restart. A token ends with its account, and with the object it is bound to.

Upstream: pkg/serviceaccount/claims.go and jwt.go.
"""

import binascii
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from seatrial.model.documents import Document, decode
from seatrial.model.errors import NotFound
from seatrial.model.times import SECOND
from seatrial.server.auth.token_signer import ALGORITHM, TokenSigner, bytes_of
from seatrial.store import Store, User

AUTHENTICATED = "system:authenticated"
ISSUER = "https://kubernetes.default.svc"
"""The issuer of tokens, and the audience that the API itself is."""
LEEWAY = 60
"""Seconds by which clocks may differ (go-jose's default)."""
BOUND = {"pod": "Pod", "secret": "Secret", "node": "Node"}
"""Claims about the object that a token is bound to, and the object's kind."""


@dataclass(frozen=True, slots=True)
class Authenticated:
    """The user of a token, and those of the requested audiences that the token is for."""

    user: User
    audiences: tuple[str, ...]


class ServiceAccountTokens:
    """Issues tokens and checks them against the accounts in the store."""

    def __init__(self, key: bytes, store: Store) -> None:
        self._signer = TokenSigner(key)
        self._store = store

    def issue(self, account: Document, seconds: int, audiences: Sequence[str], bound: Document | None) -> str:
        """A token (JWT) of a service account; it is invalid once the object `bound` is deleted."""
        metadata, now = account["metadata"], self._store.clock.now() // SECOND
        private: Document = {
            "namespace": metadata["namespace"],
            "serviceaccount": {"name": metadata["name"], "uid": metadata["uid"]},
        }
        if bound is not None:
            private[bound["kind"].lower()] = {key: bound["metadata"][key] for key in ("name", "uid")}
        claims = {
            "aud": list(audiences),
            "exp": now + seconds,
            "iat": now,
            "iss": ISSUER,
            "jti": str(uuid.uuid4()),
            "kubernetes.io": private,
            "nbf": now,
            "sub": f"system:serviceaccount:{metadata['namespace']}:{metadata['name']}",
        }
        return self._signer.sign(claims)

    def discovery(self, keys_at: str) -> Document:
        """The metadata of the issuer, by which others verify its tokens."""
        return {
            "issuer": ISSUER,
            "jwks_uri": keys_at,
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [ALGORITHM],
        }

    def key_set(self) -> Document:
        """The public keys of the issuer."""
        return self._signer.key_set()

    def authenticate(self, token: str, audiences: Sequence[str]) -> Authenticated | None:
        """The user of a token that is valid now for one of the audiences; None for any other text."""
        claims = self._claims(token)
        if claims is None:
            return None
        matching = tuple(audience for audience in audiences if audience in claims["aud"])
        now = self._store.clock.now() // SECOND
        if not matching or now > claims["exp"] + LEEWAY or now < claims.get("nbf", 0) - LEEWAY:
            return None
        private = claims["kubernetes.io"]
        namespace, account = private["namespace"], private["serviceaccount"]
        if not self._exists("ServiceAccount", account, namespace):
            return None
        for claim, kind in BOUND.items():
            if claim in private and not self._exists(kind, private[claim], "" if kind == "Node" else namespace):
                return None
        return Authenticated(_user(claims, private), matching)

    def _claims(self, token: str) -> dict[str, Any] | None:
        if not self._signer.is_signed(token):
            return None
        try:
            claims: dict[str, Any] = decode(bytes_of(token.split(".")[1]))
        except (ValueError, binascii.Error):
            return None
        return claims

    def _exists(self, kind: str, reference: Document, namespace: str) -> bool:
        """Whether the object of a claim is still there, and is the same one."""
        known = self._store.kinds.served("v1", kind)
        try:
            metadata = self._store.get(known, reference["name"], namespace).document()["metadata"]
        except NotFound:
            return False
        return bool(metadata["uid"] == reference["uid"])


def _user(claims: Document, private: Document) -> User:
    namespace = private["namespace"]
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", AUTHENTICATED)
    extra: dict[str, tuple[str, ...]] = {}
    if "jti" in claims:
        extra["authentication.kubernetes.io/credential-id"] = (f"JTI={claims['jti']}",)
    for claim in ("node", "pod"):
        if claim in private:
            for key in ("name", "uid"):
                extra[f"authentication.kubernetes.io/{claim}-{key}"] = (private[claim][key],)
    return User(claims["sub"], groups, private["serviceaccount"]["uid"], extra)
