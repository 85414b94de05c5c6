"""The README's pictures: a kitty as a person would have it, with every light in it, the list of agents, and a film.

They are kept only with TALLYLIGHT_UPDATE_IMAGES=1, from the newest kitty; always, its colours are looked for.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from tallylight.model.lights import COLLISION
from tallylight.ui.agent_list.flow import PICTURE_SHOWN_S
from tests.real_kitty.asking_claude import SCREEN
from tests.real_kitty.desk import BEFORE, LIGHTS, Desk, lights_on
from tests.real_kitty.roots import CHECKOUT
from tests.real_kitty.test_collisions import _git, give_git

#: Only the newest kitty's pictures are kept.
IN_ONE_KITTY = "0.48"
FILMS = {theme: CHECKOUT / f"docs/images/film-{theme}.gif" for theme in ("dark", "light")}
#: README pages are slow enough.
MAX_BYTES = 60_000
MAX_FILM_BYTES, MAX_FILM_MS = 400_000, 20_000
#: What the pictures of tabs have of the screen, in pixels from its top.
TABS_HEIGHT = 270

SETTINGS = """
tab_bar_style powerline
font_size 13
tab_powerline_style slanted
tab_bar_edge top
tab_bar_margin_height 6 6
tab_title_template "{title} "
active_tab_font_style normal
background #16181d
foreground #c8ccd4
tab_bar_background #16181d
active_tab_background #3a404c
active_tab_foreground #ffffff
inactive_tab_background #23272f
inactive_tab_foreground #aab0bc
window_padding_width 4 10
cursor_shape beam
cursor #16181d
color1 #ff7b72
color2 #8cc570
color4 #6ea8fe
color8 #6b7280
"""

#: A kitty as it comes, with its tab bar where the picture is; and what its tabs are filled with.
AS_IT_COMES = "font_size 13\ntab_bar_edge top\ninactive_tab_background #999999\n"
INACTIVE = (0x99, 0x99, 0x99)

#: The first kitty in the colours of paper.
LIGHT = """
background #fbfbfa
foreground #2b2f36
tab_bar_background #fbfbfa
active_tab_background #d5d9e0
active_tab_foreground #000000
inactive_tab_background #eceef1
inactive_tab_foreground #4b5160
cursor #fbfbfa
color0 #2b2f36
color1 #c01c28
color2 #3c7d22
color4 #2459b5
color6 #0b6e78
color8 #7a808c
"""

#: The tabs: title, the agent's report, and for how many seconds it has been so.
TABS = (
    ("shop", "state=working;tool=claude;project=shop;message=Rounding%20in%20the%20checkout", 74),
    ("api", "state=waiting;kind=permission;tool=claude;project=api;message=Run%20the%20migration%3F", 12),
    ("docs", "state=done;tool=codex;project=docs;message=Rewrote%20the%20tutorial", 260),
    ("infra", "state=error;tool=gemini;project=infra;message=API%20error%3A%20overloaded", 35),
    ("blog", "state=idle;tool=claude;project=blog;message=Drafted%20two%20posts", 2500),
)

#: Make the lights as old as they are to look: {ages} has seconds by window.
AGE = """
import attrs, time
from tallylight.hosts.kitty.watcher import _host as host
for id_, age in {ages}.items():
    tracker = host._panes[id_].tracker
    tracker._shown = attrs.evolve(tracker._shown, since=tracker._shown.since - age)
