"""
The claims of README.md: each sentence and row that a user can try names a test that tries it.

A sentence that is new or changed is in neither table, and fails here until somebody says how it is tried.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

from tests.tables import each

ROOT = Path(__file__).parents[1]
#: Sections that claim nothing of the program: links, and what nobody has tried.
_NO_CLAIMS = ("Read on", "Not tested")

CLAUDE = "real_agents/test_claude_kitty.py"
LIST = "real_kitty/test_agents_list.py"
WAYS = "setup/test_ways_in.py"
#: A sentence, or the cells of a row, and the tests that try it, in the folder of the tests.
CLAIMS = {
    "A light on every tab of the terminal you already use: blue while its coding agent works, amber when it needs you, "
    "green when it has finished.": (f"{CLAUDE}::test_answer", f"{CLAUDE}::test_permission"),
    "Tallylight extends kitty (0.41.1 or newer), WezTerm and tmux on Linux, and on macOS untested.": (
        "real_kitty/test_lights.py::test_every_style_shows_every_light",
        "hosts/wezterm/test_sidecar.py::test_the_time_line_of_an_agent_that_only_prints",
        "hosts/detached/test_tmux.py::test_an_agent_that_asks",
    ),
    "It needs no hooks and changes none of your agents' files.": (f"{CLAUDE}::test_nothing_of_claudes_was_changed",),
    "You need Python 3.11 or newer.": (
        "setup/test_install_sh.py::test_machine_without_python_is_told_what_to_install",
        "setup/test_install_sh.py::test_newer_python_behind_an_old_one_is_found",
    ),
    "The first command shows each change to your files and asks.": (
        "cli/test_setup.py::test_dry_run_shows_the_diff_and_writes_nothing",
        "cli/test_setup.py::test_without_a_yes_nothing_is_written",
    ),
    "The second checks the result and sends a test light.": (
        "cli/test_doctor.py::test_set_up_machine_is_well",
        "cli/test_doctor.py::test_light_that_arrives_is_told_with_its_pane",
    ),
    "try it | `./install.sh`, then `tally demo`": (
        "setup/test_install_sh.py::test_install_twice_then_undo",
        "parts/guide/test_demo.py::test_the_question_comes_first_and_one_key_answers_it",
    ),
    "test it | `tests/run`, which installs all that it needs; as root also two kittys and real agents. "
    "`tests/run --fast` is the inner loop": ("test_docs.py::test_what_is_documented_is_there",),
    "In kitty, press `ctrl+shift+i` once or open a new tab.": (
        "setup/test_in_kitty.py::test_from_a_bare_kitty_to_a_light_that_arrives",
        "real_kitty/test_keys.py::test_the_list_and_the_fork_open",
    ),
    "In WezTerm, add the lines that it prints.": (
        "hosts/wezterm/test_configurations.py::test_the_printed_lines_light_it",
        "hosts/wezterm/test_setup.py::test_setup_and_undo",
        "hosts/wezterm/test_setup.py::test_what_is_linked_works",
    ),
    "In tmux alone, run `tally setup --with tmux`.": ("setup/test_tmux.py::test_what_tmux_makes_of_it",),
    "Then start an agent.": ("setup/test_in_kitty.py::test_from_a_clone_to_the_first_light",),
    "`tally setup --uninstall` restores every file byte for byte.": (
        "cli/test_setup.py::test_uninstall_leaves_the_home_as_it_was",
        "cli/test_setup.py::test_setup_and_undo_give_the_same_bytes",
    ),
    "Other ways to install: uv, pipx, Homebrew, the AUR, Nix, offline.": (
        f"{WAYS}::test_uv",
        f"{WAYS}::test_pipx",
        "test_packaging.py::test_the_formula_is_ruby_and_has_every_dependency",
        f"{WAYS}::test_the_package_of_the_aur",
        f"{WAYS}::test_what_the_flake_lays_out",
        f"{WAYS}::test_a_machine_without_a_network",
    ),
    "`!` `?` amber, filled | waiting | it needs you: a permission, a question, input or a login": (
        f"{CLAUDE}::test_permission",
        f"{CLAUDE}::test_question",
    ),
    "`×` red, filled | error | its last operation failed": (f"{CLAUDE}::test_error",),
    "`▼` red, filled | down | it vanished during a turn": (f"{CLAUDE}::test_killed",),
    "`◷` red | limited | a usage limit stops it, with the time that is left": (
        "hosts/kitty/test_limit.py::test_a_countdown",
    ),
    "`✓` green | done | its turn is over, and you have not looked yet": (f"{CLAUDE}::test_short_answer",),
    "`●` blue | working | it is busy": (f"{CLAUDE}::test_answer",),
    "`○` dim blue | background | its turn is over, but its background tasks still run": (f"{CLAUDE}::test_background",),
    "`◇` grey | quiet | it has shown nothing new for four seconds, and asks nothing that can be read": (
        "real_kitty/test_fake_agent.py::test_silence_is_quiet_typing_is_not_output",
    ),
    "`·` grey, in lists | idle | it is ready": (f"{CLAUDE}::test_ready",),
    "A shell, an editor or a server has no light.": (
        "real_kitty/test_ordinary.py::test_half_an_hour_of_ordinary_programs",
        "ordinary/test_ordinary.py::test_never_a_light",
    ),
    "Amber stays until the agent continues.": (
        "tracker/test_attention.py::test_a_look_is_no_answer_and_an_answer_no_look",
        f"{CLAUDE}::test_permission",
    ),
    "Green clears once you have looked for a second.": (
        "tracker/test_attention.py::test_a_look_takes_a_second_of_the_present_status",
        "tracker/test_attention.py::test_a_glance_is_no_look",
    ),
    "`tally why` explains any light: its source, its rule and what would change it.": (
        "cli/test_why.py::test_explanation",
    ),
    "In 26 recordings of eleven real agents at work, made after the rules were frozen, no waiting was missed: "
    "the measurements.": ("accuracy/test_unseen.py::test_exact_words",),
    "`ctrl+shift+y` | `y` | go to the next agent that needs you; "
    "in kitty, after the last one, back to where you were": (
        "real_kitty/test_jump.py::test_five_presses_visit_the_five_that_wait_and_the_sixth_returns",
    ),
    "`ctrl+shift+i` | `i` | list all agents: answer by number, write to them, preview, fork; `?` shows help": (
        f"{LIST}::test_it_opens_with_every_agent_the_neediest_first",
        f"{LIST}::test_an_answer_is_typed_into_the_pane",
        f"{LIST}::test_what_is_written_in_the_list_is_typed_into_the_agent",
        f"{LIST}::test_the_preview_shows_the_screen_with_its_colours",
        f"{LIST}::test_forking_is_handed_over",
        f"{LIST}::test_snooze_unread_and_why",
    ),
    "`ctrl+shift+a` `p` | `p` | keep the list open as a panel beside your work": (
        "real_kitty/test_panel.py::test_it_opens_beside_the_work_and_closes",
    ),
    "`ctrl+shift+a` `f` | `f` | fork this conversation into a new pane or git worktree": (
        "real_kitty/test_fork.py::test_fork_beside",
        "real_kitty/test_fork.py::test_worktree",
    ),
    "`ctrl+shift+a` `r` | `r` | resume a conversation after its agent has ended": (
        "real_kitty/test_fork.py::test_resume_what_was_killed",
    ),
    "`ctrl+shift+a` `v` | | show what this agent changed; comment on it, or undo it": (
        "real_kitty/test_review.py::test_from_green_to_a_comment",
        "parts/work/test_diff.py::test_undo_is_asked",
    ),
    "`ctrl+shift+a` `s` | | snooze this pane's question": (
        "real_kitty/test_keys.py::test_snoozed_is_amber_and_still",
    ),
    "`tally setup` binds only keys that are free in your kitty; `tally setup --with tmux` those of tmux.": (
        "real_kitty/test_keys.py::test_what_is_free_is_kittys_to_say",
        "setup/test_tmux.py::test_a_free_key",
    ),
    "`tally` opens the same list in any terminal.": ("cli/test_main.py::test_no_verb_shows_the_agents",),
    "`tally why` names the rule.": ("cli/test_why.py::test_explanation",),
    "`tally doctor --report` prints a report without names, paths or titles of yours.": (
        "parts/settings/test_report.py::test_on_a_whole_machine",
    ),
}  # fmt: skip
#: What nobody can try.
PLAIN = {
    "In a checkout of this repository:",
    "A wrong light?",
    "All about lights.",
    "Security problems: SECURITY.md.",
    "Licence: Apache-2.0.",
}
_LINK = re.compile(r"!?\[([^]]*)\]\([^)]*\)")
_LEFT_OUT = re.compile(r"^```.*?^```|^<picture>.*?^</picture>|^!\[.*?\)$", re.DOTALL | re.MULTILINE)
_END = re.compile(r"(?<=[.?]) +(?=[A-Z`])")


def claims(text: str) -> list[str]:
    """The sentences and the rows of tables in a page, without headings, blocks, pictures and links."""
    found = []
    for section in re.split(r"^##? ", _LEFT_OUT.sub("", text), flags=re.MULTILINE)[1:]:
        title, _, body = section.partition("\n")
        if title in _NO_CLAIMS:
            continue
        for paragraph in re.split(r"\n\n+", _LINK.sub(r"\1", body).replace("**", "")):
            lines = [line.strip() for line in paragraph.splitlines() if line.strip()]
            rows = [line.strip("| ") for line in lines[2:]] if lines and lines[0].startswith("|") else []
            found += rows or (_END.split(" ".join(lines)) if lines else [])
    return found


@functools.cache
def names_in(file: Path) -> frozenset[str]:
    """The names of the tests in a file; none if there is no such file."""
    return frozenset(re.findall(r"^def (test_\w+)", file.read_text("utf-8") if file.is_file() else "", re.MULTILINE))


def test_each_claim_has_a_test() -> None:
    """Every sentence that can be tried is in the table, and the table has no sentence that is not on the page."""
    found = claims((ROOT / "README.md").read_text("utf-8"))

    assert [claim for claim in found if claim not in CLAIMS and claim not in PLAIN] == []
    assert [claim for claim in (*CLAIMS, *PLAIN) if claim not in found] == []


@each("claim", CLAIMS)
def test_the_tests_are_there(claim: str) -> None:
    """A claim names at least one test, and each test that is named exists."""
    assert CLAIMS[claim]
    for name in CLAIMS[claim]:
        file, _, test = name.partition("::")
        assert test in names_in(ROOT / "tests" / file), f"{name} is not there"


def test_a_claim_that_is_new_is_found() -> None:
    """In a sentence, behind another one, and in a row; not in a block, a heading, or a section without claims."""
    page = (
        "# T\n\nIt flies. It\nsings, [too](a.md).\n\n```sh\nNot this.\n```\n\n## Q\n\n| a | b |\n| - | - |\n| x | y |\n"
    )

    assert claims(f"{page}\n## Not tested\n\nNothing.\n") == ["It flies.", "It sings, too.", "x | y"]
