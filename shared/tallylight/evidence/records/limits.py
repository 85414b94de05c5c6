"""
When a limit ends, by the words of agents: `resets 3pm (Europe/Berlin)`, `try again at 11:08 AM`, `retry in 7200s`.

A text without a time, or with an impossible one, counts for nothing.
"""

from __future__ import annotations

import datetime
import re
import zoneinfo

from tallylight.wire import values

#: Of the text that is searched.
_MAX_TEXT = 1024
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
#: Claude Code's and Codex's. Without a date it is the next such time, without a zone one of this place.
_CLOCK = re.compile(
    rf"(?:resets|try again at) (?:(?P<month>{'|'.join(_MONTHS)}) (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? "
    r"(?:(?P<year>\d{4}),? )?)?(?P<hour>\d{1,2})(?::(?P<minute>\d\d))? ?(?P<half>[ap]m)"
    r"(?: \((?P<zone>[^()]{1,64})\))?",
    re.IGNORECASE | re.ASCII,
)
#: Gemini's and pi's.
_AFTER = re.compile(r"(?:retry|try again) in ~?(?P<count>\d{1,7}(?:\.\d{1,9})?) ?(?P<unit>s|min)\b", re.I | re.A)
_UNITS = {"s": 1, "min": 60}


def ends(text: object, at: float | None) -> float:
    """When the limit in *text*, written *at*, ends, in seconds since the epoch; 0 if it does not say."""
    words = values.text(text, _MAX_TEXT)
    if at is None:
        return 0.0
    if (found := _AFTER.search(words)) is not None:
        return at + float(found["count"]) * _UNITS[found["unit"].lower()]
    found = _CLOCK.search(words)
    if found is None:
        return 0.0
    try:
        now = datetime.datetime.fromtimestamp(at, zoneinfo.ZoneInfo(found["zone"]) if found["zone"] else None)
        now = now.replace(second=0, microsecond=0)
        time = datetime.datetime.strptime(f"{found['hour']}:{found['minute'] or '00'}", "%I:%M")  # noqa: DTZ007
        then = now.replace(hour=time.hour + 12 * (found["half"].lower() == "pm"), minute=time.minute)
        if not found["month"]:
            return (then if then >= now else then + datetime.timedelta(days=1)).timestamp()
        month = 1 + _MONTHS.index(found["month"].title())
        then = then.replace(int(found["year"] or now.year), month, int(found["day"]))
        return (then if then >= now or found["year"] else then.replace(now.year + 1)).timestamp()
    except (ValueError, LookupError, OverflowError, OSError):
        return 0.0


def after(header: object, at: float | None) -> float:
    """The same by the seconds of a `Retry-After` that came *at*."""
    text = values.text(header, 16)
    return at + int(text) if at is not None and text.isascii() and text.isdigit() and len(text) <= 7 else 0.0
