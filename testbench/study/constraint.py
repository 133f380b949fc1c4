"""Conditions on knobs: comparisons, without anything else of Python."""

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from ..descriptions.load import check_name
from ..errors import UserError

__all__ = ["Constraint"]

_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Eq: operator.eq, ast.NotEq: operator.ne}
_UNARY: dict[type, Callable[[Any], Any]] = {ast.Not: operator.not_, ast.USub: operator.neg}


class Constraint:
    """A condition such as ``via.window * 2 <= via.send_slots``: knobs, numbers, texts, arithmetic,
    comparisons, ``and``, ``or``, ``not``.

    Raises
    ------
    UserError
        The text is none, or a knob does not exist.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            self._tree = ast.parse(text.strip(), mode="eval").body
        except SyntaxError:
            raise UserError(f"constraint {text!r}: is no condition, such as "
                            "'via.window * 2 <= via.send_slots'") from None
        self._check(self._tree)

    def holds(self, values: Mapping[str, Mapping[str, Any]]) -> bool:
        """Whether it holds for ``values``, the knobs by section and name.

        Raises
        ------
        UserError
            The values cannot be calculated with, such as a text and a number.
        """
        try:
            return bool(self._of(self._tree, values))
        except (TypeError, ArithmeticError) as error:
            raise UserError(f"constraint {self.text!r}: {error}") from None

    def _check(self, node: ast.AST) -> None:
        match node:
            case ast.Attribute(value=ast.Name(id=section), attr=name):
                check_name(f"{section}.{name}")
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
                raise UserError(f"constraint {self.text!r}: {ast.unparse(node)}: there may be "
                                "knobs, numbers, texts, + - * / // %, comparisons, and, or, not")
        for part in parts:
            self._check(part)

    def _of(self, node: Any, values: Mapping[str, Mapping[str, Any]]) -> Any:
        match node:
            case ast.Attribute(value=ast.Name(id=section), attr=name):
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
