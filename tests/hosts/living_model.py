"""
The model that `living_agent` talks to, and all else that it may talk to. As a program it serves on any port, and writes
the number of that into the file of its argument.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

#: Seconds until the model says its first word, and until its last; it says one every tenth.
THINKS_S, SAYS_S = 2.5, 3.0
#: Bytes of what keeps a connection alive, many times over.
PING = 1000


class Model(BaseHTTPRequestHandler):
    """What all of them talk to. `turns` has when each answer began and ended, by its program."""

    protocol_version = "HTTP/1.1"
    server: Serving

    def do_CONNECT(self) -> None:
        self.close_connection = False
        self.send_response(200)
        self.end_headers()

    def do_GET(self) -> None:
        if self.path == "/ws":
            self.wfile.write(b"HTTP/1.1 101 Switching Protocols\r\n\r\n")
            while self._has_more():
                with self.server.turn(self.client_address):
                    time.sleep(THINKS_S)
                    for _ in range(int(SAYS_S * 10)):
                        self.wfile.write(b"\x81\x7e" + b"word " * 30)
                        time.sleep(0.1)
                    self.wfile.write(b"[END]")
            return
        self._begin()
        for _ in range(3 if self.path == "/poll" else 1000):
            with contextlib.suppress(OSError):
                self._piece(b"a line of a log\r\n" * 9)
            time.sleep(0.3)
        self._piece(b"")

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        if self.path == "/busy":
            self.send_error(429)
        elif self.path == "/telemetry":
            self._begin()
            self._piece(b"{}")
            self._piece(b"")
        else:
            with self.server.turn(self.client_address):
                self._begin()
                time.sleep(THINKS_S)
                for _ in range(int(SAYS_S * 10)):
                    self._piece(b"data: " + b"word " * 30)
                    time.sleep(0.1)
            self._piece(b"")

    def _has_more(self) -> bool:
        """Wait for the next question; frames that are as short as pings are none."""
        data = b"x"
        with contextlib.suppress(OSError):
            while data and len(data := self.connection.recv(1 << 20)) < PING:
                pass
            return bool(data)
        return False

    def _begin(self) -> None:
        self.send_response(200)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()

    def _piece(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Serving(ThreadingHTTPServer):
    """A model of one program's own."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self) -> None:
        super().__init__(("", 0), Model)
        self.began: float | None = None
        self.ended: float | None = None
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_: object) -> None:
        """Give a client that has gone no answer."""

    @contextlib.contextmanager
    def turn(self, _who: object) -> Iterator[None]:
        self.began = self.began or time.monotonic()
        with contextlib.suppress(OSError):
            yield
        self.ended = time.monotonic()


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(str(Serving().server_port))
    threading.Event().wait()
