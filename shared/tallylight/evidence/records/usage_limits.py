"""
When a usage limit ends, by the words of agents: `resets 3pm (Europe/Berlin)`, `try again in 2 h 14 min`, `|1762952400`.

A text without a time, or with an impossible one, counts for nothing.
"""

from __future__ import annotations

import datetime
import re
import zoneinfo

from tallylight.wire import values

#: Characters of the text that are searched.
_MAX_SEARCHED_CHARS = 1024
#: Seconds added to a time without seconds: a retry then never comes too early.
_IN_MINUTE_S = 54
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
#: A time of the day. Without a date or a day it is the next such time, without a zone one of this place.
_CLOCK = re.compile(
    r"\b(?:resets?|again)(?: (?:at|on|after))? "
    rf"(?:(?P<weekday>{'|'.join(_DAYS)})[a-z]{{0,6}},? (?:at )?)?"
    rf"(?:(?P<month>{'|'.join(_MONTHS)})[a-z]{{0,6}} (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? (?:(?P<year>\d{{4}}),? )?"
    r"(?:at )?)?"
    r"(?P<hour>\d{1,2})(?=:| ?[ap]m\b)(?::(?P<minute>\d\d))?(?: ?(?P<half>[ap]m)\b)?"
    r"(?: \((?P<zone>[^()]{1,64})\)| (?P<bare>(?:UTC|GMT)(?:[+-]\d{1,2}(?::\d\d)?)?)\b)?",
    re.IGNORECASE | re.ASCII,
)
_OFFSET = re.compile(r"(?:UTC|GMT)([+-])(\d{1,2})(?::(\d\d))?", re.ASCII)
#: A duration, in up to four parts.
_SPAN = re.compile(
    r"\b(?:(?:again|retry|resets?) (?:in|after)|wait) ~?"
    r"((?:\d{1,7}(?:\.\d{1,9})?\s?(?:d(?:ays?)?|h(?:ours?|rs?)?|m(?:in(?:ute)?s?)?|s(?:ec(?:ond)?s?)?)(?![a-z])"
    r"[\s,]{0,2}){1,4})",
    re.IGNORECASE | re.ASCII,
)
_PART = re.compile(r"([\d.]+)\s?([dhms])", re.IGNORECASE | re.ASCII)
_UNITS = {"d": 86_400, "h": 3600, "m": 60, "s": 1}
#: Claude Code's, up to 2.0, in seconds since the epoch; and by ISO 8601.
_EPOCH = re.compile(r"limit reached\|(\d{10})(?!\d)", re.ASCII)
_ISO = re.compile(r"\b(?:resets?|again)(?: at)? (\d{4}-\d\d-\d\dT[\d:.]{5,15}(?:Z|[+-]\d\d:\d\d))", re.IGNORECASE)


def ends(text: object, at: float | None) -> float:
    """Return when the limit in *text*, written *at*, ends, in seconds since the epoch; 0 if it names no time."""
    words = values.text(text, _MAX_SEARCHED_CHARS)
    if at is None:
        return 0.0
    if (found := _SPAN.search(words)) is not None:
        return at + sum(float(count) * _UNITS[unit.lower()] for count, unit in _PART.findall(found[1]))
    if (found := _EPOCH.search(words)) is not None:
        return float(found[1])
    try:
        if (found := _ISO.search(words)) is not None:
            return datetime.datetime.fromisoformat(found[1]).timestamp()
        # A shared budget may end later than one's own limit.
        return min((_next_clock_time(found, at) for found in _CLOCK.finditer(words)), default=0.0)
    except (ValueError, LookupError, OverflowError, OSError):
        return 0.0


def _next_clock_time(found: re.Match[str], at: float) -> float:
    return _clock_time(found, at) + _IN_MINUTE_S * bool(found["minute"])


def _clock_time(found: re.Match[str], at: float) -> float:
    """Return the next time from *at* on that has the date, the day or the hour in *found*."""
    now = datetime.datetime.fromtimestamp(at, _zone(found["zone"] or found["bare"])).replace(second=0, microsecond=0)
    stated = f"{found['hour']}:{found['minute'] or '00'} {found['half'] or ''}".strip()
    time = datetime.datetime.strptime(stated, "%I:%M %p" if found["half"] else "%H:%M")  # noqa: DTZ007
    then = now.replace(hour=time.hour, minute=time.minute, fold=0)
    if found["month"]:
        month = 1 + _MONTHS.index(found["month"].lower())
        then = then.replace(int(found["year"] or now.year), month, int(found["day"]))
        return (then if then >= now or found["year"] else then.replace(now.year + 1)).timestamp()
    days = 1
    if found["weekday"]:
        days = 7
        then += datetime.timedelta(days=(_DAYS.index(found["weekday"].lower()) - now.weekday()) % 7)
    return (then if then >= now else then + datetime.timedelta(days=days)).timestamp()


def _zone(name: str | None) -> datetime.tzinfo | None:
    """Return the zone called *name*: `Europe/Berlin`, `GMT-3`; None for the zone of this machine."""
    if name is None:
        return None
    if (found := _OFFSET.fullmatch(name)) is None:
        return zoneinfo.ZoneInfo(name)
    offset = datetime.timedelta(hours=int(found[2]), minutes=int(found[3] or 0))
    return datetime.timezone(-offset if found[1] == "-" else offset)


def after(header: object, at: float | None) -> float:
    """
    Return when a limit ends by the seconds of a `Retry-After` header that came *at*, in seconds since the epoch; 0 for
    none.
    """
    text = values.text(header, 16)
    return at + int(text) if at is not None and text.isascii() and text.isdigit() and len(text) <= 7 else 0.0
