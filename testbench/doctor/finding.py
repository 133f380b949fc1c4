"""A finding, in one line."""

from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["Finding", "failed", "found", "lacking"]


@dataclass(frozen=True)
class Finding:
    """A line of ``nicbed doctor``.

    Parameters
    ----------
    name
        What was looked at.
    state
        "ok"; "lacking": something that not everybody needs; "wrong": nicbed does not work.
    text
        What was found.
    advice
        What to do; empty if there is nothing to do.
    """

    name: str
    state: str
    text: str
    advice: str = ""

    def line(self, width: int) -> str:
        """As plain text, the name in ``width`` columns."""
        advice = f": {self.advice}" if self.advice else ""
        return f"{self.state:<7} {self.name:<{width}} {self.text}{advice}"

    def plain(self) -> dict[str, Any]:
        """As data of JSON."""
        return asdict(self)


def found(name: str, text: str) -> Finding:
    """Something that is as it should be."""
    return Finding(name, "ok", " ".join(text.split()))


def lacking(name: str, text: str, advice: str = "") -> Finding:
    """Something that is missing, and that not everybody needs."""
    return Finding(name, "lacking", " ".join(text.split()), advice)


def failed(name: str, text: str, advice: str = "") -> Finding:
    """Something without which nicbed does not work."""
    return Finding(name, "wrong", " ".join(text.split()), advice)
