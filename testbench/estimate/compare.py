"""Compares estimates with the truth: difference, named bias, and checks that can fail."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

__all__ = ["Row", "check"]

TOLERANCE = Fraction(2, 100)


@dataclass(frozen=True)
class Row:
    """A quantity's estimate and truth, in cycles. ``bias`` names the reasons for their difference,
    each with its size from the trace: estimate = truth + bias + rest. ``defined``, if given, is a
    second truth: the quantity by the definition that the estimate follows."""

    quantity: str
    estimate: Fraction
    truth: Fraction
    bias: Sequence[tuple[str, Fraction]] = field(default_factory=tuple)
    defined: Fraction | None = None

    @property
    def left(self) -> Fraction:
        """The difference that no bias accounts for."""
        return self.estimate - self.truth - sum(size for _, size in self.bias)

    @property
    def ok(self) -> bool:
        """Tells whether the rest is within 2 % of the truth, or within the rounding of a tick."""
        return abs(self.left) <= max(abs(self.truth) * TOLERANCE, Fraction(1, 64))

    def plain(self) -> dict[str, Any]:
        """The row in the form of a result file, without biases below a thousandth of a cycle."""
        second = {} if self.defined is None else {
            "defined": self.defined, "defined_difference": self.estimate - self.defined}
        return {"quantity": self.quantity, "estimate": self.estimate, "truth": self.truth,
                "difference": self.estimate - self.truth, "left": self.left, **second,
                "bias": [{"name": name, "cycles": size} for name, size in self.bias
                         if abs(size) >= Fraction(1, 1000)]}


def check(name: str, ok: bool, detail: str) -> dict[str, Any]:
    """A check's outcome in the form of a result file."""
    return {"check": name, "ok": bool(ok), "detail": detail}
