"""
A program that talks over a network as its first argument says, to the port of its second: agents of several makes that
no file names, and programs that are none. A person types a line into it.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import socket
import subprocess
import sys
import threading
import time
import tty
import urllib.error
import urllib.request
from collections.abc import Callable

#: What an agent sends with each request: its rules, its tools, and the conversation so far.
CONVERSATION = "You are a coding agent. " * 800


def repl(ask: Callable[[str], object]) -> None:
    """Ask for a line at a plain prompt, and print what comes."""
    say("Hello. Ask away.\n\n")
    while line := input("> "):
        ask(line)
        say("\n")


def say(text: str) -> None:
    os.write(1, text.encode())


def full_screen(ask: Callable[[str], object], spins: bool = True) -> None:
    """Keep a box at the end of the screen; what comes is printed above it, and a spinner may turn there."""
    tty.setcbreak(0)
    done, line, frame = threading.Event(), "", 0
    done.set()
    while True:
        spinner = " " if done.is_set() else "+x"[frame % 2] if spins else "…"
        box = f"╭{'─' * 60}╮\r\n│ > {line:<57}│\r\n╰{'─' * 60}╯\r\n model"
        os.write(1, f"\x1b[H\x1b[2JHello\r\n\r\n {spinner}\r\n{box}\x1b[5;{5 + len(line)}H".encode())
        frame += 1
        if done.is_set() or not spins:
            key = os.read(0, 1)
            if key == b"\n":
                done.clear()
                text, line = line, ""
                threading.Thread(target=asked, args=(ask, text, done), daemon=True).start()
            else:
                line += key.decode()
        else:
            time.sleep(0.1)


def asked(ask: Callable[[str], object], text: str, done: threading.Event) -> None:
    ask(text)
    done.set()


def read(answer: http.client.HTTPResponse) -> None:
    while answer.read1(4096):
        pass


def body(line: str) -> bytes:
    return json.dumps({"stream": True, "messages": [CONVERSATION, line]}).encode()


def post(port: int, line: str, path: str = "/v1/messages") -> None:
    """A request on a connection of its own."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", body(line)) as answer:
        read(answer)


def kept(port: int, proxy: bool = False) -> Callable[[str], object]:
    """Requests on a connection that is kept, which may lead through a proxy."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    if proxy:
        connection.set_tunnel("model.example", 443)
    connection.connect()

    def ask(line: str) -> None:
        connection.request("POST", "/v1/messages", body(line))
        read(connection.getresponse())

    return ask


def frames(port: int) -> Callable[[str], object]:
    """Frames both ways on one connection, as of a WebSocket."""
    connection = socket.create_connection(("127.0.0.1", port))
    connection.sendall(b"GET /ws HTTP/1.1\r\nUpgrade: websocket\r\n\r\n")
    connection.recv(4096)

    def ask(line: str) -> None:
        connection.sendall(body(line))
        while b"[END]" not in connection.recv(65536):
            connection.sendall(b"\x8a\x80abcd")

    return ask


def streams(port: int) -> Callable[[str], object]:
    """Streams on one connection, as of HTTP/2: what came opens the window, after the end too, and it pings at rest."""
    connection = socket.create_connection(("127.0.0.1", port))
    connection.sendall(b"GET /ws HTTP/1.1\r\nUpgrade: h2c\r\n\r\n")
    connection.recv(4096)
    opened, ping = b"\0\0\x04\x08" + bytes(9), b"\0\0\x08\x06" + bytes(13)

    def tell() -> None:
        while True:
            time.sleep(2.0)
            connection.sendall(ping)

    def ask(line: str) -> None:
        connection.sendall(body(line))
        while b"[END]" not in connection.recv(65536):
            connection.sendall(opened)
        time.sleep(0.3)
        connection.sendall(2 * opened)

    threading.Thread(target=tell, daemon=True).start()
    return ask


def served(port: int) -> Callable[[str], object]:
    """The request comes from a server of its own, to which the program talks over TCP."""
    listener = socket.create_server(("127.0.0.1", 0))
    if os.fork() == 0:
        here, _ = listener.accept()
        while line := here.recv(65536):
            post(port, line.decode())
            here.sendall(b"done")
        os._exit(0)
    connection = socket.create_connection(listener.getsockname())

    def ask(line: str) -> None:
        connection.sendall(line.encode())
        connection.recv(64)

    return ask


def beside(port: int) -> Callable[[str], object]:
    """A server of tools is kept beside, and what is measured is told at rest."""
    subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    told = kept(port)

    def tell() -> None:
        while True:
            time.sleep(3.0)
            connection = http.client.HTTPConnection("127.0.0.2", port)
            connection.request("POST", "/telemetry", b"x" * 20_000)
            connection.getresponse().read()

    threading.Thread(target=tell, daemon=True).start()
    return told


def twice(port: int) -> Callable[[str], object]:
    """Two subagents at once."""

    def ask(line: str) -> None:
        both = [threading.Thread(target=post, args=(port, line)) for _ in range(2)]
        for one in both:
            one.start()
        for one in both:
            one.join()

    return ask


def retried(port: int) -> Callable[[str], object]:
    """The first answer says that too much was asked; it is asked again after a moment."""

    def ask(line: str) -> None:
        for path in ("/busy", "/busy", "/v1/messages"):
            with contextlib.suppress(urllib.error.HTTPError):
                post(port, line, path)
            time.sleep(0.5)

    return ask


# What is no agent ---------------------------------------------------------------------------------------------------


def upload(port: int) -> None:
    for percent in range(1000):
        post(port, "x", "/telemetry")
        os.write(1, f"\r{percent} %".encode())
        time.sleep(0.1)


def follow(port: int) -> None:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/log") as answer:
        while piece := answer.read1(4096):
            os.write(1, piece)


def poll(port: int) -> None:
    while True:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/poll") as answer:
            say(f"{len(answer.read())}\n")


def rpc(port: int) -> Callable[[str], object]:
    """A client of a database: a short question, and a long answer."""
    connection = socket.create_connection(("127.0.0.1", port))
    connection.sendall(b"GET /ws HTTP/1.1\r\n\r\n")
    connection.recv(4096)

    def ask(line: str) -> None:
        connection.sendall(line.encode())
        while b"[END]" not in (rows := connection.recv(65536)):
            say(f"{len(rows)}\n")

    return ask


def main(word: str, port: int) -> None:
    agents: dict[str, Callable[[], object]] = {
        "repl": lambda: repl(lambda line: post(port, line)),
        "full screen": lambda: full_screen(kept(port)),
        "without motion": lambda: full_screen(kept(port), spins=False),
        "proxy": lambda: full_screen(kept(port, proxy=True)),
        "websocket": lambda: full_screen(frames(port)),
        "streams": lambda: full_screen(streams(port)),
        "server": lambda: full_screen(served(port)),
        "beside": lambda: full_screen(beside(port)),
        "two": lambda: full_screen(twice(port)),
        "retries": lambda: full_screen(retried(port)),
        "upload": lambda: upload(port),
        "follow": lambda: follow(port),
        "poll": lambda: poll(port),
        "database": lambda: repl(rpc(port)),
    }
    agents[word]()


if __name__ == "__main__":
    main(sys.argv[1].replace("-", " "), int(sys.argv[2]))
