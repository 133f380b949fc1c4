"""Estimates beside the truth: difference, named bias, and checks that can fail."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

__all__ = ["Row", "check"]

TOLERANCE = Fraction(2, 100)


@dataclass(frozen=True)
class Row:
    """A quantity's estimate and truth, in cycles. ``bias`` names why they differ, each with the
    size that the trace predicts: estimate = truth + bias + what is left. ``defined``, where there
    is one, is a second truth: what the quantity is by the definition that the estimate follows."""

    quantity: str
    estimate: Fraction
    truth: Fraction
    bias: Sequence[tuple[str, Fraction]] = field(default_factory=tuple)
    defined: Fraction | None = None

    @property
    def left(self) -> Fraction:
        """Difference that no bias accounts for."""
        return self.estimate - self.truth - sum(size for _, size in self.bias)

    @property
    def ok(self) -> bool:
        """Whether what is left is within 2 % of the truth, or a tick's rounding."""
        return abs(self.left) <= max(abs(self.truth) * TOLERANCE, Fraction(1, 64))

    def plain(self) -> dict[str, Any]:
        """As it stands in a result file; biases below a thousandth of a cycle left out."""
        second = {} if self.defined is None else {
            "defined": self.defined, "defined_difference": self.estimate - self.defined}
        return {"quantity": self.quantity, "estimate": self.estimate, "truth": self.truth,
                "difference": self.estimate - self.truth, "left": self.left, **second,
                "bias": [{"name": name, "cycles": size} for name, size in self.bias
                         if abs(size) >= Fraction(1, 1000)]}


def check(name: str, ok: bool, detail: str) -> dict[str, Any]:
    """A check's outcome as it stands in a result file."""
    return {"check": name, "ok": bool(ok), "detail": detail}
