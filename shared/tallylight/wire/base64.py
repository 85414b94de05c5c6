"""
Base64 values: https://www.rfc-editor.org/rfc/rfc4648#section-4, the standard alphabet, padded and canonical.

GNU `base64` breaks its lines at 76 columns, so ASCII whitespace inside is taken out first. Nothing else is
repaired: the URL alphabet, missing or surplus padding, and spare bits that are not zero are all `bad-encoding`.
"""

from __future__ import annotations

import binascii

from tallylight.model.errors import DecodeError


def decode_bytes(value: bytes) -> bytes:
    """Decode one value to bytes, or raise DecodeError `bad-encoding`."""
    packed = b"".join(value.split())
    try:
        data = binascii.a2b_base64(packed, strict_mode=True)
    except binascii.Error as error:
        raise DecodeError("bad-encoding", f"not base64: {error}") from None
    if binascii.b2a_base64(data, newline=False) != packed:
        raise DecodeError("bad-encoding", "base64 with spare bits that are not zero")
    return data


def decode_text(value: bytes) -> str:
    """Decode one value to text, or raise DecodeError `bad-encoding`. The text is not sanitised."""
    try:
        return decode_bytes(value).decode("utf-8")
    except UnicodeDecodeError as error:
        raise DecodeError("bad-encoding", f"base64 of bytes that are not UTF-8: {error.reason}") from None
