"""
The private channel between a terminal and the list that it opened: messages of `actions.request` over a pair of
connected sockets, and how each side finds it.

The list asks, the terminal replies; unasked it says whether the list can be seen at all, or its tab is hidden. Nothing
looks whether the list has asked: it rings, by setting the user variable `BELL` of its own window.
"""

from __future__ import annotations

#: The variables of a list that a terminal opened: the descriptor of its channel to there; and of the first picture the
#: row that was selected, and as of when the terminal's snapshot must be to be as new, in seconds since the epoch. A key
#: to be pressed first.
FIRST_KEY = "TALLYLIGHT_LIST_KEY"
CHANNEL, SELECTED, AS_OF = "TALLYLIGHT_LIST_CHANNEL", "TALLYLIGHT_LIST_SELECTED", "TALLYLIGHT_LIST_AS_OF"
#: The user variable that a list sets after it has asked, and the sequence that sets it. Its value says nothing.
BELL = "tally_list"
RING = f"\x1b]1337;SetUserVar={BELL}=MQ==\x07"
#: The user variable of a window that shows a panel; and what sets and removes it.
PANEL = "tally_panel"
MARK, UNMARK = f"\x1b]1337;SetUserVar={PANEL}=MQ==\x07", f"\x1b]1337;SetUserVar={PANEL}=\x07"
