"""Boxes that are drawn over the rest of the screen, as real agents draw them, and frames that are none."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tallylight.agents.agent import Agent
from tallylight.evidence.overlay import read_overlay
from tallylight.evidence.prompts import read_screen
from tallylight.model.status import Status
from tests.strategies import at_most
from tests.tables import each

UNKNOWN = Agent(name="unknown", display="Unknown")

IN_THE_MIDDLE = """
╭────────────────────────────────────────────────────────────────────────╮
│ › agent  v1.2                                                          │
╰────────────────────────────────────────────────────────────────────────╯
            ┌────────────────────────────────────────────────┐
            │                                                │
            │             Welcome to the agent               │
            │                                                │
            │  What should it call you?                      │
            │  ┌──────────────────────────────────────────┐  │
            │  │  Your name (optional)                    │  │
            │  └──────────────────────────────────────────┘  │
            │               Enter to continue                │
            └────────────────────────────────────────────────┘
 Tip: /cost shows what was spent
╭────────────────────────────────────────────────────────────────────────╮
│ >                                                                      │
╰────────────────────────────────────────────────────────────────────────╯
 manual  ~/project                                                   model
"""
OVER_A_TRANSCRIPT = """
  camera stage and studio camera. Screen light and light screen light stage of
  camera. Studi                                                   a of lamp the
  on the of tal  ⚠ Approval required                              ight studio.
  Screen and of                                                   a signal
  signal signal  Tool: run                                        amera tally
  tally light t    command: rm -rf build                          on red signal
  tally of ligh                                                   gnal. On and
╭──────────────  Allow? yes  no  always allow
│ » remove the
╰──────────────
╭──────────────                                                   ─────────────╮
│ $ rm -rf buil                                                                │
╰──────────────                                                   ─────────────╯

╭──────────────────────────────────────────────────────────────────────────────╮
│ •                                                                            │
╰──────────────────────────────────────────────────────────────────────────────╯
 build  model                         main                      0.5/70k
"""
WITH_A_SHADOW = """
 ┃ Bash: touch made; sleep 3 ╭─────────────────────────────────────────╮
 ┃ Waiting for response...   │                                         │░  Session: One
                             │ Permission Required                     │░  session
                             │                                         │░
                             │ Command                                 │░
                             │                                         │░  LSP Configuration
                             │  Allow (a)    Allow for session (s)     │░
                             │ Deny (d)                                │░
                             │                                         │░  Modified Files:
                             ╰─────────────────────────────────────────╯░
                              ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░

 █ Waiting for tool response...
 press esc to exit cancel
──────────────────────────────────────────────────────────────────────────────────────
 >

 ctrl+? help                                                     No diagnostics  Model
"""
A_FORM = """
      ╭────────────────────────────────────────────────────────────────╮
      │                            Settings                            │
      │                                                                │
      │   Provider:                                                    │
      │                                                                │
      │   ▊▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▎     │
      │                                                                │
      │                   ▔▔▔▔▔▔▔▔▔▔▔▔ ▔▔▔▔▔▔▔▔▔▔▔▔                    │
╭─────│                       Save        Cancel                       │─────╮
│ Type│                   ▁▁▁▁▁▁▁▁▁▁▁▁ ▁▁▁▁▁▁▁▁▁▁▁▁                    │     │
╰─────│                                                                │─────╯
 ctrl+│                                                                │cache
      ╰────────────────────────────────────────────────────────────────╯
 esc Cancel
"""
A_FRAME_IN_A_FRAME = """
╭──────────────────────────────────────────────╮
│ ? WriteFile  Writing to area.py              │
│ ╭──────────────────────────────────────────╮ │
│ │ 1 def area(width, height):               │ │
│ │ 2     return width * height              │ │
│ │ 3                                        │ │
│ │ 4                                        │ │
│ │ 5 print(area(3, 4))                      │ │
│ ╰──────────────────────────────────────────╯ │
│ Apply this change?                           │
│ ● 1. Allow once                              │
│   2. No, suggest changes (esc)               │
╰──────────────────────────────────────────────╯
"""
A_FRAME_IN_THE_TEXT = """
Here is what it prints:

  ╭──────────────────────────────────╮
  │ Do you want to go on?            │
  │                                  │
  │ ❯ Yes                            │
  │   No                             │
  │                                  │
  ╰──────────────────────────────────╯

Shall I run it in the other folder, too, or is that all that you want of me?
"""


@each(
    ("name", "screen", "last"),
    [
        ("in the middle", IN_THE_MIDDLE, "Enter to continue"),
        ("over a transcript", OVER_A_TRANSCRIPT, "Allow? yes  no  always allow"),
        ("buttons in two rows", WITH_A_SHADOW, "Deny (d)"),
        ("a form", A_FORM, "Save        Cancel"),
    ],
)
def test_in_front(name: str, screen: str, last: str) -> None:
    """Only what is in the box is read, and it asks; the rows keep their numbers."""
    lines = screen.splitlines()
    rows = [row for row in read_overlay(lines) if row.text]
    found = read_screen(UNKNOWN, lines, 0, cursor_visible=False)

    assert rows[-1].text == last, name
    assert last in lines[rows[-1].number]
    assert found is not None and found.status is Status.WAITING


@each(
    ("name", "screen"),
    [("a frame in a frame", A_FRAME_IN_A_FRAME), ("a frame in the text", A_FRAME_IN_THE_TEXT), ("nothing", "")],
)
def test_none(name: str, screen: str) -> None:
    assert read_overlay(screen.splitlines()) == (), name


@given(st.lists(st.text(alphabet="╭─╮│╰╯┌┐ ax", max_size=90), max_size=40))
@settings(max_examples=at_most(200), deadline=None)
def test_any_screen(lines: list[str]) -> None:
    """Whatever is drawn, the rows are rows of the screen."""
    numbers = [row.number for row in read_overlay(lines)]

    assert numbers == sorted(set(numbers)) and set(numbers) <= set(range(len(lines)))
