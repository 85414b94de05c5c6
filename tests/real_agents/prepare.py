"""Homes in which each of the agents starts at its prompt, talking to the scripted model, with nothing to ask.

No hook is installed and nothing is set that has to do with what an agent tells its terminal. What is set is: where the
model is, that the project is trusted, that a person is asked before a command runs, and that nobody waits for a network
that is not there: OpenCode and Kilo, with their default plugins on, try for more than a minute to fetch those.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.real_agents.driver import Launch, prepare_claude, prepare_codex
from tests.real_agents.install import AGENTS, NODE, install
from tests.real_agents.room import HOME
from tests.real_kitty.roots import ROOTS_DIR

#: Where kitty's own terminal description is, if a root was built.
_TERMINFO = ROOTS_DIR / "trixie/usr/lib/kitty/terminfo"


def prepare(name: str, home: Path, port: int, **env: str) -> Launch:
    """Make `home`, the room's `HOME`, one in which `name` starts at its prompt; say how it is started there."""
    project = home / "project"
    project.mkdir(parents=True, exist_ok=True)
    (project / "README.md").write_text("A project.\n")
    for words in (
        ["init", "-q", "-b", "main"],
        ["config", "user.name", "User"],
        ["config", "user.email", "user@example.org"],
        ["add", "."],
        ["commit", "-q", "-m", "Begin"],
    ):
        subprocess.run(["git", *words], cwd=project, check=True, env=_GIT)
    launch = _WAYS[name](home, port)
    variables = {
        "HOME": str(HOME),
        "PATH": f"{install(AGENTS[name]).parent}:{install(NODE).parent}:/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "SHELL": "/bin/bash",
        # What kitty gives its programs.
        "TERM": "xterm-kitty" if _TERMINFO.is_dir() else "xterm-256color",
        "COLORTERM": "truecolor",
        "KITTY_WINDOW_ID": "1",
    }
    if _TERMINFO.is_dir():
        variables["TERMINFO"] = str(_TERMINFO)
    return Launch(launch.argv, {**launch.env, **variables, **env}, HOME / "project")


_GIT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}


def _write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value, indent=2))


def _inside(home: Path, path: Path) -> None:
    """Let a file that names the home as it is called outside name it as it is called in the room."""
    path.write_text(path.read_text().replace(str(home), str(HOME)))


def _claude(home: Path, port: int) -> Launch:
    launch = prepare_claude(home, install(AGENTS["claude"]), port, version=AGENTS["claude"].version)
    _inside(home, home / ".claude.json")
    return launch


def _codex(home: Path, port: int) -> Launch:
    launch = prepare_codex(home, install(AGENTS["codex"]), port)
    _inside(home, home / ".codex/config.toml")
    return launch


def _opencode(home: Path, port: int) -> Launch:
    return _like_opencode("opencode", home, port)


def _kilo(home: Path, port: int) -> Launch:
    launch = _like_opencode("kilo", home, port)
    # Each of these costs it as much of a processor as a turn does.
    off = ("PRESENCE", "SESSION_INGEST", "CODEBASE_INDEXING", "FFF")
    return launch._replace(env={**launch.env, **{f"KILO_DISABLE_{name}": "1" for name in off}})


def _like_opencode(name: str, home: Path, port: int) -> Launch:
    model = {"name": "Scripted", "limit": {"context": 200_000, "output": 8_000}, "tool_call": True}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Scripted",
        "options": {"baseURL": f"http://127.0.0.1:{port}/v1", "apiKey": "scripted"},
        "models": {"scripted": model},
    }
    settings: dict[str, Any] = {
        "model": "scripted/scripted",
        "small_model": "scripted/scripted",
        "autoupdate": False,
        "share": "disabled",
        "permission": {"bash": "ask", "edit": "ask", "webfetch": "ask"},
        "provider": {"scripted": provider},
    }
    _write(home / f".config/{name}/{name}.json", settings)
    prefix = name.upper()
    return Launch(
        [name],
        {
            f"{prefix}_DISABLE_AUTOUPDATE": "1",
            f"{prefix}_DISABLE_MODELS_FETCH": "1",
            f"{prefix}_DISABLE_DEFAULT_PLUGINS": "1",
            f"{prefix}_DISABLE_LSP_DOWNLOAD": "1",
        },
        HOME,
    )


def _gemini(home: Path, port: int) -> Launch:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "privacy": {"usageStatisticsEnabled": False},
    }
    _write(home / ".gemini/settings.json", settings)
    return Launch(
        ["gemini"], {"GEMINI_API_KEY": "scripted" * 5, "GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{port}"}, HOME
    )


