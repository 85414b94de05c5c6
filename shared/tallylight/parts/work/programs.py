"""The person's own programs in their terminal: a pager and an editor; and the next key that they press."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import termios
import tty
from collections.abc import Mapping, Sequence

from tallylight.model.errors import TallyError

#: How git has less show what fits on a screen, if the person does not say otherwise.
_LESS = {"LESS": "FRX", "LV": "-c"}
#: How a setting of a pager says that there is none, and that it is another setting.
_NO, _YES = frozenset({"false", "no", "off"}), frozenset({"true", "yes", "on"})


def pager(own: Mapping[str, str]) -> str:
    """Return the pager as git chooses it, by the person's *own* settings of git; nothing for none."""
    wanted = own.get("pager.diff", "")
    if wanted.lower() in _NO:
        return ""
    wanted = wanted if wanted.lower() not in _YES else ""
    names = (os.environ.get("GIT_PAGER"), wanted, own.get("core.pager"), os.environ.get("PAGER"))
    return next(filter(None, names), "less")


def page(text: str, program: str) -> None:
    """Show *text* in a pager; without one, or where nobody sees it, write it."""
    if program and sys.stdout.isatty():
        run(["/bin/sh", "-c", program], _LESS | os.environ, text)
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(_encoded(text))
        sys.stdout.buffer.flush()


def edit(path: str) -> int:
    """Have the person edit the file *path*; return the exit code of their editor."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    return run(["/bin/sh", "-c", f'{editor} "$@"', editor, path], os.environ)


def run(argv: Sequence[str], environ: Mapping[str, str], text: str | None = None) -> int:
    """Run a program in this terminal, with *text* as its input. Ctrl-C is for it alone."""
    # Not ignored, which the program would inherit.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        given = _encoded(text) if text is not None else None
        return subprocess.run(argv, env=environ, input=given, check=False).returncode
    finally:
        signal.signal(signal.SIGINT, before)


def key(asked: str) -> str:
    """Return the next key that is pressed after what is *asked*."""
    if not sys.stdin.isatty():
        raise TallyError("nobody can be asked here: run it in a terminal, or give --yes")
    fd = sys.stdin.fileno()
    before = termios.tcgetattr(fd)
    try:
        tty.setcbreak(fd)  # before the question: it forgets what was typed until then
        sys.stdout.write(asked)
        sys.stdout.flush()
        return os.read(fd, 64).decode("utf-8", "replace")
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)
        sys.stdout.write("\n")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
