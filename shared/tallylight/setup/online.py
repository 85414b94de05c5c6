"""
Whether a newer release has been published: the only question over the internet, and only on request.

The Python Package Index answers it: https://docs.pypi.org/api/json/ .
"""

from __future__ import annotations

import http.client
import re
import urllib.error
import urllib.request
from collections.abc import Iterator

from tallylight.model.finding import Finding, Health
from tallylight.wire import values

URL = "https://pypi.org/pypi/tallylight/json"
#: Seconds that the index may be silent, and bytes of its answer that are read.
INDEX_WAIT_S, MAX_INDEX_BYTES = 5.0, 4 * 1024 * 1024
_VERSION = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,6}){0,3}")


def findings(version: str, url: str = "") -> Iterator[Finding]:
    """Ask for the newest release and compare *version* with it. No answer is no fault of this installation."""
    headers = {"User-Agent": "tallylight", "Accept": "application/json"}
    request = urllib.request.Request(url or URL, headers=headers)  # noqa: S310 - a constant address
    try:
        with urllib.request.urlopen(request, timeout=INDEX_WAIT_S) as answer:  # noqa: S310 - a constant address
            data = answer.read(MAX_INDEX_BYTES)
    except urllib.error.HTTPError as error:
        reason = "it has no tallylight" if error.code == 404 else f"it answers with {error.code}"
        yield Finding("update", Health.SKIPPED, f"the package index was asked: {reason}")
        return
    except (OSError, http.client.HTTPException) as error:
        cause = error.reason if isinstance(error, urllib.error.URLError) else error
        text = f"the package index cannot be reached: {cause}; are you online?"
        yield Finding("update", Health.SKIPPED, text)
        return
    yield compare(data, version)


def compare(data: bytes, version: str) -> Finding:
    """Return the finding for *version* from the index's answer *data*."""
    info = values.members(data).get("info")
    newest = info.get("version") if isinstance(info, dict) else None
    if not isinstance(newest, str) or not _VERSION.fullmatch(newest):
        return Finding("update", Health.SKIPPED, "the package index gives an answer that cannot be read")
    if _numbers(newest) > _numbers(version):
        remedy = "update as you installed it: `uv tool upgrade tallylight`, `pipx upgrade tallylight`, or `git pull`"
        text = f"{newest} has been published; this is {version}"
        return Finding("update", Health.STALE, text, f"{remedy} and ./install.sh, then `tally setup`")
    return Finding("update", Health.OK, f"{version} is the newest release")


def _numbers(version: str) -> list[int]:
    """Return the numbers in *version*, without zeros at its end."""
    found = [int(number) for number in re.findall(r"[0-9]+", version)]
    while found and found[-1] == 0:
        found.pop()
    return found
