"""
The door: everything that a part can add to Tallylight.

A part is one `Part`, a value that names modules and loads none of them. The core imports such a module when it is
needed for the first time. A package offers its part by an entry point of the group `tallylight.parts`:

    [project.entry-points."tallylight.parts"]
    moon = "tallylight_moon:PART"

and `tallylight_moon/__init__.py` describes it:

    from tallylight.parts import Field, Key, Part, Verb

    PART = Part(
        name="moon",
        about="the phase of the moon",
        verbs={"moon": Verb("See", "its phase", "tallylight_moon.verb")},
        host="tallylight_moon.host:Moon",
        is_early=True,
        checks="tallylight_moon.host:checks",
        fact="tallylight_moon.host:fact",
        readers={"moon": "tallylight_moon.record:READER"},
        fields={"phase": Field("text", "the phase of the moon", 12, "tallylight_moon.host:shown")},
        opens={"moon": "tallylight_moon.host:opens"},
        keys={"m": Key("look at its moon", "tallylight_moon.verb:over")},
        routes={"phase": "tallylight_moon.host:phase"},
        news="tallylight_moon.host:news",
        undo="tallylight_moon.undo",
    )

`tallylight_moon.verb` has a function `main(argv) -> int`, `Moon` is a `hosts.part.HostPart`, and `checks(environ,
hosts)` yields each `Finding` for `tally doctor`. `fact(pane)` returns a few words for the list. `READER` is an
`evidence.records.readers.Reader` for agents with `record = "moon"` in their file. Each pane of a snapshot has a field
`phase`, and `shown(value)` makes words of it. `opens(pane)` returns why the list does not open a page over a pane. The
key `m` of the list lends its terminal to `over(row)`. `phase(query)` answers `tally serve`, `news(rows, seconds)` sums
up the time while you were away, and `undo` reverts the part's changes to your files.

A part never types into a pane itself: it asks with `actions.client`, and the table of docs/security.md decides. `index`
finds the parts; docs/parts.md explains all of it with a whole example.
"""

from __future__ import annotations

from collections.abc import Mapping

from tallylight.model import attributes

#: The group of entry points.
GROUP = "tallylight.parts"


@attributes.frozen
class Verb:
    """
    A command, `tally VERB`. *group* is its heading in the help, *about* its line there, *module* has its `main`.

    Without a module it is `verbs.VERB` in the part's package.

    A person who types one of *words* gets this verb as a suggestion.
    """

    group: str
    about: str
    module: str = ""
    words: tuple[str, ...] = ()


@attributes.frozen
class Field:
    """
    A field of each pane in a snapshot, which the part sets in a host: `pane.more["phase"] = "full"`.

    *form* is `text`, `texts`, `number`, `count` or `truth`, or names a `snapshot.values.Form` of your own. *about* is
    its line in docs/json.md, *limit* the most cells of a text. *shown* names a function that makes a few words of a
    value for the list, `tally status` and notifications; without one it is for programs alone.
    """

    form: str
    about: str
    limit: int = 80
    shown: str = ""


@attributes.frozen
class Key:
    """
    A key of the list for the selected row. *about* is its line in the help of the list.

    *call* names a function that gets the row while the list lends it the terminal, and returns a text for the agent, or
    nothing. The person sees the text in the list and sends it from there.
    """

    about: str
    call: str


@attributes.frozen(kw_only=True)
class Part:
    """
    One part. Each module is written as Python imports it, an object in one as `module:name`.

    *verbs* by their names. *host* is a `hosts.part.HostPart`, which is loaded with the first agent, or with the host if
    it *is_early*. *checks* gets the environment and all snapshots, and
    yields each `Finding` for `tally doctor`. *fact* gets the selected pane of the list, and returns a few words at
    once. *news* gets the rows and the seconds of an absence when the person comes back to the list, and returns one
    line. *undo* is a module for `tally setup --undo`: `plan(system)` returns edits and problems, and `undo(system,
    edit)` a line about what it did.

    *readers* are each an `evidence.records.readers.Reader`, by the `record` of an agent file. *opens* get the selected
    pane, by the word of the page that the list opens over it, and return a `Refusal` or None. *keys* are free keys of
    the list. *routes* answer `GET /api/parts/NAME/ROUTE` of the server: each is called on a thread with the query as a
    mapping, and returns JSON values. *fields* by their names. *serves* are modules and objects that the core asks for
    (`index.ask`).
    """

    name: str
    about: str
    verbs: Mapping[str, Verb] = attributes.field(factory=dict)
    host: str = ""
    is_early: bool = False
    checks: str = ""
    fact: str = ""
    news: str = ""
    undo: str = ""
    readers: Mapping[str, str] = attributes.field(factory=dict)
    opens: Mapping[str, str] = attributes.field(factory=dict)
    keys: Mapping[str, Key] = attributes.field(factory=dict)
    routes: Mapping[str, str] = attributes.field(factory=dict)
    fields: Mapping[str, Field] = attributes.field(factory=dict)
    serves: Mapping[str, str] = attributes.field(factory=dict)
