"""
The limits that hold in more than one place. A limit for one place is defined there.

All input from other programs is limited. Longer input is cut if a part of it is of use, and refused otherwise. The
limits are far above real use, so that only broken or hostile programs reach them.
"""

from __future__ import annotations

#: The most panes of one host. A host with more is broken, and its readers would pay for it.
MAX_PANES = 1000
#: The most files of hosts that a reader looks at in the runtime directory.
MAX_HOST_FILES = 256
#: The most records of one pane: OSC 7501 asks for 64 and recommends this.
MAX_RECORDS = 256
#: The most characters of one displayed text. Surfaces show far less; `tally why` shows this much.
MAX_TEXT_CHARS = 500
#: The most words of one argument list; each has at most `MAX_TEXT_CHARS` characters.
MAX_ARGUMENTS = 64
#: The most characters of a keyword.
MAX_WORD_CHARS = 64
#: The most characters of a directory's path.
MAX_PATH = 4096
#: The most cells of a row or a label of a dialog.
MAX_DIALOG_ROW_CELLS = 4000
#: Every reader of JSON keeps smaller integers exactly.
MAX_EXACT = 2**53
#: Turns and conversations are kept for so many seconds: thirty days.
KEPT_S = 30 * 86400.0
