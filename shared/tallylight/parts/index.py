"""
The index of the parts: their descriptions, so that no process has to import parts to learn their verbs.

`tally parts` finds them and writes `<state directory>/parts/index.json`. An index of another build is ignored. Without
one, a process that needs a part finds all of them itself, which takes some hundredths of a second.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Set
from pathlib import Path
from typing import Any

from tallylight import parts
from tallylight.files import build, directories, extras, read_write
from tallylight.model import attributes
from tallylight.model.errors import TallyError
from tallylight.parts import GROUP, Field, Key, Part, Verb
from tallylight.wire import values
from tallylight.wire.text import sanitise

#: The version of the file; another one is ignored.
VERSION = 4
#: Bytes of the file, parts in it, and characters of each text.
MAX_PART_INDEX_BYTES, MAX_INDEXED_PARTS, MAX_FIELD_CHARS = 256 * 1024, 64, 500
#: The directory of packages for other people's parts, as an extra: kitty's Python looks there, too.
EXTRA = "parts"


#: The fields of a `Part` that are texts, and those that name objects.
_TEXTS, _NAMED = ("name", "about", "host", "checks", "fact", "news", "undo"), ("readers", "opens", "routes", "serves")


class MissingPartError(TallyError):
    """The installation lacks a part that something needs."""


@attributes.frozen
class InstalledPart:
    """One part: *fault* is the error of its import, *is_on* is False if a person has turned it off."""

    part: Part
    version: str = ""
    fault: str = ""
    is_on: bool = True

    @property
    def is_used(self) -> bool:
        """Return whether the part is on and has no fault."""
        return self.is_on and not self.fault


def path(environ: Mapping[str, str] = os.environ) -> Path:
    return directories.state_dir(environ) / "parts" / "index.json"


def all_parts(environ: Mapping[str, str] = os.environ) -> tuple[InstalledPart, ...]:
    """Return every part, even those that are off or faulty: from the index, or else as found."""
    kept = _kept(environ)
    if kept.get("version") != VERSION or kept.get("build") != _build():
        off = _off(kept)
        return tuple(attributes.evolve(found, is_on=found.part.name not in off) for found in find())
    return listed(kept)


def _kept(environ: Mapping[str, str]) -> Mapping[str, object]:
    """Return the contents of the file; empty if it is missing or unreadable."""
    return values.members(read_write.own_or_nothing(path(environ), MAX_PART_INDEX_BYTES))


def listed(kept: Mapping[str, object]) -> tuple[InstalledPart, ...]:
    """Return the parts in an index of this version; a faulty entry affects only its part."""
    rows, off = kept.get("parts"), _off(kept)
    found = [_from_json(one, off) for one in (rows if isinstance(rows, list) else [])[:MAX_INDEXED_PARTS]]
    return tuple(one for one in found if one is not None)


def _build() -> str:
    """Return the build, without the Python that runs it: kitty has one of its own."""
    return re.sub(r"(?:, )?Python [^)]*", "", build.name())


def find() -> Iterator[InstalledPart]:
    """Yield the parts of this installation: our own, then those of other packages. The first with a name counts."""
    extras.enable(EXTRA)
    names: set[str] = set()
    for name, version, package, imported in (*_own(), *_of_others()):
        if name in names or len(names) == MAX_INDEXED_PARTS:
            continue
        names.add(name)
        try:
            part = imported()
            if not isinstance(part, Part):
                raise TypeError(f"it is no tallylight.parts.Part but {type(part).__name__}")
            verbs = {
                verb: attributes.evolve(one, module=one.module or f"{package}.verbs.{verb.replace('-', '_')}")
                for verb, one in part.verbs.items()
            }
            yield InstalledPart(attributes.evolve(part, name=name, verbs=verbs), version)
        except Exception as error:  # whatever is wrong with a part costs that part
            text = sanitise(f"{type(error).__name__}: {error}", cells=200)
            yield InstalledPart(Part(name=name, about=""), version, text)


def _own() -> Iterator[tuple[str, str, str, Any]]:
    """Yield our own parts: each with its name, no version, its package, and a function that loads it."""
    import pkgutil  # the index saves this

    for module in pkgutil.iter_modules(parts.__path__):
        if module.ispkg:
            package = f"{parts.__name__}.{module.name}"
            yield module.name, "", package, functools.partial(load, f"{package}:PART")


def _of_others() -> Iterator[tuple[str, str, str, Any]]:
    """Yield the parts of other packages: each with its name, its version, its package, and a function that loads it."""
    import importlib.metadata  # it takes as long to load as all else

    for point in importlib.metadata.entry_points(group=GROUP):
        yield point.name, point.dist.version if point.dist is not None else "", point.module, point.load


def load(name: str) -> Any:
    """Import the module *name*, or the object `module:object`."""
    module, _, attribute = name.partition(":")
    found = importlib.import_module(module)
    return getattr(found, attribute) if attribute else found


def refresh(
    environ: Mapping[str, str] = os.environ, *, on: Set[str] = frozenset(), off: Set[str] = frozenset()
) -> tuple[InstalledPart, ...]:
    """Find the parts again, turn those of *on* and *off* on and off, and write the index; `OSError` if that fails."""
    file = path(environ)
    are_off = (_off(_kept(environ)) | off) - on
    found = tuple(attributes.evolve(one, is_on=one.part.name not in are_off) for one in find())
    document = {
        "version": VERSION,
        "build": _build(),
        "off": sorted(are_off),
        "parts": [_to_json(one) for one in found],
    }
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    read_write.atomic_write(file, json.dumps(document, indent=1).encode(), 0o600)
    forget()
    return found


def discard(environ: Mapping[str, str]) -> None:
    """Remove the index and its empty directories, unless a person has turned a part off."""
    if not _off(_kept(environ)):
        file = path(environ)
        with contextlib.suppress(OSError):
            file.unlink()
            for folder in (file.parent, file.parent.parent):
                folder.rmdir()


def forget() -> None:
    """Clear the caches, so that used parts are read again."""
    used.cache_clear()
    fields.cache_clear()


def _off(kept: Mapping[str, object]) -> set[str]:
    """Return the names of the parts that a person has turned off, by the index *kept*."""
    listed = kept.get("off")
    return {name for name in (listed if isinstance(listed, list) else [])[:MAX_INDEXED_PARTS] if isinstance(name, str)}


def _to_json(found: InstalledPart) -> dict[str, object]:
    """Return the entry of a part for the index."""
    part = found.part
    verbs = {name: [verb.group, verb.about, verb.module, *verb.words] for name, verb in part.verbs.items()}
    more = {name: getattr(part, name) for name in _TEXTS} | {name: dict(getattr(part, name)) for name in _NAMED}
    fields = {name: [one.form, one.about, one.limit, one.shown] for name, one in part.fields.items()}
    keys = {name: [key.about, key.call] for name, key in part.keys.items()}
    more |= {"version": found.version, "fault": found.fault, "is_early": part.is_early}
    return more | {"verbs": verbs, "fields": fields, "keys": keys}


def _from_json(value: object, off: set[str]) -> InstalledPart | None:
    """Return the part in an entry of the index; None for a malformed one. *off* names the parts that are turned off."""
    if not isinstance(value, dict):
        return None

    def text(name: str) -> str:
        return values.text(value.get(name), MAX_FIELD_CHARS) or ""

    verbs = {
        name: Verb(verb[0], verb[1], verb[2], tuple(verb[3:]))
        for name, verb in _members(value.get("verbs")).items()
        if isinstance(verb, list) and len(verb) >= 3 and all(isinstance(word, str) for word in verb)
    }
    fields = {name: Field(*one) for name, one in _listed(value.get("fields"), str, str, int, str)}
    keys = {name: Key(*one) for name, one in _listed(value.get("keys"), str, str)}
    named: dict[str, Any] = {
        field: {name: one for name, one in _members(value.get(field)).items() if isinstance(one, str)}
        for field in _NAMED
    }
    named |= {field: text(field) for field in _TEXTS} | {"is_early": value.get("is_early") is True}
    part = Part(verbs=verbs, fields=fields, keys=keys, **named)
    return InstalledPart(part, text("version"), text("fault"), part.name not in off) if part.name else None


def _listed(value: object, *kinds: type) -> Iterator[tuple[str, list[Any]]]:
    """Yield the lists of *value* with words of these *kinds*, by their names."""
    for name, one in _members(value).items():
        if isinstance(one, list) and [type(word) for word in one] == [*kinds]:
            yield name, one


def _members(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


@functools.cache
def used() -> tuple[InstalledPart, ...]:
    extras.enable(EXTRA)
    return tuple(found for found in all_parts() if found.is_used)


def verbs() -> dict[str, Verb]:
    """Return the verbs of all parts that are used; the first part with a verb counts."""
    found: dict[str, Verb] = {}
    for one in used():
        found = {**one.part.verbs, **found}
    return found


@functools.cache
def fields() -> Mapping[str, Field]:
    """Return the fields of snapshots that parts declare; the first part with a field counts."""
    found: dict[str, Field] = {}
    for one in used():
        found = {**one.part.fields, **found}
    return found


def keys() -> dict[str, Key]:
    """Return the keys of the list that parts declare; the first part with a key counts."""
    found: dict[str, Key] = {}
    for one in used():
        found = {**one.part.keys, **found}
    return found


def named(field: str, name: str) -> Any:
    """Return the object *name* of the first part that has one in this *field*; None if no part does."""
    return next((load(getattr(one.part, field)[name]) for one in used() if name in getattr(one.part, field)), None)


def routes() -> Iterator[tuple[str, str]]:
    """Yield each route of a part below `/api/parts`, and the name of its function."""
    for one in used():
        for route, name in one.part.routes.items():
            yield f"{one.part.name}/{route}", name


def ask(name: str) -> Any:
    """Return the object that a part serves by *name*; None if no part does."""
    return named("serves", name)


def part_of(verb: str) -> str:
    """Return the name of the part with *verb*, which may be off or faulty; empty if there is none."""
    return next((found.part.name for found in all_parts() if verb in found.part.verbs), "")


def need(name: str, purpose: str) -> Any:
    """Return the object that a part serves by *name*; raise `MissingPartError` with the *purpose* if no part does."""
    if (found := ask(name)) is None:
        raise MissingPartError(f"this installation lacks the part for {purpose}; `tally parts` lists what it has")
    return found


def undoing() -> list[Any]:
    """Return the modules of parts that have something for `tally setup --undo`."""
    return [load(found.part.undo) for found in used() if found.part.undo]


def checks() -> Iterator[tuple[str, Any]]:
    """Yield the name of each part with checks, and a function that loads them."""
    for found in used():
        if found.part.checks:
            yield found.part.name, functools.partial(load, found.part.checks)
