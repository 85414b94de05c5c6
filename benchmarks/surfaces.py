"""
Whether all surfaces say the same, and how late: agents that change by chance in a real kitty and a real tmux.

    python -m benchmarks.surfaces [--minutes 15] [VERSION …]

Ten agents in each kitty and six in a tmux work, ask and rest, for seconds each, and note when they do. Meanwhile each
surface is read: the light of the tab, `tally status` once a second, and `tally watch`. The page and the list are read
twice a second, the option of tmux four times, and the notifications as they come. For each surface it prints the number
of changes, and how late half and 99 % of them were seen, with the time between two looks. It prints how many changes
that lasted two seconds were never seen, and how much of the time the surface was wrong.

Of notifications it prints how many waits in hidden tabs had none although they lasted long enough, by the limits of
`tracker.notify`. Others were not due: of an agent in sight, of no wait, or a second one of the same.
"""

from __future__ import annotations

import argparse
import bisect
import contextlib
import json
import math
import os
import shutil
import subprocess
import threading
import time
import urllib.request
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping

import attrs
import psutil
from benchmarks.aims import Aim
from benchmarks.exact_words import quantile
from benchmarks.sessions import TALLY
from benchmarks.soak import is_of
from tests.real_kitty.desk import Desk
from tests.real_kitty.remote import RemoteError

from tallylight.tracker.notify import NOTICE_GAP_S, QUESTION_S

LATE = Aim("all surfaces: a change is seen, p99 of the slowest", "the agent itself", most=2.0, unit="s")
AIMS = (LATE,)
QUICK = ("--minutes", "2", "0.48")
IN_KITTY, IN_TMUX = 10, 6
#: A state that lasts for so many seconds and is not seen counts as missed.
STANDS_S = 2.0
_PROC = 'mount -t proc proc /proc && exec "$@"'
#: Seconds after the time at which a notification is due within which it comes.
NOTIFIED_S = 2.0
#: The names of states on surfaces, and what an agent does then.
_WORDS = {"working": "working", "waiting": "waiting", "permission": "waiting", "done": "rest", "idle": "rest"}
#: By what a row of the list says it.
_MARKS = {"●": "working", "!": "waiting", "✓": "done", "·": "idle"}

_AGENT = r"""
name=$1 RANDOM=$2
cd ~/work/$name; mkdir -p ~/.claude/sessions ~/truth
start=$(cut -d' ' -f22 /proc/$$/stat) file=~/.claude/sessions/$$.json
says() {
    printf '{"pid":%d,"procStart":"%s","sessionId":"%s","cwd":"%s","status":"%s"%s}' \
        $$ "$start" "$name" "$PWD" "$1" "$3" >"$file.new"
    mv "$file.new" "$file"
    printf '%s %s\n' "$EPOCHREALTIME" "$2" >>~/truth/$name
}
works() {
    says busy working
    for ((n = RANDOM % 12 + 4; n; n--)); do printf '\033]0;\342\240\213 turn\007line %s\n' $RANDOM; sleep 0.5; done
}
while :; do
    works
    if ((RANDOM % 2)); then
        says waiting waiting ',"waitingFor":"permission prompt"'
        printf 'Do you want to proceed?\n\342\235\257 1. Yes\n  2. No\n'
        sleep $((RANDOM % 8 + 1))
        printf '\033[2J\033[H'
        works
    fi
    says idle rest
    printf '\033]0;\342\234\263 turn\007'
    sleep $((RANDOM % 6 + 1))
done
"""
#: Since when an agent, or what is shown of it, is in which state.
Track = list[tuple[float, str]]
_NOTIFY = '#!/bin/sh\necho "$(date +%s.%N) $TALLY_PROJECT $TALLY_STATUS" >>"$HOME/notified"\n'


@attrs.define
class Sightings:
    """The states that each surface showed of each agent, and when, in seconds since the epoch."""

    found: dict[str, dict[str, Track]] = attrs.Factory(lambda: defaultdict(lambda: defaultdict(list)))

    def add(self, surface: str, name: str, word: str, at: float) -> None:
        """That *surface* says *word* of the agent *name*; only what is new is kept."""
        track = self.found[surface][name]
        if word in _WORDS and (not track or track[-1][1] != _WORDS[word]):
            track.append((at, _WORDS[word]))


