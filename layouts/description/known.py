"""All known knobs: those that are declared here, and those of objects from outside."""

from collections.abc import Iterable, Mapping
from functools import lru_cache

from .declared import DECLARED, Declared
from .knob import Section
from .listed import Knob, knobs_of
from .sections import find, known

__all__ = ["knobs", "knobs_by_name"]


def knobs(description: Declared | None = None) -> list[Knob]:
    """All knobs, in the order of their declaration, with those that layers have in their own folder
    and those of objects from outside behind them: of all of these that have been loaded, or of
    those that ``description`` names."""
    if description is not None:
        return knobs_of({name: type(section) for name, section in description})
    return [*_known(everything=True).values()]


def _known(everything: bool = False) -> dict[str, Knob]:
    return _of(tuple((name, own.section) for name, own in known(everything)))


@lru_cache(maxsize=8)
def _of(outside: tuple[tuple[str, type[Section]], ...]) -> dict[str, Knob]:
    return {knob.name: knob for knob in knobs_of(DECLARED | dict(outside))}


def knobs_by_name(names: Iterable[str] = ()) -> Mapping[str, Knob]:
    """All knobs by name, with those of objects that entry points bring, if one of ``names``, of
    knobs or sections, is of them."""
    found = _known()
    for section in dict.fromkeys(name.partition(".")[0] for name in names if name not in found):
        if section not in DECLARED and find(section) is not None:
            found = _known()
    return found
