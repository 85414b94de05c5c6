"""Mutants of a module's source, one small fault each; `benchmarks.mutation` runs the tests against them."""

from __future__ import annotations

import ast
import copy
import functools
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import attrs

#: The replacements of a comparison: moved by its edge, and its opposite.
_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
_FUNCTIONS = {"min": "max", "max": "min", "any": "all", "all": "any"}
_STATEMENTS = (ast.Expr, ast.Assign, ast.AugAssign, ast.Delete, ast.Continue, ast.Break, ast.Raise)
#: The fields that decide nothing: types and decorators.
_SILENT_FIELDS = frozenset({"annotation", "returns", "decorator_list"})
_SILENT_NODES = (ast.Assert, ast.JoinedStr, ast.Import, ast.ImportFrom)

T = TypeVar("T")


@attrs.frozen
class Mutant:
    """One change: in which function, the text of its line, the line's number, and what becomes of what there."""

    function: str
    line: str
    number: int
    change: str
    #: Carries it out in the tree that it was found in, for good.
    make: Callable[[], None]

    @property
    def key(self) -> tuple[str, str, str]:
        """The identity of the mutant, which does not change with the lines above it."""
        return self.function, self.line, self.change


@attrs.frozen
class _Place:
    function: str
    parent: ast.AST
    field: str
    index: int | None
    node: ast.expr | ast.stmt

    def put(self, new: ast.AST) -> None:
        if self.index is None:
            setattr(self.parent, self.field, new)
        else:
            getattr(self.parent, self.field)[self.index] = new


def mutants(source: str, tree: ast.Module) -> list[Mutant]:
    """Every mutant of *tree*, which was made of *source*, from its top to its end."""
    lines = source.splitlines()
    return [
        Mutant(
            place.function,
            lines[place.node.lineno - 1].strip(),
            place.node.lineno,
            f"{_brief(place.node)} {how or f'→ {_brief(new)}'}",
            functools.partial(place.put, new),
        )
        for place in _places(tree, "")
        for new, how in _replacements(place)
    ]


def table_mutants(source: str, tree: ast.Module, name: str) -> list[Mutant]:
    """
    Return the mutants of the table in the text *name*: each of its numbers one more and one less, if that has a
    meaning.

    The meaning is which source overrules which: the module of *source* says that in `FACTS`, `REPEATED` and `HOW`.
    """
    assign = next(node for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name)
    assert isinstance(assign.value, ast.Constant) and isinstance(assign.value.value, str)
    text, made, seen = assign.value.value, [], {_overruling(source)}
    for match in re.finditer(r"\d+", text):
        for number in (int(match[0]) + 1, int(match[0]) - 1):
            other = f"{text[: match.start()]}{number}{text[match.end() :]}"
            means = _overruling(source.replace(text, other, 1)) if number >= 0 else None
            if means is None or means in seen:
                continue
            line = text.count("\n", 0, match.start())
            row = text.splitlines()[line]
            place = len(row[: match.start() - text.rfind("\n", 0, match.start()) - 1].split())
            change = f"{match[0]} → {number} in word {place} at {match.start()}"
            make = functools.partial(setattr, assign, "value", ast.Constant(other))
            made.append(Mutant("", row.strip(), assign.lineno + line, change, make))
    return made


def _overruling(source: str) -> tuple[object, ...]:
    """Who overrules whom by the table of the module *source*, and who knows better than whom."""
    module: dict[str, Any] = {"__name__": "table"}
    exec(compile(source, "table", "exec"), module)
    facts = [
        (question, key, fact)
        for key, found in module["FACTS"].items()
        for question, fact in enumerate(found)
        if fact is not None
    ] + [(1, (source, "still"), fact) for source, fact in module["REPEATED"].items() if fact is not None]
    ends = frozenset(
        (question, later, present)
        for question, later, new in facts
        for other, present, old in facts
        if question == other and new.is_so is not old.is_so and later[0] != present[0] and new.says >= old.holds
    )
    how = module["HOW"]
    better = frozenset((a, b) for a in how for b in how if (how[a], a) > (how[b], b))
    return ends, better


