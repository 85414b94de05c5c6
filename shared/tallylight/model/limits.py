"""
The limits that hold in more than one place, each once; one with a reason of its own is where that is.

Everything that another program writes has one: more is cut where a part is as good, and refused where it would be
something else. They are far above what anybody has, so that only what is broken or hostile meets them.
"""

from __future__ import annotations

#: Panes of one host: ten times those anyone has. A host that shows more is broken, and readers pay for it.
MAX_PANES = 1000
#: Files of hosts in the runtime directory that a reader looks at.
MAX_FILES = 256
#: Records of one pane: OSC 7501 asks for 64 and recommends this.
MAX_RECORDS = 256
#: Of one text that is shown, in characters. Surfaces show far less; `tally why` shows this much.
MAX_TEXT = 500
#: Of one argument list, in words; each has at most `MAX_TEXT` characters.
MAX_WORDS = 64
#: Of a word that is one of a few, in characters.
MAX_WORD = 64
#: Of the path of a directory, in characters.
MAX_PATH = 4096
#: Of a row or a label of a dialog, in cells.
MAX_CELLS = 4000
#: The integers that every reader of JSON keeps exactly are smaller.
MAX_EXACT = 2**53
#: For how long turns and conversations are kept, in seconds: thirty days.
KEPT_S = 30 * 86400.0
