"""A core that knows no sequence: what comes in goes out. Run as a program it is `tally run` with this core."""

from __future__ import annotations


class PlainCore:
    """Passes everything on."""

    def __init__(self, *, passthrough: bool = False, agent: str = "") -> None:
        self._terminal = self._child = b""

    def from_child(self, data: bytes, now: float) -> None:
        self._terminal += data

    def from_user(self, data: bytes, now: float) -> None:
        self._child += data

    def tick(self, now: float) -> None: ...

    def resized(self, now: float) -> None: ...

    def attached(self, now: float) -> None: ...

    def finished(self, now: float) -> None: ...

    def deadline(self) -> float | None:
        return None

    def to_terminal(self) -> bytes:
        data, self._terminal = self._terminal, b""
        return data

    def to_child(self) -> bytes:
        data, self._child = self._child, b""
        return data


if __name__ == "__main__":
    import sys
    import types
    from pathlib import Path

    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "shared"))
    module = types.ModuleType("tallylight.relay.core")
    module.RelayCore = PlainCore  # type: ignore[attr-defined]
    sys.modules[module.__name__] = module
    from tallylight.cli.run import main

    sys.exit(main(sys.argv[1:]))
