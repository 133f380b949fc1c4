"""Conditions on knobs: comparisons, without anything else of Python."""

import ast
import operator
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from keyword import iskeyword
from typing import Any

from ...layouts.description import knobs
from ..descriptions.load import check_name
from ..errors import UserError
from .measured import known

__all__ = ["Constraint", "Unfit"]

_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Eq: operator.eq, ast.NotEq: operator.ne}
_UNARY: dict[type, Callable[[Any], Any]] = {ast.Not: operator.not_, ast.USub: operator.neg}


class Unfit(UserError):
    """A condition's values do not go together wherever it is looked at: a text and a number."""


class Constraint:
    """A condition such as ``via.window * 2 <= via.send_slots``: knobs, numbers, texts, arithmetic,
    comparisons, ``and``, ``or``, ``not``.

    Parameters
    ----------
    figures
        Whether it may also have what is measured, as ``area.lut``: benchmark and figure.

    Attributes
    ----------
    figures
        Benchmark and figure of each of these.

    Raises
    ------
    UserError
        The text is none, or a knob does not exist.
    """

    def __init__(self, text: str, *, figures: bool = False) -> None:
        self.text = text
        self.figures: list[tuple[str, str]] = []
        self._measured = _measured() if figures else set()
        self._written = {_written(name): name for name in self._measured if _written(name) != name}
        for written, name in self._written.items():
            if _as_it_is(written).search(text):
                raise UserError(f"constraint {text!r}: no knob or benchmark is called {written}; "
                                f"did you mean {name}?")
        try:
            self._tree = ast.parse(self._readable(text.strip()), mode="eval").body
        except SyntaxError:
            raise UserError(f"constraint {text!r}: is no condition, such as "
                            "'via.window * 2 <= via.send_slots'") from None
        self._check(self._tree)

    def _readable(self, text: str) -> str:
        """``text`` with names of benchmarks that Python can read: one-to-many and is are none."""
        for written, name in self._written.items():
            text = re.sub(rf"(?<![\w.]){name}(?=\.)", written, text)
        return text

    def _as_given(self, node: ast.AST) -> str:
        """``node`` with names as the user has written them."""
        text = ast.unparse(node)
        for written, name in self._written.items():
            text = _as_it_is(written).sub(name, text)
        return text

    def _place(self, node: ast.Attribute) -> tuple[str, str]:
        """Section and knob, or benchmark and figure."""
        section, _, name = ast.unparse(node).partition(".")
        return self._written.get(section, section), name

    def holds(self, values: Mapping[str, Mapping[str, Any]]) -> bool:
        """Tells whether it holds for ``values``, the knobs by section and name.

        Raises
        ------
        Unfit
            The values do not go together, such as a text and a number.
        UserError
            They cannot be calculated with, such as with a division by 0.
        """
        try:
            return bool(self._of(self._tree, values))
        except TypeError as error:
            raise Unfit(f"constraint {self.text!r}: {error}") from None
        except ArithmeticError as error:
            raise UserError(f"constraint {self.text!r}: {error}") from None

    def misses(self, values: Mapping[str, Mapping[str, Any]]) -> float:
        """By how much it does not hold for ``values``, which have the figures by benchmark, too; 0
        if it holds. What is no comparison of numbers is missed by 1."""
        return 0.0 if self.holds(values) else self._short(self._tree, values)

    def _short(self, node: ast.AST, values: Mapping[str, Mapping[str, Any]]) -> float:
        match node:
            case ast.BoolOp():
                parts = [self._short(one, values) for one in node.values]
                return sum(parts) if isinstance(node.op, ast.And) else min(parts)
            case ast.Compare(ops=[ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE()]):
                one, other = (self._of(side, values) for side in (node.left, *node.comparators))
                if bool(self._of(node, values)):
                    return 0.0
                if isinstance(one, (int, float, Fraction)):
                    return float(abs(one - other)) or 1.0
        return 0.0 if bool(self._of(node, values)) else 1.0

    def _check(self, node: ast.AST) -> None:
        match node:
            case ast.Attribute():
                bench, figure = self._place(node)
                if bench in self._measured:
                    self.figures.append((bench, figure))
                else:
                    check_name(f"{bench}.{figure}")
                return
            case ast.Constant(value=bool() | int() | float() | str()):
                return
            case ast.BinOp(op=op) if type(op) in _BINARY:
                parts: list[ast.AST] = [node.left, node.right]
            case ast.UnaryOp(op=op) if type(op) in _UNARY:
                parts = [node.operand]
            case ast.BoolOp():
                parts = list(node.values)
            case ast.Compare(ops=ops) if all(type(op) in _BINARY for op in ops):
                parts = [node.left, *node.comparators]
            case _:
                raise UserError(f"constraint {self.text!r}: {self._as_given(node)}: there may be "
                                "knobs, numbers, texts, + - * / // %, comparisons, and, or, not")
        for part in parts:
            self._check(part)

    def _of(self, node: Any, values: Mapping[str, Mapping[str, Any]]) -> Any:
        match node:
            case ast.Attribute():
                section, name = self._place(node)
                return values[section][name]
            case ast.Constant():
                return node.value
            case ast.BinOp():
                return _BINARY[type(node.op)](self._of(node.left, values),
                                              self._of(node.right, values))
            case ast.UnaryOp():
                return _UNARY[type(node.op)](self._of(node.operand, values))
            case ast.BoolOp():
                found = (self._of(one, values) for one in node.values)
                return all(found) if isinstance(node.op, ast.And) else any(found)
        several = [self._of(one, values) for one in (node.left, *node.comparators)]
        return all(_BINARY[type(op)](one, other) for op, one, other in zip(
            node.ops, several, several[1:], strict=False))


def _written(name: str) -> str:
    """A benchmark's name as Python could read it."""
    return name if name.isidentifier() and not iskeyword(name) else f"{name.replace('-', '_')}_"


def _as_it_is(name: str) -> re.Pattern[str]:
    """Where a text has ``name`` as a whole name."""
    return re.compile(rf"(?<![\w.]){name}(?!\w)")


def _measured() -> set[str]:
    """What has figures, but for names that are sections of knobs."""
    sections = {knob.name.partition(".")[0] for knob in knobs()}
    return {*known()} - sections