host._is_unsaved = True
host._after(time.monotonic(), host.panes)
"""


@pytest.fixture(scope="module")
def desk(kitty_version: str) -> Iterator[Desk]:
    """A kitty with dark colours, and no pulse, so that the picture has the full amber."""
    desk = Desk(kitty_version, SETTINGS, "[kitty]\npulse = false\n", size=(1000, 440))
    yield desk
    desk.close()


def test_the_picture(desk: Desk, tmp_path: Path) -> None:
    """Every light is in the picture of a kitty as it comes, in its very colour, beside a plain shell without one."""
    kitty, seen = desk.kitty, lights_on(INACTIVE)
    desk.reload(AS_IT_COMES)
    windows = [desk.lamp(title) for title, _, _ in TABS]
    names = [payload.partition(";")[0].removeprefix("state=") for _, payload, _ in TABS]
    for window, (_, payload, _) in zip(windows, TABS, strict=True):
        desk.send(window, payload)
    for window, name in zip(windows, names, strict=True):
        desk.wait_status(window, name)
    prompt = r"\033[34m~\033[m \033[32m❯\033[m "
    show = f"stty -echo; read -r go; printf '{prompt}tally status\\n'; tally status; printf '\\n{prompt}'; exec cat"
    shell = kitty.launch("sh", "-c", show, tab_title="zsh")
    ages = {window: age for window, (_, _, age) in zip(windows, TABS, strict=True)}
    kitty.eval(AGE.format(ages=ages))

    def is_told() -> bool:
        found = desk.snapshot()
        panes = [pane for pane in found.panes if int(pane.id) in windows] if found is not None else []
        return len(panes) == len(windows) and all(time.time() - pane.since > 10 for pane in panes)

    kitty.wait_until(is_told, what="the lights and their ages in the snapshot")
    kitty.close_window(kitty.windows()[0]["id"])
    kitty.send_text(shell, "\r")
    kitty.wait_until(lambda: kitty.get_text(shell).count("❯") == 2, what="the second prompt")
    lights = {kitty.tab_of(window): name for window, name in zip(windows, names, strict=True)}
    shot = tmp_path / "shot.png"
    desk.wait_colours({kitty.tab_of(shell): ""} | lights, image=shot, lights=seen)
    image = Image.open(shot).convert("RGB").crop((0, 0, 1000, TABS_HEIGHT))

    small = tmp_path / "small.png"
    image.quantize(200, dither=Image.Dither.NONE).save(small, optimize=True)
    assert small.stat().st_size < MAX_BYTES
    assert {colour for _, colour in image.getcolors(1 << 24) or ()} >= {seen[name] for name in BEFORE}
    desk.reload(SETTINGS)
    desk.keep(image, "kitty-tabs")


#: The windows of the lists that are open.
_LISTS = "from tallylight.hosts.kitty import agent_list as m; return list(m._lists)"


def open_list(desk: Desk, window: int) -> int:
    """Open the list of agents over a window, as its key does; the list's window."""
    kitten = desk.kitty.home / ".local/share/tallylight/kittens/agents.py"
    desk.kitty.eval(f"boss.run_kitten_with_metadata({str(kitten)!r}, window=boss.window_id_map[{window}])")
    (list_,) = desk.kitty.wait_until(lambda: desk.kitty.eval(_LISTS), what="the list")
    return int(list_)


def test_the_list(desk: Desk) -> None:
    """The list of agents, over the same tabs: every agent, the neediest first, and what it asks."""
    kitty = desk.kitty
    front = kitty.launch("cat", tab_title="zsh")
    list_ = open_list(desk, front)
    kitty.wait_text(list_, "Run the migration?")
    lines = kitty.get_text(list_).splitlines()
    assert lines[0].split()[:2] == ["5", "agents"]
    projects = [next(word for word in line.split() if word in {title for title, _, _ in TABS}) for line in lines[1:6]]
    assert projects == ["api", "infra", "docs", "shop", "blog"]


#: What the agents work on, and what each of them makes of one line of it.
_CART = """\
from decimal import Decimal


def total(lines):
    \"\"\"Return what a cart costs.\"\"\"
    return sum(round(line.price * line.count, 2) for line in lines)


def shipping(cost):
    return Decimal(0) if cost > 50 else Decimal("4.90")
"""
_SUM = "    return sum(round(line.price * line.count, 2) for line in lines)\n"
_MINE = "    cost = sum(line.price * line.count for line in lines)\n    return round(cost, 2)\n"
_THEIRS = "    return sum(line.cost for line in lines)\n"
#: What a person says to the first, in their editor: below its last line.
_COMMENT = ">> keep whole cents here, and test odd prices"
#: A program called as an agent is: a key has it work, ask as Claude Code does, or end its turn. It takes a text, too.
_ACTOR = r"""#!/usr/bin/python3
import os, sys, tty
head, _, body = open(os.environ["HOME"] + "/screen").read().partition("---\n")
row = next(int(line.split()[1]) for line in head.splitlines() if line.startswith("cursor:"))
columns = os.get_terminal_size().columns
lines = body.replace("touch made1", "alembic upgrade head").rstrip("\n").split("\n")
dialog = [line[0] * columns if set(line) in ({"─"}, {"╌"}) else line for line in lines]
scenes = {
    b"w": ["", " \x1b[34m●\x1b[m Migrating the orders", "", " \x1b[2m✽ Working… (12s · esc to interrupt)\x1b[m"],
    b"?": dialog,
    b"1": ["", " \x1b[32m●\x1b[m Bash(alembic upgrade head)", "", " \x1b[2m✽ Working… (31s · esc to interrupt)\x1b[m"],
    b".": ["", " \x1b[32m●\x1b[m The schema is at head; 214 tests pass.", "", "─" * columns, "❯ ", "─" * columns],
}
places = {b"?": (row + 1, 1), b".": (5, 3)}
tty.setraw(0)
keys = b"w"
while True:
    for key in (keys[at : at + 1] for at in range(len(keys))):
        if key in scenes:
            row, column = places.get(key, (1, 1))
            sys.stdout.write("\x1b[2J\x1b[H" + "\r\n".join(scenes[key]) + f"\x1b[{row};{column}H")
            sys.stdout.flush()
    keys = os.read(0, 4096)
    keys = b"w" if keys.startswith(b"\x1b[200~") else keys
"""