@attrs.define
class Judged:
    """The comparison of one surface with the truth."""

    lags: list[float] = attrs.Factory(list)
    missed: int = 0
    wrong_s: float = 0.0
    total_s: float = 0.0

    def add(self, truth: Track, seen: Track, end: float) -> None:
        """One agent."""
        if not seen:
            self.missed += len(truth)
            return
        times = [at for at, _ in seen]
        begin = seen[0][0]
        for at, until, word in spans(truth, end):
            if at < begin:
                continue
            self.total_s += until - at
            now, state = at, seen[max(0, bisect.bisect_right(times, at) - 1)][1]
            first = at if state == word else None
            for seen_at, next_state in seen[bisect.bisect_right(times, at) : bisect.bisect_left(times, until)]:
                self.wrong_s += (seen_at - now) * (state != word)
                now, state = seen_at, next_state
                if first is None and state == word:
                    first = seen_at
            self.wrong_s += (until - now) * (state != word)
            if first is not None:
                self.lags.append(first - at)
            elif until - at >= STANDS_S:
                self.missed += 1

    def row(self, surface: str) -> str:
        """Its line."""
        p50, p99 = (quantile(self.lags, part) for part in (0.5, 0.99))
        wrong = 100 * self.wrong_s / self.total_s if self.total_s else 0.0
        return f"  {surface:14} {len(self.lags):7} {p50:6.2f} {p99:6.2f} {self.missed:7} {wrong:7.1f}"


