"""Signs JSON web tokens with a key pair, and publishes its public half.

The pair is derived from the secret that the server keeps, so that tokens survive a restart without a file of their own.

Upstream: pkg/serviceaccount/jwt.go and openidmetadata.go (algorithm ES256).
"""

import base64
import binascii
import hashlib
from functools import lru_cache

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from seatrial.model.documents import Document, encode

ALGORITHM = "ES256"
_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
"""The number of points of the curve P-256."""
_SIZE = 32
KNOWN_TOKENS = 1024


class TokenSigner:
    """A key pair for tokens."""

    def __init__(self, secret: bytes) -> None:
        seed = hashlib.sha512(b"service account tokens" + secret).digest()
        self._key = ec.derive_private_key(int.from_bytes(seed) % (_ORDER - 1) + 1, ec.SECP256R1())
        self._public = self._key.public_key()
        der = self._public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        self._id = text_of(hashlib.sha256(der).digest())
        self.is_signed = lru_cache(KNOWN_TOKENS)(self._verify)

    def sign(self, claims: Document) -> str:
        """A token with these claims."""
        head = f"{text_of(encode({'alg': ALGORITHM, 'kid': self._id}))}.{text_of(encode(claims))}"
        parts = decode_dss_signature(self._key.sign(head.encode(), ec.ECDSA(SHA256())))
        return f"{head}.{text_of(b''.join(part.to_bytes(_SIZE) for part in parts))}"

    def key_set(self) -> Document:
        """The public key, as a JSON web key set."""
        numbers = self._public.public_numbers()
        x, y = (text_of(number.to_bytes(_SIZE)) for number in (numbers.x, numbers.y))
        key = {"use": "sig", "kty": "EC", "kid": self._id, "crv": "P-256", "alg": ALGORITHM, "x": x, "y": y}
        return {"keys": [key]}

    def _verify(self, token: str) -> bool:
        """Whether this key has signed a token."""
        head, _, signature = token.rpartition(".")
        try:
            data = bytes_of(signature)
            if head.count(".") != 1 or len(data) != 2 * _SIZE:
                return False
            numbers = (int.from_bytes(part) for part in (data[:_SIZE], data[_SIZE:]))
            self._public.verify(encode_dss_signature(*numbers), head.encode(), ec.ECDSA(SHA256()))
        except (InvalidSignature, ValueError, binascii.Error):
            return False
        return True


def text_of(data: bytes) -> str:
    """Bytes as a token spells them: base64 for URLs, without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def bytes_of(text: str) -> bytes:
    """The bytes of a part of a token."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
