"""
Mode: what keys mean in the list at the moment.
"""

from __future__ import annotations

import enum


class Mode(enum.Enum):
    """What keys mean at the moment."""

    LIST = "list"
    FILTER = "filter"
    ANSWER = "answer"
    WRITE = "write"
    #: A text over the whole list: an explanation, or the help.
    TEXT = "text"
    #: What the agents did in the last days, over the whole list.
    WEEK = "week"
    #: The help over the whole list, and words that are looked for in it.
    HELP = "help"
    #: What would be interrupted or closed, over the whole list.
    CONFIRM = "confirm"
    #: The name of the selected row is typed.
    NAME = "name"


#: What covers the whole list.
OVER = (Mode.TEXT, Mode.WEEK, Mode.HELP, Mode.CONFIRM)
