"""
Classes of values like those of attrs, without the cost of importing attrs.

`frozen`, `define`, `field` and `evolve` behave like those of attrs as far as they are used here: slots, equality by
value, a hash of frozen values, a `repr`, private names without their `_` as arguments. For a type checker they are
those of attrs. `attrs.evolve`, `attrs.asdict` and `attrs.fields` accept these classes. There are no validators, no
converters, no inheritance, and no `super()` without arguments.

It is for the modules that a command or the relay loads before it is of any use: attrs imports `inspect`, and with it 40
modules and 2.5 MB, and compiles five methods for every class. Here a class has one method of its own, `__init__`,
which is compiled when the first value is made. Everywhere else attrs itself is used.
"""

from __future__ import annotations

from operator import attrgetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


class _Nothing:
    def __repr__(self) -> str:
        return "NOTHING"


#: Stands for the default of a field without one.
NOTHING: Any = _Nothing()


_NO_METADATA: Mapping[str, Any] = {}


class _Field:
    """One field of a class, with the names that attrs has for its parts."""

    __slots__ = ("alias", "default", "eq", "factory", "init", "kw_only", "metadata", "name", "type")

    def __init__(
        self, default: Any, factory: Callable[[], Any] | None, metadata: Mapping[str, Any], *, init: bool, eq: bool
    ) -> None:
        self.default = default
        self.factory = factory
        self.metadata = metadata
        self.init = init
        self.eq = eq
        self.name = self.alias = self.type = ""
        self.kw_only = False


def _field(
    *,
    default: Any = NOTHING,
    factory: Callable[[], Any] | None = None,
    metadata: Mapping[str, Any] = _NO_METADATA,
    init: bool = True,
    eq: bool = True,
) -> Any:
    """Return a field with more properties than a default."""
    return _Field(default, factory, metadata, init=init, eq=eq)


def _evolve(value: Any, **changes: Any) -> Any:
    """Return a copy of *value* with *changes*."""
    for one in value.__attrs_attrs__:
        if one.init and one.alias not in changes:
            changes[one.alias] = getattr(value, one.name)
    return type(value)(**changes)


def _define(cls: Any = None, *, kw_only: bool = False) -> Any:
    """Turn *cls* into a class of values that may change."""
    return _made(cls, is_frozen=False, kw_only=kw_only) if cls else lambda cls: _define(cls, kw_only=kw_only)


def _frozen(cls: Any = None, *, kw_only: bool = False) -> Any:
    """Turn *cls* into a class of values that never change."""
    return _made(cls, is_frozen=True, kw_only=kw_only) if cls else lambda cls: _frozen(cls, kw_only=kw_only)


def _made(cls: Any, *, is_frozen: bool, kw_only: bool) -> Any:
    """
    Return the class with slots and with equality, hash and `repr` by its fields; `__init__` is compiled at its first
    call.
    """
    assert cls.__bases__ == (object,), f"{cls.__name__} inherits: use attrs"
    inside = {name: value for name, value in vars(cls).items() if name not in ("__dict__", "__weakref__")}
    fields = []
    for name, type_ in cls.__annotations__.items():
        found = inside.pop(name, NOTHING)
        one = found if isinstance(found, _Field) else _Field(found, None, _NO_METADATA, init=True, eq=True)
        one.name, one.alias, one.type, one.kw_only = name, name.lstrip("_"), type_, kw_only
        fields.append(one)
    names = tuple(one.name for one in fields)
    compared = [one.name for one in fields if one.eq]
    values = attrgetter(*compared) if compared else lambda _: None

    def is_equal(self: Any, other: Any) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return values(self) == values(other)

    def hash_of(self: Any) -> int:
        return hash((self.__class__, values(self)))

    def init(self: Any, *given: Any, **named: Any) -> None:
        made.__init__ = _init(made, fields, is_frozen=is_frozen)
        made.__init__(self, *given, **named)

    methods = {"__eq__": is_equal, "__hash__": hash_of if is_frozen else None, "__repr__": _repr, "__init__": init}
    inside = methods | inside
    inside |= {
        "__slots__": (*names, "__weakref__"),
        "__attrs_attrs__": tuple(fields),
        "__match_args__": tuple(one.name for one in fields if one.init and not kw_only),
        "__qualname__": cls.__qualname__,
    }
    if is_frozen:
        inside |= {"__setattr__": _refuse, "__delattr__": _refuse, "__setstate__": _set_state}
    made: Any = type(cls)(cls.__name__, (), inside)
    return made


def _init(cls: Any, fields: list[_Field], *, is_frozen: bool) -> Any:
    """Return the compiled `__init__` of a class."""
    known: dict[str, Any] = {"NOTHING": NOTHING}
    places: list[str] = []
    named: list[str] = []
    body = ["pass"]
    for one in fields:
        name, value = one.name, one.alias
        known |= {f"set_{name}": vars(cls)[name].__set__, f"default_{name}": one.default, f"make_{name}": one.factory}
        if one.init:
            missing = f"default_{name}" if one.factory is None else "NOTHING"
            has_default = one.default is not NOTHING or one.factory is not None
            (named if one.kw_only else places).append(f"{value}={missing}" if has_default else value)
        if one.factory is not None:
            value = f"make_{name}() if {value} is NOTHING else {value}" if one.init else f"make_{name}()"
        elif not one.init:
            if one.default is NOTHING:
                continue  # `__attrs_post_init__` sets it
            value = f"default_{name}"
        body.append(f"set_{name}(self, {value})" if is_frozen else f"self.{name} = {value}")
    if hasattr(cls, "__attrs_post_init__"):
        body.append("self.__attrs_post_init__()")
    head = ", ".join(["self", *places, *(["*", *named] if named else [])])
    source = f"def __init__({head}):\n " + "\n ".join(body)
    exec(compile(source, f"<__init__ of {cls.__qualname__}>", "exec"), known)  # noqa: S102 - of names in our own classes
    init = known["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__annotations__ = {one.alias: one.type for one in fields if one.init} | {"return": None}
    return init


def _repr(self: Any) -> str:
    values = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in self.__attrs_attrs__)
    return f"{self.__class__.__qualname__.rpartition('>.')[2]}({values})"


def _refuse(self: Any, name: str, _value: object = None) -> None:
    raise AttributeError(f"{self.__class__.__name__}.{name} is frozen")


def _set_state(self: Any, state: tuple[object, dict[str, Any]]) -> None:
    """Set all fields from *state*, as `copy` and `pickle` need it."""
    for name, value in state[1].items():
        object.__setattr__(self, name, value)


if TYPE_CHECKING:
    from attrs import NOTHING as NOTHING
    from attrs import define as define
    from attrs import evolve as evolve
    from attrs import field as field
    from attrs import frozen as frozen
else:
    define, evolve, field, frozen = _define, _evolve, _field, _frozen
