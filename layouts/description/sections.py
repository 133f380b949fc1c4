"""Sections of knobs that objects bring along: those from outside, and layers that are built in."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

from pydantic import ValidationError
from pydantic_core import InitErrorDetails

from ..doors import CORES, LAYERS, NICS, TOPOLOGIES, Door, DoorError
from .declared import DECLARED
from .knob import Kind, Section
from .plugged import At

__all__ = ["Owned", "filled", "find", "known", "owned", "owned_by", "owner", "plugs"]

_KINDS = {NICS.group: tuple(Kind), LAYERS.group: (Kind.COST,), CORES.group: (Kind.STRUCTURE,),
          TOPOLOGIES.group: (Kind.STRUCTURE,)}
"""Kinds that the knobs of an object's section may have."""
MOST_TIMING = (1 << 32) - 1
"""Most that a register holds of a whole number."""
MOST_RATE = 15
"""And of a rate."""
MOST_REGISTERS = 128
"""Most registers of an object: with the target's they have an index of 8 bits."""
_DOORS: tuple[Door[Any], ...] = (NICS, LAYERS, CORES, TOPOLOGIES)


class Owned(NamedTuple):
    """A section that belongs to an object."""

    section: type[Section]
    door: Door[Any]
    owner: str
    """The object's name; a :class:`~nicbed.layouts.doors.Named` of one from outside."""


_OWNERS: dict[type[Section], Owned] = {}


@cache
def plugs(section: type[Section]) -> dict[str, At]:
    """The knobs of ``section`` that name an object at a door."""
    found = {}
    for key, info in section.model_fields.items():
        for one in info.metadata:
            if isinstance(one, At):
                found[key] = one
    return found


def owned_by(door: Door[Any], name: str) -> Owned | None:
    """The section of the object called ``name``; None if it has none.

    Raises
    ------
    DoorError
        The object cannot be loaded, or a knob of it is not declared as it must be.
    """
    plugin = door.get(name)
    section = getattr(plugin, "knobs", None)
    if section is None:
        return None
    _check(section, f"{door.kind} {plugin.name}", _KINDS[door.group])
    return Owned(section, door, name)


def known(everything: bool = False) -> Iterator[tuple[str, Owned]]:
    """The sections, by name, of the layers that are built in and have one of their own, and of all
    objects from outside, as far as these objects have been loaded, without those that are declared
    wrongly. ``everything``: layers that are built in are loaded for it."""
    for name in LAYERS.builtin:
        if name not in DECLARED and (everything or LAYERS.is_loaded(name)) and (
                found := owned_by(LAYERS, name)):
            yield name, found
    for door in _DOORS:
        for name in door.loaded():
            with suppress(DoorError):
                if found := owned_by(door, name):
                    yield str(name), found


def find(name: str) -> Owned | None:
    """The section called ``name`` of an object that was loaded, that is a layer built in, or that
    an entry point brings; None if there is none.

    Raises
    ------
    DoorError
        The object cannot be loaded.
    """
    for known_name, found in known():
        if known_name == name:
            return found
    for door in _DOORS:
        if name in door.names() and (door is LAYERS or not door.is_builtin(name)):
            return owned_by(door, name)
    return None


def owned(declared: Mapping[str, Section], given: Iterable[str], layers: Mapping[str, str]
          ) -> dict[str, Owned]:
    """The sections from outside of a description, by name.

    Parameters
    ----------
    declared
        Its own sections, some of whose knobs name objects.
    given
        Names of further sections: of layers, as far as they are none of these objects'.
    layers
        Layers by name; others are asked for at their door.

    Raises
    ------
    DoorError
        An object cannot be loaded, or declares its knobs wrongly.
    """
    found: dict[str, Owned] = {}
    for section in declared.values():
        for key, at in plugs(type(section)).items():
            value = getattr(section, key)
            own = None if value in at.also else owned_by(at.door, value)
            if own is None:
                continue
            if value in found:
                raise DoorError(f"{at.door.kind} {value}: another section of knobs is called "
                                f"{value}: it needs another name")
            found[str(value)] = own
    for name in given:
        if name not in found and (name in layers or name in LAYERS.names()):
            own = owned_by(LAYERS, layers.get(name, name))
            if own is not None:
                found[name] = own
    return found


def filled(name: str, owned: Owned, value: Any) -> Section:
    """The section ``name`` with ``value``: a table, or a section, of an older class too.

    Raises
    ------
    ValidationError
        A knob is wrong.
    """
    if isinstance(value, Section) and not isinstance(value, owned.section):
        value = value.model_dump(include=set(owned.section.model_fields))
    try:
        made = owned.section.model_validate(value)
    except ValidationError as error:
        raise ValidationError.from_exception_data(error.title, [
            InitErrorDetails(type=one["type"], loc=(name, *one["loc"]), input=one["input"],
                             ctx=one.get("ctx", {})) for one in error.errors()]) from None
    _OWNERS[type(made)] = owned
    return made


def owner(section: Section) -> Owned:
    """To which object a section from outside belongs."""
    return _OWNERS[type(section)]


@cache
def _check(section: type[Section], owner: str, kinds: tuple[Kind, ...]) -> None:
    """Refuse a section of which a knob is not declared by ``structure``, ``timing`` or ``cost``, is
    of another kind than ``kinds``, or has no bounds.

    Raises
    ------
    DoorError
        It is so.
    """
    if not (isinstance(section, type) and issubclass(section, Section)):
        raise DoorError(f"{owner}: knobs must be a class of Section")
    kinds_used: list[Any] = []
    for key, info in section.model_fields.items():
        extra = info.json_schema_extra
        kind = extra.get("kind") if isinstance(extra, dict) else None
        if kind is None:
            raise DoorError(f"{owner}: knob {key}: must be declared by structure, timing or cost")
        if kind not in [one.value for one in kinds]:
            raise DoorError(f"{owner}: knob {key} is of kind {kind}: must be "
                            f"{' or '.join(one.value for one in kinds)}")
        kinds_used.append(kind)
        rules: dict[str, Any] = {type(rule).__name__: rule for rule in info.metadata}
        if isinstance(info.default, bool) or At in map(type, info.metadata):
            continue
        if isinstance(info.default, str):
            if not any(getattr(rule, "pattern", None) for rule in info.metadata):
                raise DoorError(f"{owner}: knob {key}: must have a pattern, '^(this|that)$'")
        elif not ("Le" in rules and {"Ge", "Gt"} & rules.keys()):
            raise DoorError(f"{owner}: knob {key}: must have bounds, ge and le")
        elif kind == Kind.TIMING:
            most = MOST_RATE if isinstance(info.default, Fraction) else MOST_TIMING
            if (high := rules["Le"].le) > most:
                raise DoorError(f"{owner}: knob {key}: le = {high}: a register holds at most "
                                f"{most}")
    if (count := kinds_used.count(Kind.TIMING)) > MOST_REGISTERS:
        raise DoorError(f"{owner}: {count} knobs of kind timing: must be at most {MOST_REGISTERS}")
