"""A push service on loopback, by https with an authority of its own, and a browser's half of the keys."""

from __future__ import annotations

import base64
import datetime
import http.server
import ipaddress
import json
import os
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs
import http_ece
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


@attrs.define
class Phone:
    """A browser: its keys, and what it reads, by a program that is not ours (https://github.com/web-push-libs)."""

    key: ec.EllipticCurvePrivateKey = attrs.field(factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    auth: bytes = attrs.field(factory=lambda: os.urandom(16))

    @property
    def keys(self) -> dict[str, str]:
        point = self.key.public_key().public_bytes(
            serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
        )
        return {"p256dh": encoded(point), "auth": encoded(self.auth)}

    def read(self, body: bytes) -> dict[str, Any]:
        plain = http_ece.decrypt(body, private_key=self.key, auth_secret=self.auth, version="aes128gcm")
        found: dict[str, Any] = json.loads(plain)
        return found


@attrs.frozen
class Got:
    """One message as it came in."""

    path: str
    headers: dict[str, str]
    body: bytes


@attrs.define
class PushService:
    """Keeps what it is sent. It answers with the first of *answers*, as long as there is one, and then with 201."""

    port: int
    authority: Path
    got: list[Got] = attrs.field(factory=list)
    answers: list[tuple[int, dict[str, str]]] = attrs.field(factory=list)

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def endpoint(self, name: str) -> str:
        return f"https://{self.host}/send/{name}"


def _certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate of 127.0.0.1 that is its own authority, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "push service")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    paths = folder / "authority.pem", folder / "key.pem"
    paths[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return paths


@contextmanager
def push_service(folder: Path) -> Iterator[PushService]:
    """A push service that runs."""
    folder.mkdir(parents=True, exist_ok=True)
    certificate, key = _certificate(folder)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status, headers = service.answers.pop(0) if service.answers else (201, {})
            # What is waited for is there when the answer has gone out.
            self.send_response(status)
            for name, value in ({"Content-Length": "0"} | headers).items():
                self.send_header(name, value)
            self.end_headers()
            service.got.append(Got(self.path, {k.lower(): v for k, v in self.headers.items()}, body))

        def log_message(self, *_words: object) -> None:
            """Nothing is to be read of it."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    service = PushService(server.server_address[1], certificate)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()
        thread.join(20)
