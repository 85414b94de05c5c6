"""Loading: every file on both profiles, nothing done at load, and nothing called that WezTerm forbids."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tallylight
from tests.hosts.wezterm import api
from tests.hosts.wezterm.conftest import Bench
from tests.hosts.wezterm.fake import LUA, ROOT, Fake
from tests.tables import each

FILES = sorted(LUA.rglob("*.lua"))
MODULES = [".".join(path.relative_to(LUA).with_suffix("").parts).removesuffix(".init") for path in FILES]
#: The rooms that a title handler may load: pure Lua, and of WezTerm what is synchronous and cheap.
PURE = ("model", "wire", "pane", "config")
#: Nothing of ours calls these: they run text as code, hang the GUI, or leave something behind for ever.
FORBIDDEN = (
    "os.execute", "io.popen", "loadstring", "dofile", "loadfile", "load(", "action_callback", "set_config_overrides",
    "get_foreground_process_info", "set_title", "send_text", "send_paste", "background_child_process", "os.exit",
    "debug.", "set_right_status", "status_update_interval",
)  # fmt: skip


@each("profile", api.PROFILES)
@each("name", MODULES)
def test_every_file_loads(profile: str, name: str) -> None:
    """A module loads by itself, as a table, and calls nothing of WezTerm's while it does."""
    fake = Fake(profile)
    kind = "string" if name.endswith(".release") else "table"
    assert fake.lua.eval(f"type(require '{name}')") == kind
    assert fake.counts == {}


@pytest.mark.parametrize("profile", api.PROFILES)
def test_all_together(profile: str) -> None:
    """All modules load in one state, in any order."""
    for names in (MODULES, MODULES[::-1]):
        fake = Fake(profile)
        for name in names:
            fake.require(name)


def test_applying_only_registers(bench: Bench) -> None:
    """`apply_to_config` reads no file and no clock, starts nothing and logs nothing: it registers handlers."""
    bench.config()
    assert set(bench.fake.counts) == {"load wezterm.on", "load wezterm.json_parse"}
    assert bench.fake.log == [] and bench.fake.commands == []


@pytest.mark.parametrize("page", ["start", "wezterm"])
def test_the_pages_show_lua_that_runs(bench: Bench, page: str) -> None:
    """Each block in a configuration of its own; `…` is nothing, and there is a tab, a plugin and tabline."""
    text = (LUA.parent / f"docs/{page}.md").read_text("utf-8")
    given = """
    local wezterm, tallylight = require 'wezterm', require 'tallylight'
    local config, tabline = wezterm.config_builder(), { setup = function() end }
    local tab = { tab_id = 1, panes = {}, active_pane = { pane_id = 1, title = 'x', user_vars = {} } }
    """
    for block in re.findall(r"^```lua\n(.*?)^```", text, re.M | re.S):
        bench.start()
        code = re.sub(r"wezterm\.plugin\.require '[^']*'", "tallylight", block.replace("…", ""))
        bench.fake.evaluate(f"{given}{code}\nreturn config")
        assert bench.fake.log == []


def test_applied_twice(bench: Bench) -> None:
    """A second call does nothing, also of a copy that was loaded under another name."""
    bench.config(after="require('tallylight').apply_to_config(config)")
    once = {name: len(handlers) for name, handlers in bench.fake.handlers.items()}
    bench.start()
    source = str(LUA / "tallylight" / "init.lua")
    bench.config(after=f"dofile('{source}').apply_to_config(config)")
    assert {name: len(handlers) for name, handlers in bench.fake.handlers.items()} == once
    assert set(once.values()) == {1}


def test_reload_registers_again(bench: Bench) -> None:
    """A reload is a new Lua state with the same GLOBAL, and the lights are there after it."""
    bench.config()
    bench.say(bench.panes[1], "state=waiting")
    bench.start()
    bench.config()
    assert bench.light(bench.panes[1]) == "!"


def test_a_reload_draws_before_it_looks(bench: Bench) -> None:
    """What the sidecar said stands from the first drawing on, over what a variable has held for long."""
    bench.config()
    first, second = bench.panes
    bench.say(first, "state=working;tool=claude")
    bench.write_snapshot({"id": str(first.id), "status": "down"}, {"id": str(second.id), "status": "waiting"})
    bench.tick(5)
    assert (bench.light(first), bench.light(second)) == ("▼", "!")
    bench.start()
    bench.config()
    assert (bench.light(first), bench.light(second)) == ("▼", "!")
    bench.fake.loaded()
    assert (bench.light(first), bench.light(second)) == ("▼", "!")
    bench.say(first, "state=done;tool=claude")
    assert bench.light(first) == "✓"


@pytest.mark.parametrize(
    "opts",
    [
        "{titel='own'}",
        "{title='all'}",
        "{style=3}",
        "{style='colour'}",
        "{mark=false}",
        "{names='all'}",
        "{colours={waiting='red'}}",
        "{keys={jmup=false}}",
        "{keys={prefix={key='a'}}}",
        "{palette=true}",
        "{tick_seconds=0.1}",
    ],
)
def test_wrong_options(bench: Bench, opts: str) -> None:
    """A wrong option is named in the log and has its default; the rest works."""
    bench.config(opts)
    assert [level for level, _ in bench.fake.log] == ["warn"]
    bench.say(bench.panes[1], "state=waiting")
    assert bench.light(bench.panes[1]) == "!"