def _qwen(home: Path, port: int) -> Launch:
    settings = {
        "$version": 2,
        "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}},
        "general": {"enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
        # Else it asks a model what may be asked, and asks more after each turn.
        "tools": {"approvalMode": "default", "useRipgrep": False},
        "ui": {"enableFollowupSuggestions": False},
        "memory": {"enableManagedAutoMemory": False, "enableManagedAutoDream": False},
        "model": {"name": "scripted"},
    }
    _write(home / ".qwen/settings.json", settings)
    given = {"OPENAI_API_KEY": "scripted", "OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1", "OPENAI_MODEL": "scripted"}
    return Launch(["qwen"], given, HOME)


def _copilot(home: Path, port: int) -> Launch:
    project = str(HOME / "project")
    _write(home / ".copilot/config.json", {"trusted_folders": [project], "trustedFolders": [project]})
    given = {
        "COPILOT_PROVIDER_BASE_URL": f"http://127.0.0.1:{port}/v1",
        "COPILOT_PROVIDER_API_KEY": "scripted",
        "COPILOT_PROVIDER_TYPE": "openai",
        "COPILOT_MODEL": "scripted",
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
    }
    return Launch(["copilot"], given, HOME)


def _aider(home: Path, port: int) -> Launch:
    settings = {
        "model": "openai/scripted",
        "openai-api-base": f"http://127.0.0.1:{port}/v1",
        "openai-api-key": "scripted",
        "edit-format": "diff",  # with another one it runs no commands
        "map-tokens": 0,
        "check-update": False,
        "show-release-notes": False,
        "show-model-warnings": False,
        "analytics": False,
        "gitignore": False,
    }
    # YAML, of which JSON is a part.
    _write(home / ".aider.conf.yml", settings)
    _write(home / ".aider/caches/model_prices_and_context_window.json", {"scripted": {}})
    return Launch(["aider"], {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}, HOME)


def _kimi(home: Path, port: int) -> Launch:
    _write(home / ".kimi-code/config.toml", _KIMI_CONFIG.format(port=port))
    # Its name for the project, of a hash of the path.
    trusted = {"root": str(HOME / "project"), "trustedAt": 1795338568025}
    _write(home / ".kimi-code/workspace-trust/wd_project_9dad1e4e08b0", trusted)
    return Launch(["kimi"], {"KIMI_CODE_NO_AUTO_UPDATE": "1"}, HOME)


_KIMI_CONFIG = """
default_model = "scripted"

[providers.scripted]
type = "openai"
base_url = "http://127.0.0.1:{port}/v1"
api_key = "scripted"

[models.scripted]
provider = "scripted"
model = "scripted"
max_context_size = 200000
"""

#: Without these of pi's own examples it asks nothing.
_PI_EXTENSIONS = ("permission-gate", "question")


def _pi(home: Path, port: int) -> Launch:
    provider = {
        "baseUrl": f"http://127.0.0.1:{port}/v1",
        "api": "openai-completions",
        "apiKey": "scripted",
        "models": [{"id": "scripted"}],
    }
    _write(home / ".pi/agent/models.json", {"providers": {"scripted": provider}})
    _write(home / ".pi/agent/settings.json", {"defaultProvider": "scripted", "defaultModel": "scripted"})
    package = AGENTS["pi"].folder / "node_modules" / AGENTS["pi"].source
    for name in _PI_EXTENSIONS:
        text = (package / f"examples/extensions/{name}.ts").read_text()
        # As it comes it asks for three commands alone; here for all of them.
        text = text.replace(r"[/\brm\s+(-rf?|--recursive)/i", "[/^/")
        _write(home / f".pi/agent/extensions/{name}.ts", text)
    return Launch(["pi"], {"PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1"}, HOME)


def _cline(home: Path, port: int) -> Launch:
    settings = {
        "provider": "openai-compatible",
        "apiKey": "scripted",
        "model": "scripted",
        "baseUrl": f"http://127.0.0.1:{port}/v1",
    }
    about = {"settings": settings, "updatedAt": "2026-11-01T00:00:00.000Z", "tokenSource": "manual"}
    known = {
        "version": 1,
        "lastUsedProvider": "openai-compatible",
        "modes": {},
        "providers": {"openai-compatible": about},
    }
    _write(home / ".cline/data/settings/providers.json", known)
    _write(
        home / ".cline/data/settings/cli-notices.json",
        {"shown": {"cline-cli-cline-pass-intro": True, "cline-cli-desktop-launch": True}},
    )
    return Launch(["cline", "--auto-approve", "false", "-i"], {"CLINE_NO_AUTO_UPDATE": "1"}, HOME)


def _grok(home: Path, port: int) -> Launch:
    settings = {"apiKey": "scripted", "baseURL": f"http://127.0.0.1:{port}/v1", "defaultModel": "scripted"}
    _write(home / ".grok/user-settings.json", {**settings, "models": ["scripted"]})
    return Launch(["grok"], {}, HOME)


def _nanocoder(home: Path, port: int) -> Launch:
    provider = {"name": "Scripted", "baseUrl": f"http://127.0.0.1:{port}/v1", "apiKey": "scripted"}
    _write(
        home / ".config/nanocoder/agents.config.json",
        {"nanocoder": {"providers": [{**provider, "models": ["scripted"]}]}},
    )
    # What is typed at once is a paste to it, and stands there as its length.
    preferences = {"trustedDirectories": [str(HOME / "project")], "nanocoder": {"paste": {"singleLineThreshold": 2000}}}
    _write(home / ".config/nanocoder/nanocoder-preferences.json", preferences)
    return Launch(["nanocoder"], {}, HOME)


def _vibe(home: Path, port: int) -> Launch:
    _write(home / ".vibe/config.toml", _VIBE_CONFIG.format(port=port))
    return Launch(["vibe", "--trust"], {"SCRIPTED_KEY": "scripted", "MISTRAL_API_KEY": "scripted"}, HOME)


_VIBE_CONFIG = """
active_model = "scripted"
default_agent = "ask"
enable_telemetry = false
enable_update_checks = false
enable_auto_update = false

[[providers]]
name = "scripted"
api_base = "http://127.0.0.1:{port}/v1"
api_key_env_var = "SCRIPTED_KEY"

[[models]]
name = "scripted"
provider = "scripted"
alias = "scripted"
"""


def _cn(home: Path, port: int) -> Launch:
    _write(home / ".continue/config.yaml", _CN_CONFIG.format(port=port))
    return Launch(["cn", "--config", str(HOME / ".continue/config.yaml")], {"CONTINUE_TELEMETRY_ENABLED": "0"}, HOME)


_CN_CONFIG = """
name: scripted
version: 1.0.0
schema: v1
models:
  - name: scripted
    provider: openai
    model: scripted
    apiBase: http://127.0.0.1:{port}/v1
    apiKey: scripted
    roles: [chat]
    capabilities: [tool_use]
"""


def _gptme(home: Path, port: int) -> Launch:
    given = {"OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1", "OPENAI_API_KEY": "scripted"}
    given["GPTME_TIKTOKEN_TIMEOUT"] = "0"  # else it waits for a network
    argv = ["gptme", "--model", "local/scripted", "--tool-format", "tool", "--name", "scripted"]
    return Launch(argv, given, HOME)


def _kolega(home: Path, port: int) -> Launch:
    # It fetches a table of tokens before it asks a model; this is the same.
    tables = next(install(AGENTS["aider"]).parents[1].glob("lib/*/site-packages/litellm/litellm_core_utils/tokenizers"))
    given = {
        "KOLEGA_CODE_ENDPOINT_URL": f"http://127.0.0.1:{port}/v1",
        "KOLEGA_CODE_ENDPOINT_API_KEY": "scripted",
        "KOLEGA_CODE_PROVIDER": "custom:cli",
        "KOLEGA_CODE_MODEL": "scripted",
        "TIKTOKEN_CACHE_DIR": str(tables),
    }
    return Launch(["kolega-code", "tui", "--permission-mode", "ask"], given, HOME)


def _tunacode(home: Path, port: int) -> Launch:
    variables = {"OPENAI_API_KEY": "scripted", "OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1"}
    _write(home / ".config/tunacode.json", {"default_model": "openai:gpt-4.1", "env": variables})
    return Launch(["tunacode"], {}, HOME)


def _mini(home: Path, port: int) -> Launch:
    given = {
        "MSWEA_CONFIGURED": "true",
        "MSWEA_COST_TRACKING": "ignore_errors",
        "OPENAI_API_KEY": "scripted",
        "OPENAI_API_BASE": f"http://127.0.0.1:{port}/v1",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }
    return Launch(["mini", "--model", "openai/scripted"], given, HOME)


_WAYS: dict[str, Callable[[Path, int], Launch]] = {
    "claude": _claude,
    "codex": _codex,
    "opencode": _opencode,
    "gemini": _gemini,
    "qwen": _qwen,
    "copilot": _copilot,
    "kilo": _kilo,
    "aider": _aider,
    "kimi": _kimi,
    "pi": _pi,
    "cline": _cline,
    "grok": _grok,
    "nanocoder": _nanocoder,
    "vibe": _vibe,
    "cn": _cn,
    "gptme": _gptme,
    "kolega": _kolega,
    "tunacode": _tunacode,
    "mini": _mini,
}
