"""What the part adds to every host, and to `tally doctor`."""

from __future__ import annotations

import functools
import itertools
import json
import urllib.request
from collections.abc import Iterator, Mapping, Sequence

from tallylight.config.config_file import load_config
from tallylight.config.settings import Config
from tallylight.hosts.part import Context, HostPart
from tallylight.model.finding import Finding, Health
from tallylight.snapshot.schema import Pane, Snapshot
from tallylight.tracker.notify import Notice


def url_of(config: Config) -> str:
    """Return the topic: `[parts.ntfy] url` in config.toml."""
    return config.parts.get("ntfy", {}).get("url", "")


def send(url: str, title: str, text: str) -> None:
    """Publish a text; on a thread, for it waits for the network."""
    server, _, topic = url.rpartition("/")
    body = json.dumps({"topic": topic, "title": title, "message": text}).encode()
    request = urllib.request.Request(server, body, {"Content-Type": "application/json"})
    urllib.request.urlopen(request, timeout=5).close()


class Ntfy(HostPart):
    """Sends what the host notifies of."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._url = ""
        self._count = itertools.count()

    def use(self, config: Config) -> None:
        self._url = url_of(config)

    def notify(self, notice: Notice, now: float) -> None:
        if self._url:
            job = functools.partial(send, self._url, notice.title, notice.body)
            self.context.submit(("ntfy", next(self._count) % 4), job, failed=self._failed)

    def _failed(self, error: Exception) -> None:
        self.context.report(f"ntfy: {error}")


def checks(environ: Mapping[str, str], _hosts: Sequence[Snapshot]) -> Iterator[Finding]:
    """Yield whether a topic is set."""
    url = url_of(load_config(environ)[0])
    if url:
        yield Finding("ntfy", Health.OK, f"tells {url}")
    else:
        yield Finding("ntfy", Health.HINT, "has no topic", 'set url = "https://ntfy.sh/TOPIC" in [parts.ntfy]')


def fact(pane: Pane) -> str:
    """Return a few words for the list, where the person has been told."""
    return "told ntfy" if pane.attention.notified else ""