class Place:
    """One kitty and one tmux in one home, and what looks at all their surfaces."""

    def __init__(self, version: str) -> None:
        self.desk = Desk(version, "tab_bar_min_tabs 1\n", size=(1400, 900))
        self.home = self.desk.kitty.home
        self.sightings, self.is_over = Sightings(), threading.Event()
        self.names: list[str] = []
        self._threads: list[threading.Thread] = []
        (self.home / "bin").mkdir()
        # A copy, because a process is known by its executable.
        shutil.copy("/bin/bash", self.home / "bin/claude")
        (self.home / "bin/claude.sh").write_text(_AGENT)
        notify = self.home / "bin/notify"
        notify.write_text(_NOTIFY)
        notify.chmod(0o755)
        self.desk.configure(f'[notify]\ncommand = ["{notify}"]\n')
        self.environ = {**os.environ, **self.desk.kitty.env, "TMUX_TMPDIR": str(self.desk.kitty.runtime_dir)}
        self.environ["PATH"] = os.environ["PATH"]
        processes = psutil.process_iter(["name", "environ"])
        pid = next(found.pid for found in processes if is_of(found, self.desk.kitty))
        # Among the processes of that kitty, but with the programs of this machine.
        self._inside = ["nsenter", "-t", str(pid), "-p", "unshare", "-m", "sh", "-c", _PROC, "sh"]

    def agent(self, name: str) -> list[str]:
        """The command of the agent *name*."""
        (self.home / "work" / name).mkdir(parents=True)
        self.names.append(name)
        return [f"{self.home}/bin/claude", f"{self.home}/bin/claude.sh", name, str(len(self.names))]

    def start(self) -> None:
        """Start all agents, and all that looks."""
        kitty = self.desk.kitty
        self.desk.record()
        windows = {}
        for number in range(IN_KITTY):
            # The windows are in sight, and the tabs are not.
            kind = "window" if number % 2 else "tab"
            windows[f"k{number:02}"] = kitty.launch(*self.agent(f"k{number:02}"), type=kind, keep_focus=not number % 2)
        for number in range(IN_TMUX):
            name = f"t{number:02}"
            how = ("new-window", "-d", "-t", "s:") if number else ("new-session", "-d", "-s", "s", "-x", "100")
            self._run("tmux", "-f", "/dev/null", *how, "-n", name, *self.agent(name))
        self._start(*TALLY, "host", "sessions")
        page = self._start(*TALLY, "serve", "--port", "0", stdout=subprocess.PIPE)
        assert page.stdout is not None
        url, _, token = page.stdout.readline().strip().partition("/#")
        watch = self._start(*TALLY, "watch", stdout=subprocess.PIPE)
        shown = kitty.launch(str(self.home / ".local/bin/tally"), "agents", type="os-window", keep_focus=True)
        self._look(0.0, lambda: self._watched(watch))
        self._look(1.0, self._status)
        self._look(0.5, lambda: self._page(url, token))
        self._look(0.5, lambda: self._list(shown))
        self._look(0.25, self._options)
        self.windows = windows
        # Nobody is attached to tmux.
        self.hidden = {*list(windows)[::2], *self.names[IN_KITTY:]}

    def _run(self, *words: str) -> str:
        words = (*self._inside, *words)
        return subprocess.run(words, env=self.environ, check=False, capture_output=True, text=True, cwd="/").stdout

    def _start(self, *words: str, stdout: int = subprocess.DEVNULL) -> subprocess.Popen[str]:
        words = (*self._inside, *words)
        return subprocess.Popen(words, env=self.environ, stdout=stdout, stderr=subprocess.DEVNULL, text=True, cwd="/")

    def _look(self, every_s: float, call: Callable[[], None]) -> None:
        def run() -> None:
            while not self.is_over.wait(every_s):
                try:
                    call()
                except (OSError, RemoteError):
                    if not self.is_over.is_set():  # it has ended while it was looked at
                        raise

        self._threads.append(threading.Thread(target=run))
        self._threads[-1].start()

    def _watched(self, watch: subprocess.Popen[str]) -> None:
        assert watch.stdout is not None
        if line := watch.stdout.readline():
            event, now = json.loads(line), time.time()
            for found in event.get("panes") or [event]:
                if "pane" in found:
                    self.sightings.add("watch", found["pane"]["project"], found["pane"]["status"], now)

    def _status(self) -> None:
        if out := self._run(*TALLY, "status", "--json"):
            now = time.time()
            for found in json.loads(out)["panes"]:
                self.sightings.add("status", found["project"], found["status"], now)

    def _page(self, url: str, token: str) -> None:
        asked = urllib.request.Request(f"{url}/api/v1/sessions", headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(asked, timeout=30) as told:
            for found in json.load(told)["sessions"]:
                self.sightings.add("page", found["project"], found["status"], time.time())

    def _list(self, window: int) -> None:
        lines, now = self.desk.kitty.get_text(window).splitlines(), time.time()
        for line in lines:
            names = [name for name in self.names if name in line]
            if len(names) == 1 and (word := _MARKS.get(line[2:3])):
                self.sightings.add("list", names[0], word, now)

    def _options(self) -> None:
        out = self._run("tmux", "list-windows", "-a", "-F", "#{window_name} #{@tally}")
        for line in out.splitlines():
            name, _, word = line.partition(" ")
            self.sightings.add("tmux option", name, word, time.time())

    def end(self) -> None:
        """Look no longer, and take in what kitty has noted."""
        self.is_over.set()
        beside = time.time() - time.monotonic()
        for name, window in self.windows.items():
            for at, word in self.desk.history(window):
                self.sightings.add("tab", name, word, at + beside)

    def close(self) -> None:
        """End it with everything in it."""
        self.is_over.set()
        self.desk.close()
        for thread in self._threads:
            thread.join(60)

    def truth(self, end: float) -> dict[str, Track]:
        """Return what each agent did until *end*, and when; a state that was noted again is one."""
        found: dict[str, Track] = {}
        for path in (self.home / "truth").iterdir():
            track = found[path.name] = []
            for line in path.read_text().splitlines():
                at, _, word = line.partition(" ")
                if float(at) < end and (not track or track[-1][1] != word):
                    track.append((float(at), word))
        return found

    def notified(self, end: float) -> dict[str, list[float]]:
        """Return when each agent's waits were notified until *end*."""
        found: dict[str, list[float]] = defaultdict(list)
        with contextlib.suppress(FileNotFoundError):
            for line in (self.home / "notified").read_text().splitlines():
                at, name, word = line.split()
                if word == "waiting" and float(at) < end:
                    found[name].append(float(at))
        return found


def spans(track: Track, end: float) -> Iterator[tuple[float, float, str]]:
    """Each state of *track*: since when, until when, and which."""
    for (at, word), (until, _) in zip(track, [*track[1:], (end, "")], strict=True):
        yield at, until, word


def judge_notified(place: Place, truth: Mapping[str, Track], notified: Mapping[str, list[float]], end: float) -> Judged:
    """The notifications of hidden agents, from when hosts knew of them."""
    judged = Judged()
    for name in place.hidden & place.sightings.found["status"].keys():
        begin, last = place.sightings.found["status"][name][0][0], -math.inf
        for at, until in ((at, until) for at, until, word in spans(truth[name], end) if word == "waiting"):
            if told := [seen for seen in notified.get(name, ()) if at <= seen < until + NOTIFIED_S]:
                judged.lags.append(told[0] - at)
                last = told[-1]
            elif at >= begin:
                judged.missed += until - max(at + QUESTION_S, last + NOTICE_GAP_S) >= NOTIFIED_S
    return judged


def judge(place: Place, truth: dict[str, Track], end: float) -> Iterator[tuple[str, Judged]]:
    """Each surface, compared."""
    for surface, tracks in place.sightings.found.items():
        judged = Judged()
        for name, track in truth.items():
            if name in tracks:
                judged.add(track, tracks[name], end)
        yield surface, judged


def run(version: str, seconds: float) -> float:
    """Measure one kitty with one tmux; the 99th percentile of the slowest surface."""
    place = Place(version)
    try:
        place.start()
        place.is_over.wait(seconds)
        end = time.time()
        place.end()
        truth, notified = place.truth(end), place.notified(end)
    finally:
        place.close()
    print(f"kitty {version}, {len(truth)} agents, {seconds:.0f} s")
    print("  surface        changes    p50    p99  missed wrong %")
    slowest = 0.0
    for surface, judged in judge(place, truth, end):
        print(judged.row(surface))
        slowest = max(slowest, quantile(judged.lags, 0.99))
    told = judge_notified(place, truth, notified, end)
    print(told.row("notification"))
    print(f"  {sum(map(len, notified.values())) - len(told.lags)} notifications were not due")
    return slowest


def main() -> None:
    """Measure what was named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("versions", nargs="*", metavar="VERSION", default=["0.41", "0.48"])
    parser.add_argument("--minutes", type=float, default=15.0)
    options = parser.parse_args()
    slowest = max(run(version, 60 * options.minutes) for version in options.versions)
    LATE.say(slowest)


if __name__ == "__main__":
    main()
