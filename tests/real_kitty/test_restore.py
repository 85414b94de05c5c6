"""`tally restore` in a real kitty, after a kitty and all that ran in it were killed. Each test ends its own kitty.

The program called `claude` is that of test_fork.py. tests/real_agents/test_restore_kitty.py has real agents.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tallylight.parts.conversations.open_conversations import read_kept
from tallylight.ui.confirm import TYPING_ENDED_S
from tests.real_kitty.harness import Kitty
from tests.real_kitty.test_fork import Bench, b64, osc

#: After a power cut nothing is left of what differs between kittys; real agents are tried in the other one.
IN_ONE_KITTY = {"test_ten_after_a_power_cut": "0.41"}


@pytest.fixture
def bench(kitty_version: str) -> Iterator[Bench]:
    bench = Bench(kitty_version)
    yield bench
    bench.close()


def wait_kept(kitty: Kitty, words: Sequence[str]) -> None:
    """Wait until the conversations with these words are kept on disk."""
    folder = kitty.home / ".local/state/tallylight/open"

    def kept() -> bool:
        text = "".join(path.read_text() for path in folder.glob("kitty-*.json"))
        return all(word in text for word in words)

    kitty.wait_until(kept, what="the conversations on disk")


def cut_the_power(kitty: Kitty) -> None:
    """End kitty and its agents as a power cut does: none does anything at its end; the runtime directory is lost."""
    kitty.run(["pkill", "-9", "-x", "kitty|claude|codex"])
    kitty.wait_until(lambda: not kitty.alive(), what="the end of kitty")
    shutil.rmtree(kitty.runtime_dir / "tallylight")


def all_shown(kitty: Kitty, page: int) -> str:
    """All of a page, its last part last: Enter counts from then on."""
    parts = [kitty.get_text(page)]
    while len(parts) < 50:
        kitty.send_key(page, "page_down")
        try:
            parts.append(kitty.wait_until(lambda: new if (new := kitty.get_text(page)) != parts[-1] else None, 1.5))
        except AssertionError:
            break
    return "\n".join(parts)


def test_ten_after_a_power_cut(bench: Bench) -> None:
    """
    The next kitty shows all ten, the one that asked first. Enter resumes those whose directory is there, in tabs of
    their old names; an update since then is said. What is done on two pages, or once more, starts nothing twice.
    """
    kitty = bench.kitty
    windows = []
    for number in range(10):
        place = kitty.home / f"work/w{number}"
        place.mkdir()
        window = kitty.launch("bash", "--norc", cwd=str(place))
        kitty.wait_until(lambda w=window: kitty.get_text(w).strip(), what="the shell's prompt")  # type: ignore[misc]
        kitty.send_text(window, "claude\r")
        kitty.wait_text(window, "claude is here")
        bench.known(window, agent="claude")
        windows.append(window)
    # What it asks is kept with the next change of a place: that is soon only before they change.
    bench.send(windows[2], "state=waiting;tool=claude;message=Really?")
    # A person has named tabs, and has put one in front of the others.
    for number in (2, 4, 9):
        kitty.eval(f"boss.tab_for_id({kitty.tab_of(windows[number])}).set_title('the name of {number}')")
    kitty.focus_window(windows[9])
    for _ in range(9):
        kitty.eval("boss.active_tab_manager.move_tab(-1)")
    notes = {Path(note["cwd"]).name: note["session"] for note in bench.diary()}
    wait_kept(kitty, [*notes.values(), "the name of 2", "the name of 4", "the name of 9", "Really?"])
    # The tabs are moved one by one: what is written in between has another order.
    order = ["w9", *(f"w{number}" for number in range(9))]
    environ = {"HOME": str(kitty.home)}
    kitty.wait_until(
        lambda: [Path(lost.pane.conversation.cwd).name for lost in read_kept(environ)[0]] == order,
        what="the order of the tabs on disk",
    )
    kept = "".join(p.read_text() for p in (kitty.home / ".local/state/tallylight/open").glob("kitty-*.json"))
    assert len(re.findall("--resume", kept)) == 0  # what runs is planned anew

    cut_the_power(kitty)
    for number in range(1, 10, 2):
        (kitty.home / f"work/w{number}").rmdir()
    program = kitty.home / ".local/bin/claude"
    newer = program.with_name("claude.new")
    newer.write_text(program.read_text().replace("claude is here", "a newer claude"))
    newer.chmod(0o755)
    newer.rename(program)
    count = len(bench.diary())
    kitty.start_kitty()
    pages = [bench.shell(), bench.shell()]
    for page in pages:
        kitty.send_text(page, "tally restore\r")
    for page in pages:
        kitty.wait_text(page, "space scroll")
    text = [all_shown(kitty, page) for page in pages][1]
    if folder_of_pictures := os.environ.get("TALLYLIGHT_PICTURES"):
        kitty.screenshot(Path(folder_of_pictures) / f"{kitty.version}-restore.png")
    assert "resume 5" in text
    flat = re.sub(r"\s+", " ", text)
    # The one that asked comes first.
    places = [flat.index(f"--resume {notes[f'w{n}']}") for n in (2, 0, 4, 6, 8)]
    assert places == sorted(places)
    assert len(set(re.findall(r"directory '\S+/work/(w\d)' no longer exists", flat))) == 5
    assert flat.index("/work/w9'") < flat.index("/work/w0") and "tab “the name of 4”" in flat
    assert "has been updated or replaced since then" in flat
    assert len(bench.diary()) == count

    kitty.send_key(pages[0], "enter")
    kitty.wait_until(lambda: len(bench.diary()) == count + 5, what="five conversations")
    kitty.send_key(pages[1], "enter")
    refused = "not started, because it was resumed elsewhere"
    kitty.wait_until(lambda: len(re.findall(r"not\s+started,\s+because", kitty.get_text(pages[1]))) == 5, what=refused)
    again = bench.diary()[count:]
    assert len(again) == 5
    assert all("a newer claude" in kitty.get_text(int(entry["window"])) for entry in again)
    assert {Path(entry["cwd"]).name: entry["argv"][1:] for entry in again} == {
        f"w{n}": ["--resume", notes[f"w{n}"]] for n in (0, 2, 4, 6, 8)
    }
    by_tab = {kitty.tab_of(int(entry["window"])): Path(entry["cwd"]).name for entry in again}
    tabs = [(by_tab[tab["id"]], tab["title"]) for tab in kitty.tabs() if tab["id"] in by_tab]
    names = {"w2": "the name of 2", "w4": "the name of 4"}
    assert tabs == [(f"w{n}", names.get(f"w{n}", f"↻  w{n}")) for n in (0, 2, 4, 6, 8)]

    for place in range(1, 10, 2):
        (kitty.home / f"work/w{place}").mkdir()
    listed = kitty.run(["tally", "restore", "--list"]).stdout.decode()
    assert [re.search(r"/work/(w\d)", line)[1] for line in listed.splitlines() if "cd " in line] == [  # type: ignore[index]
        "w9", "w1", "w3", "w5", "w7",
    ]  # fmt: skip


def test_the_next_kitty_offers(bench: Bench) -> None:
    """
    Once, in a tab that waits behind the person's own and takes no key of theirs. Two agents in one directory that asked
    for different conversations both come back; one that cannot has a line, and stays in the list.
    """
    kitty = bench.kitty
    program = kitty.home / ".local/bin/claude"
    # Nothing else tells which conversations they have.
    program.write_text(program.read_text().replace("\nstatus(session)\n", "\n"))
    names = ["aaaa1111", "bbbb2222"]
    for name in names:
        window = bench.shell()
        kitty.send_text(window, "tally run claude\r")
        kitty.wait_text(window, "claude is here")
        bench.say(window, osc(f"88;arm;cmd={b64('claude')};args={b64(f'--resume {name}')}"))
    wait_kept(kitty, names)
    cut_the_power(kitty)
    fails = f"if {names[1]!r} in sys.argv: print('no such conversation'); import time; time.sleep(4); sys.exit(1)\n"
    program.write_text(program.read_text().replace("for line in", f"{fails}for line in"))
    count = len(bench.diary())
    kitty.start_kitty()

    first = kitty.windows()[0]["id"]
    title = "↻  2 conversations were open: Enter resumes them"
    kitty.wait_until(lambda: title in [tab["title"] for tab in kitty.tabs()], what="the offer")
    page = next(tab for tab in kitty.tabs() if tab["title"] == title)["windows"][0]["id"]
    assert kitty.eval("return boss.active_window.id") == first
    kitty.xdotool("type", "echo $((40+2))")
    bench.press("Return")
    kitty.wait_text(first, "42")
    kitty.wait_text(page, "resume 2")
    assert len(bench.diary()) == count
    shown = re.sub(r"\s+", " ", kitty.get_text(page))
    assert all(f"claude --resume {name}" in shown for name in names)

    kitty.send_key(page, "enter")
    kitty.wait_until(lambda: len(bench.diary()) == count + 2, what="both conversations")
    assert sorted(entry["argv"][1:] for entry in bench.diary()[count:]) == [["--resume", name] for name in names]
    kitty.wait_text(page, "it ended within 30 seconds")
    if folder_of_pictures := os.environ.get("TALLYLIGHT_PICTURES"):
        kitty.focus_window(page)
        bench.let_pass(0.5)
        kitty.screenshot(Path(folder_of_pictures) / f"{kitty.version}-resume-failed.png")
    listed = kitty.run(["tally", "restore", "--list"]).stdout.decode()
    assert names[1] in listed and names[0] not in listed


def test_a_saved_session_offers_to_resume(bench: Bench) -> None:
    """
    In a session that kitty saved, each window of an agent offers its conversation in its place; what was lit is not.

    """
    kitty = bench.kitty
    if kitty.eval("return not hasattr(boss, 'save_as_session')"):
        pytest.skip("this kitty saves no sessions")
    (window, first), (_, second) = bench.agent(), bench.agent()
    wait_kept(kitty, [first["session"], second["session"]])
    bench.send(window, "state=waiting;tool=claude;message=Really?")
    bench.wait_status(window, "waiting")
    file = kitty.home / "work.kitty-session"
    kitty.eval(f"boss.combine('save_as_session --save-only {file}')")
    kitty.wait_until(lambda: file.exists() and "tally_status=waiting" in file.read_text(), what="the saved session")
    told = kitty.run(["bash", "-c", f"PATH=$HOME/.local/bin:$PATH tally restore --session {file} --yes"])
    assert told.stdout.count(b"\n+launch ") == 2, told

    cut_the_power(kitty)
    with kitty.kitty_conf.open("a") as conf:
        conf.write(f"\nstartup_session {file}\n")
    count = len(bench.diary())
    kitty.start_kitty()
    kitty.wait_until(
        lambda: sum("Enter resume 1" in kitty.get_text(w["id"]) for w in kitty.windows()) == 2, what="pages"
    )
    assert all("tally_status" not in window["user_vars"] for window in kitty.windows())
    assert len(bench.diary()) == count
    page, _ = bench.page(str(second["session"]))
    kitty.focus_window(page)
    bench.let_pass(2 * TYPING_ENDED_S)
    bench.press("Return")
    kitty.wait_until(lambda: len(bench.diary()) == count + 1, what="the conversation")
    again = bench.diary()[-1]
    assert (again["argv"][1:], again["cwd"]) == (["--resume", second["session"]], second["cwd"])
    assert int(again["window"]) == page
    # Behind them waits the tab that offers both.
    other = next(w["id"] for w in kitty.windows() if "in this pane" in kitty.get_text(w["id"]))
    kitty.focus_window(other)
    bench.let_pass(2 * TYPING_ENDED_S)
    bench.press("Escape")
    kitty.wait_text(other, "bash")
    assert len(bench.diary()) == count + 1
