"""How real agents are had: their names in the registries, the newest instead of the pinned, and scripts that move."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.real_agents import install
from tests.real_agents.install import AGENTS, Agent, InstallError

SCRIPT = "from tests.real_agents.install import AGENTS; print(*(f'{a.name}={a.version}' for a in AGENTS.values()))"


def versions(cache: Path, **env: str) -> dict[str, str]:
    """The versions that a fresh process would take."""
    given = {"PATH": os.environ["PATH"], "TALLYLIGHT_CACHE": str(cache), **env}
    root = Path(install.__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, env=given, cwd=root
    )
    return dict(word.split("=") for word in done.stdout.split())


def test_agents_and_node() -> None:
    """The agents are pinned, and the node that the scripts among them run on."""
    eight = {"claude", "codex", "opencode", "gemini", "qwen", "copilot", "kilo", "aider"}
    assert set(AGENTS) == {"node", *eight, "kimi", "pi", "cline", *install.RECORDED}
    for agent in AGENTS.values():
        assert agent.version in agent.spec
        assert agent.path.is_relative_to(agent.folder)
        assert "{" not in f"{agent.spec}{agent.path}"


@pytest.mark.slow
def test_latest(tmp_path: Path) -> None:
    """With `TALLYLIGHT_AGENTS=latest` the newest that were found are taken, and node stays; without, the pinned."""
    newest = tmp_path / "agents/latest.json"
    newest.parent.mkdir()
    newest.write_text(json.dumps({"gemini": "99.0.0", "node": "99.0.0"}))
    pinned, latest = versions(tmp_path), versions(tmp_path, TALLYLIGHT_AGENTS="latest")

    assert latest["gemini"] == "99.0.0"
    assert {name: version for name, version in latest.items() if name != "gemini"} == {
        name: version for name, version in pinned.items() if name != "gemini"
    }
    newest.write_text("{broken")
    assert versions(tmp_path, TALLYLIGHT_AGENTS="latest") == pinned


def fake(folder: Path, name: str, answer: str) -> None:
    """A program that says something whatever it is asked."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\necho '{answer}'\n")
    (folder / name).chmod(0o755)


def test_find_newest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The registry's ordinary client says which version is the newest; one that says none is an error that says so."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(install, "_ENVIRONMENT", dict(os.environ))
    fake(tmp_path, "npm", "1.2.3")
    fake(tmp_path, "python", "aider-chat (0.99.1)")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))

    assert install.find_newest(AGENTS["gemini"]) == "1.2.3"
    assert install.find_newest(AGENTS["aider"]) == "0.99.1"
    fake(tmp_path, "npm", "no such package")
    with pytest.raises(InstallError, match="no newest version of @google/gemini-cli: no such package"):
        install.find_newest(AGENTS["gemini"])


def test_move_scripts(tmp_path: Path) -> None:
    """Scripts of an environment name the place it was moved to; programs and links stay as they are."""
    partial, final = tmp_path / "partial", tmp_path / "final"
    fake(partial, "x", "")
    (partial / "bin").mkdir()
    (partial / "bin/aider").write_text(f"#!{partial}/bin/python3\nprint({str(partial)!r})\n")
    (partial / "bin/other").write_text("#!/bin/sh\n")
    (partial / "bin/python3").symlink_to(sys.executable)
    install._move_scripts(partial, final)

    assert (partial / "bin/aider").read_text().splitlines() == [f"#!{final}/bin/python3", f"print({str(partial)!r})"]
    assert (partial / "bin/other").read_text() == "#!/bin/sh\n"
    assert (partial / "bin/python3").readlink() == Path(sys.executable)


def test_wrong_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A download that is not the version asked for is not kept."""
    monkeypatch.setattr(install, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(install, "npm_pack", lambda _agent, into: fake(into, "made", "made 2.0.0"))
    agent = Agent("made", "1.0.0", "made@{version}", "made")

    with pytest.raises(InstallError, match=r"made --version said 'made 2\.0\.0"):
        install.install(agent)
    assert list((tmp_path / "cache/agents/made").iterdir()) == []
    assert install.install(agent._replace(version="2.0.0")).is_file()


def test_latest_that_cannot_be_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A newest version that is announced and not all there is no agent to test: the pinned one stays; it is said."""

    def refuse(agent: Agent) -> Path:
        raise InstallError(f"no {agent.version}")

    newest = tmp_path / "latest.json"
    monkeypatch.setattr(install, "_NEWEST", newest)
    monkeypatch.setattr(install, "find_newest", lambda _agent: "99.0.0")
    monkeypatch.setattr(install, "install", refuse)

    assert install.main(["--latest", "kilo"]) == 1
    assert not newest.exists()
    assert "kilo: no 99.0.0" in capsys.readouterr().err
    monkeypatch.setattr(install, "install", lambda agent: tmp_path / agent.version)
    assert install.main(["--latest", "kilo"]) == 0
    assert json.loads(newest.read_text()) == {"kilo": "99.0.0"}