@each("path", FILES, ids=lambda path: path.stem)
def test_forbidden_calls(path: Path) -> None:
    """No file of ours calls what runs text as code, blocks the GUI, or stays for ever."""
    code = re.sub(r"--.*", "", path.read_text())
    assert [name for name in FORBIDDEN if name in code] == []


@each("path", FILES, ids=lambda path: path.stem)
def test_only_the_asynchronous_half_touches_the_world(path: Path) -> None:
    """What a title handler loads names neither `io` nor `os`, nor anything of WezTerm's that suspends."""
    code = re.sub(r"--.*", "", path.read_text())
    if path.parent.name in PURE:
        assert "require('wezterm')" not in code
    if path.parent.name in PURE or path.stem == "titles":
        assert not re.search(r"\b(io|os)\.", code)
        assert not re.search(r"wezterm\.(?!on\b|truncate_right\b|column_width\b|mux\.get_tab\b)", code)


def test_release() -> None:
    """The Lua says which release it is of: the package's."""
    assert Fake().require("tallylight.model.release") == tallylight.__version__


def test_one_prefix() -> None:
    """Every module of ours is below `tallylight`, for all plugins share one `package.path`."""
    assert {name.split(".")[0] for name in MODULES} == {"tallylight"}
    for path in FILES:
        for name in re.findall(r"require\('([^']+)'\)", path.read_text()):
            assert name == "wezterm" or name in MODULES


@pytest.mark.parametrize("profile", api.PROFILES)
def test_plugin(profile: str, tmp_path: Path) -> None:
    """`wezterm.plugin.require` finds the plugin in a checkout under its own directory of plugins."""
    checkout = tmp_path / "plugins" / "filesCssZssZsZtallylight"
    checkout.mkdir(parents=True)
    (checkout / "plugin").symlink_to(ROOT / "plugin")
    (checkout / "wezterm").symlink_to(ROOT / "wezterm")
    fake = Fake(profile, path=f"{tmp_path}/plugins/?/plugin/init.lua")
    fake.evaluate(
        f"local w = require 'wezterm'\nlocal config = w.config_builder()\n"
        f"require('{checkout.name}').apply_to_config(config)\nreturn config"
    )
    assert "format-tab-title" in fake.handlers


@pytest.mark.slow
def test_the_plugin_alone(bench: Bench, tmp_path: Path) -> None:
    """Without Python and `tally`, from nothing but a clone: what says its status itself is lit; one line is logged."""
    clone = tmp_path / "plugins" / "httpssCssZssZforgesDsexamplesZsmesZstallylight"
    clone.mkdir(parents=True)
    for folder in ("plugin", "wezterm"):
        (clone / folder).symlink_to(ROOT / folder)
    bench.has_tally = False
    bench.start(path=f"{tmp_path}/plugins/?/plugin/init.lua")
    bench.fake.evaluate(
        f"local config = require('wezterm').config_builder()\n"
        f"require('{clone.name}').apply_to_config(config)\nreturn config"
    )
    bench.say(bench.panes[1], "state=waiting;tool=claude;kind=question")
    for _ in range(200):
        bench.tick(10)
    assert bench.light(bench.panes[1]) == "?"
    assert [level for level, _ in bench.fake.log] == ["warn"]


@each("source", [
    "wezterm.on('pane-destroyed', print)", "wezterm.action.Confirm{}", "wezterm.mux.all_panes()", "wezterm.nothing()",
    "wezterm.config_builder().colour = 1", "wezterm.run_child_process({'x'})",
    "wezterm.action.InputSelector{choices={{id=1,label='x'}}, action=wezterm.action.EmitEvent 'user.x'}",
    "wezterm.action.InputSelector{choices={}, action=wezterm.action.EmitEvent 'user.x', colour='red'}",
    "wezterm.GLOBAL.x = {function() end}", "wezterm.GLOBAL[1] = 1", "debug.traceback()",
    "table.sort({1,2}, function() wezterm.sleep_ms(1) return true end)",
])  # fmt: skip
def test_the_fake_is_strict(source: str) -> None:
    """What WezTerm does not have, or not there, fails in the fake."""
    fake = Fake()
    with pytest.raises(Exception, match=r"\w"):
        fake.lua.execute("local wezterm = require 'wezterm'\n" + source)


def test_the_fake_keeps_the_profiles_apart() -> None:
    """A field of the nightlies raises on stable, a method of them is nil there; unknown fields raise on both."""
    results = {}
    for profile in api.PROFILES:
        bench = Bench(profile, Path("/nowhere"))
        info = bench.fake.pane_information(bench.panes[0])
        half = bench.fake.lua.eval("function(o, key) local ok = pcall(function() return o[key] end) return ok end")
        pane = bench.fake.object("Pane", bench.panes[0].id)
        results[profile] = (half(info, "progress"), half(info, "colour"), pane["get_progress"] is not None)
        assert pane["no_such_method"] is None
    assert results == {"stable": (False, False, False), "nightly": (True, False, True)}