def _work_trees(home: Path, name: str) -> tuple[Path, Path]:
    """A repository, and a second work tree of it, in which a file was changed."""
    give_git(home)
    top, other = home / name / "shop", home / name / "docs"
    top.mkdir(parents=True)
    (top / "cart.py").write_text(_CART)
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "x"), ("worktree", "add", "-q", str(other))):
        _git(top, *words)
    (other / "cart.py").write_text(_CART.replace(_SUM, _THEIRS))
    return top, other


def _palette(sheet: Image.Image) -> Image.Image:
    """Colours that come often, and others by how far apart they are: a mark has few pixels."""
    most = sorted(sheet.getcolors(1 << 24) or (), reverse=True)[:48]
    far = sheet.quantize(160, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).getpalette() or []
    palette = Image.new("P", (1, 1))
    palette.putpalette([*(part for _, colour in most for part in colour), *far[: 3 * 160]])
    return palette


@pytest.mark.parametrize("theme", list(FILMS))
def test_the_film(desk: Desk, theme: str, tmp_path: Path) -> None:
    """
    A tab is amber and says what it asks; it is answered from the list, and its tab turns blue and green.

    Another waits for the end of its limit. A third changes the same file in a second work tree: both get a mark. What
    the first has changed is reviewed, and a comment goes back to it.
    """
    kitty = desk.kitty
    desk.reload(SETTINGS + "env PAGER=cat\nenv EDITOR=vi\n" + (LIGHT if theme == "light" else ""))
    desk.close_all_but_first()
    first = kitty.windows()[0]["id"]
    (kitty.home / "screen").write_text(SCREEN.read_text("utf-8"))
    programs = [kitty.home / ".local/bin" / name for name in ("claude", "codex")]
    for program in programs:
        program.write_text(_ACTOR)
        program.chmod(0o755)
    shop, tutorial = _work_trees(kitty.home, theme)
    prompt = r"\033[34m~/src/site\033[m \033[32m❯\033[m "
    shell = kitty.launch("sh", "-c", f"stty -echo; printf '\\n {prompt}vim index.md\\n'; exec cat", tab_title="zsh")
    agent, docs = (
        kitty.launch(str(program), tab_title=title, keep_focus=True, cwd=str(top))
        for program, title, top in zip(programs, ("shop", "docs"), (shop, tutorial), strict=True)
    )
    infra = desk.lamp("infra")
    desk.send(docs, "state=working;tool=codex;project=docs;message=Rewriting the tutorial")
    desk.send(infra, "state=waiting;kind=limit;tool=gemini;project=infra;message=try again in 134 min")
    desk.wait_status(infra, "limited")
    kitty.close_window(first)
    tab = kitty.tab_of(agent)
    still = {kitty.tab_of(shell): "", kitty.tab_of(docs): "working"}
    frames: list[tuple[Image.Image, int]] = []
    lights = lights_on((0xEC, 0xEE, 0xF1)) if theme == "light" else LIGHTS

    def act(key: str, status: str, more: str = "") -> None:
        kitty.send_text(agent, key)
        desk.send(agent, f"state={status};tool=claude;project=shop{more}")
        desk.wait_status(agent, status)

    def shoot(ms: int, light: str = "") -> None:
        shot = tmp_path / f"{len(frames)}.png"
        if light:
            desk.wait_colours({**still, tab: light}, image=shot, lights=lights)
        else:  # a list that is drawn anew is empty for a moment
            kitty.wait_until(
                lambda: len(kitty.screenshot(shot).crop((0, 60, 400, 200)).getcolors(1 << 24)) > 8, what="the list"
            )
        frames.append((Image.open(shot).convert("RGB"), ms))

    act("w", "working", ";message=Migrating the orders")
    act("?", "waiting", ";kind=permission;message=Do you want to proceed?;what=Bash: alembic upgrade head")
    kitty.wait_until(lambda: "alembic upgrade head" in desk.bar(), what="the question in its tab")
    assert "infra: 2 h 1" in desk.bar()
    shoot(2000, "waiting")
    list_ = open_list(desk, shell)
    kitty.wait_text(list_, "Do you want to proceed?")
    shoot(1000)
    kitty.wait_text(list_, "  1  Yes")
    desk.let_pass(2 * PICTURE_SHOWN_S)
    shoot(1800)
    kitty.xdotool("key", "1")

    def is_answered() -> bool:
        said = kitty.get_text(list_)
        if "press 1 again" in said:  # a busy machine drew the question later than this clock says
            desk.let_pass(2 * PICTURE_SHOWN_S)  # what comes sooner counts as a key that is held
            if "answered" not in kitty.get_text(list_):
                kitty.xdotool("key", "1")
        return "answered 1. Yes" in said

    kitty.wait_until(is_answered, what="the answer")
    act("", "working", ";message=Migrating the orders")
    kitty.wait_text(list_, "Migrating the orders")
    (shop / "cart.py").write_text(_CART.replace(_SUM, _MINE))
    kitty.wait_text(list_, "also edited by docs", 60)
    shoot(1900)
    kitty.xdotool("key", "q")
    kitty.wait_until(lambda: not kitty.eval(_LISTS), what="the end of the list")
    assert desk.bar().count(f"● {COLLISION} ") == 2
    shoot(1400, "working")
    act(".", "done", ";message=The schema is at head; 214 tests pass")
    shoot(1900, "done")
    list_ = open_list(desk, shell)
    kitty.wait_text(list_, "The schema is at head")
    shoot(1500)
    kitty.xdotool("key", "d")
    kitty.wait_text(list_, "c comment")
    shoot(2500)
    kitty.xdotool("key", "c")
    kitty.wait_text(list_, "# Write comments")
    kitty.send_text(list_, "/^+.*round\ro" + _COMMENT + "\x1b")
    kitty.wait_text(list_, "odd prices")
    shoot(2500)
    kitty.send_text(list_, ":x\r")
    kitty.wait_text(list_, "cart.py:7")
    shoot(1500)

    def is_sent() -> bool:
        if "Enter send" in kitty.get_text(list_):
            kitty.xdotool("key", "Return")
            desk.let_pass(2 * PICTURE_SHOWN_S)  # a busy machine drew the text later than the first key
        return "Enter send" not in kitty.get_text(list_)

    kitty.wait_until(is_sent, what="the end of the text")
    act("", "working", ";message=Keeping whole cents")
    kitty.wait_text(list_, "Keeping whole cents")
    kitty.xdotool("key", "q")
    kitty.wait_until(lambda: not kitty.eval(_LISTS), what="the end of the list")
    shoot(2000, "working")

    film = tmp_path / "film.gif"
    # One palette for all frames: what does not change is then left out of them.
    sheet = Image.new("RGB", (frames[0][0].width, sum(frame.height for frame, _ in frames)))
    for number, (frame, _) in enumerate(frames):
        sheet.paste(frame, (0, number * frame.height))
    palette = _palette(sheet)
    small = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame, _ in frames]
    small[0].save(
        film, save_all=True, append_images=small[1:], duration=[ms for _, ms in frames], loop=0, optimize=False
    )
    assert film.stat().st_size < MAX_FILM_BYTES and sum(ms for _, ms in frames) <= MAX_FILM_MS
    if desk.renews:
        FILMS[theme].write_bytes(film.read_bytes())
    if theme == "dark":
        desk.keep(frames[2][0], "agents-list")
        desk.keep(frames[7][0], "review")
