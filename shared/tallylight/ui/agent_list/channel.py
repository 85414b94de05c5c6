"""
The private channel between a terminal and the list that it opened, and how each side finds it.

It carries messages of `actions.request` over a pair of connected sockets. The list asks, the terminal replies. Unasked,
the terminal reports whether the list can be seen at all, or its tab is hidden. The terminal does not poll for requests:
the list rings, by setting the user variable `BELL` of its own window.
"""

from __future__ import annotations

#: The variable of a list with a key that is pressed first.
FIRST_KEY = "TALLYLIGHT_LIST_KEY"
#: Variables of a list that a terminal opened: the descriptor of its channel, and the row selected in the first picture.
#: The last one says how new the terminal's snapshot must be to show that picture, in seconds since the epoch.
CHANNEL, SELECTED, AS_OF = "TALLYLIGHT_LIST_CHANNEL", "TALLYLIGHT_LIST_SELECTED", "TALLYLIGHT_LIST_AS_OF"
#: The user variable that a list sets after it has asked, and the sequence that sets it. Its value has no meaning.
BELL = "tally_list"
RING = f"\x1b]1337;SetUserVar={BELL}=MQ==\x07"
#: The user variable of a window that shows a panel; and the sequences that set and remove it.
PANEL = "tally_panel"
MARK, UNMARK = f"\x1b]1337;SetUserVar={PANEL}=MQ==\x07", f"\x1b]1337;SetUserVar={PANEL}=\x07"
