"""
The door: everything that a part can add to Tallylight.

A part is one `Part`, a value that names modules and loads none of them. The core imports such a module when it is
needed for the first time. A package offers its part by an entry point of the group `tallylight.parts`:

    [project.entry-points."tallylight.parts"]
    moon = "tallylight_moon:PART"

and `tallylight_moon/__init__.py` says what it adds:

    from tallylight.parts import Part, Verb

    PART = Part(
        name="moon",
        about="the phase of the moon",
        verbs={"moon": Verb("See", "its phase", "tallylight_moon.verb")},
        host="tallylight_moon.host:Moon",
        checks="tallylight_moon.host:checks",
        fact="tallylight_moon.host:fact",
    )

`tallylight_moon.verb` has a function `main(argv) -> int`, `Moon` is a `HostPart`, and `checks(environ, hosts)` yields
each `Finding` for `tally doctor`. `fact(pane)` returns a few words for the list. A part never types into a pane itself:
it asks with `actions.client`, and the table of docs/security.md decides. `index` finds the parts; docs/parts.md
explains all of it with a whole example.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tallylight.model import attributes

if TYPE_CHECKING:
    from tallylight.config.settings import Config
    from tallylight.evidence.process_table import ForegroundReader
    from tallylight.files.mounts import Mounts
    from tallylight.model.jobs import Submit
    from tallylight.pane.pane import Pane
    from tallylight.snapshot.schema import Pane as PaneEntry
    from tallylight.snapshot.schema import Tab
    from tallylight.tracker.notify import Notice

#: The group of entry points.
GROUP = "tallylight.parts"


@attributes.frozen
class Verb:
    """A command, `tally VERB`. *group* is its heading in the help, *about* its line there, *module* has its `main`."""

    group: str
    about: str
    module: str


@attributes.frozen(kw_only=True)
class Part:
    """
    One part. Each module is written as Python imports it, an object in one as `module:name`.

    *verbs* by their names; *host* is a `HostPart`; *checks* is called with the environment and all snapshots, and
    yields each `Finding` for `tally doctor`; *fact* is called in the list with the selected pane of a
    snapshot, and returns a few words at once; *serves* are modules and objects that the core asks for (`index.ask`).
    """

    name: str
    about: str
    verbs: Mapping[str, Verb] = attributes.field(factory=dict)
    host: str = ""
    checks: str = ""
    fact: str = ""
    serves: Mapping[str, str] = attributes.field(factory=dict)


@attributes.frozen(kw_only=True)
class Context:
    """
    The host that a part runs in. Its *name* is `kitty`, `wezterm` or `sessions`.

    *submit* runs one job of a name on a thread. On the host's loop it then calls *done* with the result, or *failed*
    with the exception. *touched* publishes a pane again. *report* writes one line into the host's log. *resumable*
    offers conversations that can be resumed; None where the host offers none. *tabs* returns the open tabs by their
    ids; None where the host does not know them.
    """

    name: str
    environ: Mapping[str, str]
    submit: Submit
    mounts: Mounts
    reader: ForegroundReader
    touched: Callable[[Any], None]
    report: Callable[[str], None]
    resumable: Callable[[int], None] | None = None
    tabs: Callable[[], Mapping[str, Tab] | None] = lambda: None


class HostPart:
    """
    A part in one host. Each method runs on the host's loop, may not wait, and does nothing unless it is overridden.

    A part that raises is switched off in this host, and the log says so once. *now* is monotonic seconds.
    """

    def __init__(self, context: Context) -> None:
        self.context = context

    def use(self, config: Config) -> None:
        """Go by *config* from now on; not called before it was read."""

    def tick(self, now: float, panes: Mapping[Any, Pane], looked: Sequence[Any]) -> None:
        """Take note of a tick: all *panes* by their ids, and those that were *looked* at in it."""

    def changed(self, id_: Any, pane: Pane, now: float) -> None:
        """Take note of a *pane* that shows something new."""

    def published(self, panes: Sequence[PaneEntry] | None, now: float) -> None:
        """Take note of a snapshot: its *panes*, or None in a tick in which none was written."""

    def notify(self, notice: Notice, now: float) -> None:
        """Pass a *notice* on: the person is being notified of it."""

    def forget(self, id_: Any) -> None:
        """Forget a pane that is gone."""

    def close(self, now: float, is_lost: bool) -> None:
        """Write what there is: the host ends; *is_lost*: with all that ran in its panes."""
