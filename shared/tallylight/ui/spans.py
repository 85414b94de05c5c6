"""
Spans: text of one look each. What is drawn is made of them; a surface turns them into its own means, as `ansi` does.
"""

from __future__ import annotations

import attrs

from tallylight.model.status import Status
from tallylight.wire.styled import Style


@attrs.frozen
class Span:
    """
    Text of one look. *chip* is drawn on the colour of that status, in black or white, whatever the theme.

    Dim is for lines alone: what is dim on white can hardly be read. *style* is that of a program whose screen is shown.
    """

    text: str
    chip: Status | None = None
    is_bold: bool = False
    is_dim: bool = False
    is_reverse: bool = False
    style: Style | None = None


Line = tuple[Span, ...]