def _brief(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 120 else f"{text[:80]} … {text[-37:]}"


def _places(tree: ast.AST, function: str) -> Iterator[_Place]:
    """Each node below *tree* that may be changed; statements only inside a *function*."""
    for field, value in ast.iter_fields(tree):
        if field in _SILENT_FIELDS:
            continue
        for index, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(node, ast.AST) or isinstance(node, _SILENT_NODES):
                continue
            if isinstance(node, ast.expr) or (isinstance(node, ast.stmt) and function):
                yield _Place(function, tree, field, index, node)
            yield from _places(node, node.name if isinstance(node, ast.FunctionDef) else function)


def _replacements(place: _Place) -> Iterator[tuple[ast.AST, str]]:
    """Return what may replace the node, a mutant each, and the difference in words, where that is shorter."""
    node = place.node
    if (
        place.field in ("test", "ifs")
        and isinstance(node, ast.expr)
        and not isinstance(node, (ast.Compare, ast.UnaryOp))
    ):
        yield ast.UnaryOp(ast.Not(), node), "negated"
    match node:
        case ast.Compare(ops=ops):
            for i, op in enumerate(ops):
                for other in _COMPARISONS[type(op)]:
                    yield _with(node, ops=[*ops[:i], other(), *ops[i + 1 :]]), ""
        case ast.BoolOp(op=op, values=values):
            yield _with(node, op=ast.And() if isinstance(op, ast.Or) else ast.Or()), ""
            for rest, left_out in _each_left_out(values):
                yield _with(node, values=rest) if len(rest) > 1 else rest[0], f"without {_brief(left_out)}"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand, ""
        case ast.BinOp(op=op) if type(op) in _OPERATORS:
            yield _with(node, op=_OPERATORS[type(op)]()), ""
        case ast.Constant():
            within = f" in {_brief(place.parent)}" if isinstance(place.parent, (ast.Call, ast.BinOp, ast.Tuple)) else ""
            for value in _other_values(node.value, place.parent):
                yield ast.Constant(value), f"→ {value}{within}"
        case ast.Set(elts=elements) | ast.Tuple(elts=elements) | ast.List(elts=elements):
            is_data = all(isinstance(element, (ast.Constant, ast.Name, ast.Attribute)) for element in elements)
            if is_data and isinstance(getattr(node, "ctx", ast.Load()), ast.Load) and place.field != "keys":
                for rest, left_out in _each_left_out(elements):
                    yield _with(node, elts=rest), f"without {_brief(left_out)}"
        case ast.Dict(keys=keys, values=values):
            for pairs, (name, held) in _each_left_out(list(zip(keys, values, strict=True))):
                new = _with(node, keys=[key for key, _ in pairs], values=[value for _, value in pairs])
                yield new, f"without {_brief(name or held)}"
        case ast.Call(func=ast.Name(id=name)) if name in _FUNCTIONS:
            yield _with(node, func=ast.Name(_FUNCTIONS[name], ast.Load())), ""
        case ast.Call(args=[one, two]) if not isinstance(one, ast.Starred) and not isinstance(two, ast.Starred):
            yield _with(node, args=[two, one]), ""
        case ast.Return(value=None):
            yield ast.Pass(), ""
        case ast.Return(value=ast.Constant(value=value)):
            if value is None:
                yield _with(node, value=ast.Constant(1)), ""
        case ast.Return():
            yield _with(node, value=ast.Constant(None)), ""
        case ast.Expr(value=ast.Constant()):
            pass  # what documents
        case _ if isinstance(node, _STATEMENTS):
            yield ast.Pass(), ""


def _other_values(value: object, parent: ast.AST) -> list[bool | int | float | str | None]:
    """
    Return what may replace a constant. Texts stay, and so does a None that is compared, returned or put into a name.
    """
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, (int, float)):
        return [value + 1, value - 1]
    if value is None and not isinstance(parent, (ast.Compare, ast.Return, ast.Assign, ast.AnnAssign)):
        return [1]
    return []


def _with(node: ast.AST, **fields: object) -> ast.AST:
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def _each_left_out(values: list[T]) -> Iterator[tuple[list[T], T]]:
    """*values* without one of them, and that one."""
    return ((values[:i] + values[i + 1 :], values[i]) for i in range(len(values)))
