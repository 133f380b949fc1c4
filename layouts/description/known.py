"""The knobs that there are: those that are declared here, and those of objects from outside."""

from collections.abc import Iterable

from .declared import DECLARED, Declared
from .listed import Knob, knobs_of
from .sections import find, known

__all__ = ["knobs", "knobs_by_name"]


def knobs(description: Declared | None = None) -> list[Knob]:
    """All knobs, in the order of their declaration, with those of objects from outside behind them:
    of all objects that have been loaded, or of those that ``description`` names."""
    if description is not None:
        return knobs_of({name: type(section) for name, section in description})
    return knobs_of(DECLARED | {name: own.section for name, own in known()})


def knobs_by_name(names: Iterable[str] = ()) -> dict[str, Knob]:
    """All knobs by name, with those of objects that entry points bring, if one of ``names``, of
    knobs or sections, is of them."""
    found = {knob.name: knob for knob in knobs()}
    for section in dict.fromkeys(name.partition(".")[0] for name in names if name not in found):
        if section not in DECLARED and find(section) is not None:
            found = {knob.name: knob for knob in knobs()}
    return found
