"""
Makes a message safe for a push service: encrypts it for one browser (RFC 8291, RFC 8188), and signs it (VAPID, RFC
8292).

The ciphers are those of https://cryptography.io , which only this module imports. The formats around them are few
lines. The example of RFC 8291 and another program that decrypts test them.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import struct

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from tallylight.parts.web.push.endpoints import MAX_PLAIN

#: Every message is padded to a multiple of this, in bytes: its length reveals less.
BLOCK = 512
#: How many seconds a signature is valid; services refuse more than a day.
SIGNED_S = 12 * 3600
_RECORD = 4096
_POINT, _AUTH, _SALT = 65, 16, 16
_SHA256 = hashes.SHA256


class BadKeyError(ValueError):
    """Not a valid key."""


#: The key that identifies this server to push services.
Key = ec.EllipticCurvePrivateKey
#: The keys of a browser: it alone can read a message.
Reader = tuple[ec.EllipticCurvePublicKey, bytes]


def reader(p256dh: str, auth: str) -> Reader:
    """Return the keys that a browser sends, in base64url; raise `BadKeyError` if they are invalid."""
    point, secret = _decoded(p256dh, _POINT), _decoded(auth, _AUTH)
    try:
        return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point), secret
    except ValueError:
        raise BadKeyError("the key is no point of the curve P-256") from None


def _decoded(text: str, length: int) -> bytes:
    """Return the bytes in *text*, base64 of exactly *length* bytes; raise an error for any other text."""
    word = text.rstrip("=")
    try:
        found = base64.b64decode(word + "=" * (-len(word) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise BadKeyError("the keys are not base64url") from None
    if len(found) != length:
        raise BadKeyError(f"a key has {len(found)} bytes, and not {length}")
    return found


def seal(plain: bytes, to: Reader, *, salt: bytes = b"", key: Key | None = None) -> bytes:
    """
    Return *plain*, of at most `MAX_PLAIN` bytes, encrypted for one browser, with the content encoding `aes128gcm`.

    *salt* and *key* are new for each message; only a test passes them, and then there is no padding.
    """
    if len(plain) > MAX_PLAIN:
        raise ValueError(f"the message has more than {MAX_PLAIN} bytes")
    filling = bytes(0 if salt else -(len(plain) + 1) % BLOCK)
    salt, key = salt or os.urandom(_SALT), key or ec.generate_private_key(ec.SECP256R1())
    point, auth = to
    own, theirs = _raw(key.public_key()), _raw(point)
    shared = key.exchange(ec.ECDH(), point)
    secret = _derived(auth, shared, b"WebPush: info\0" + theirs + own, 32)
    cipher = AESGCM(_derived(salt, secret, b"Content-Encoding: aes128gcm\0", 16))
    nonce = _derived(salt, secret, b"Content-Encoding: nonce\0", 12)
    # 2 ends the last record, and this is the only one.
    record = cipher.encrypt(nonce, plain + b"\x02" + filling, None)
    return salt + struct.pack("!IB", _RECORD, len(own)) + own + record


def _derived(salt: bytes, secret: bytes, info: bytes, length: int) -> bytes:
    return HKDF(algorithm=_SHA256(), length=length, salt=salt, info=info).derive(secret)


def public(key: Key) -> str:
    """Return the key for a browser: `applicationServerKey`, in base64url."""
    return _encoded(_raw(key.public_key()))


def authorization(key: Key, audience: str, subject: str, now: float) -> str:
    """
    Return the header that signs a message to the service *audience*, an origin, at *now*, seconds since the epoch.

    *subject* is a contact for this server: an address with `mailto:` or `https:`, or empty.
    """
    claims: dict[str, object] = {"aud": audience, "exp": int(now) + SIGNED_S}
    if subject:
        claims["sub"] = subject
    parts = ({"typ": "JWT", "alg": "ES256"}, claims)
    text = ".".join(_encoded(json.dumps(part, separators=(",", ":")).encode()) for part in parts)
    r, s = decode_dss_signature(key.sign(text.encode(), ec.ECDSA(_SHA256())))
    return f"vapid t={text}.{_encoded(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))},k={public(key)}"


def new_key() -> bytes:
    """Return a new key, as the text of a file."""
    return ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def load_key(text: bytes) -> Key:
    """Return the key in the text of a file; raise `BadKeyError` if there is none."""
    try:
        key = serialization.load_pem_private_key(text, None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise BadKeyError("is no key that signs messages") from None
    if not isinstance(key, Key) or not isinstance(key.curve, ec.SECP256R1):
        raise BadKeyError("is a key of another kind than the one that signs messages")
    return key


def _raw(key: ec.EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")
