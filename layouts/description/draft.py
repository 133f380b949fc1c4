"""A description as it is put together: tables, then values of knobs, then its rules."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from ..errors import nearest
from .declared import DECLARED, Declared
from .errors import KnobError, described, refusal, short
from .knob import Section
from .known import knobs_by_name
from .listed import Knob, knobs_of
from .sections import plugs

__all__ = ["Draft"]

D = TypeVar("D", bound=Declared)


class Draft:
    """Tables of knobs to which values are added.

    Parameters
    ----------
    tables
        Sections, or tables of a file, by name.
    source
        What messages call the tables: the file's name.
    folder
        To which paths in the tables are relative, by default the current folder.

    Raises
    ------
    KnobError
        An object that a knob names is not there, or a table or a knob does not exist.
    """

    def __init__(self, tables: Mapping[str, Any], source: str = "", folder: Path | None = None
                 ) -> None:
        self._source = source
        self._origin: dict[str, str] = {}
        self._tables = dict(tables)
        for section, content in tables.items():
            if isinstance(content, dict) and section in DECLARED:
                self._tables[section] = {
                    key: self._named(f"{section}.{key}", value, source, folder)
                    for key, value in content.items()}
        self._check()

    def set(self, name: str, value: Any, origin: str = "") -> None:
        """Set knob ``name``. A path is relative to the current folder. ``origin``: what messages
        call the place where it was set.

        Raises
        ------
        KnobError
            There is no such knob, or no such object.
        """
        known = self._known([name])
        if name not in known:
            raise KnobError(f"{name}: no knob is called {name}{nearest(name, [*known])}")
        if type(value).__module__ == "numpy":
            value = value.item()
        section, key = name.split(".")
        before = self._tables.get(section, {})
        self._tables[section] = (before.model_dump() if isinstance(before, Section) else before) | {
            key: self._named(name, value, origin, None)}
        self._origin[name] = origin

    def made(self, validate: Callable[[Any], D]) -> D:
        """The description, by the ``validate`` of its class.

        Raises
        ------
        KnobError
            A value or a combination of values is wrong.
        """
        try:
            return validate(self._tables)
        except ValidationError as error:
            raise KnobError(described(error, knobs_by_name(), self._origin, self._source)
                            ) from None

    def _named(self, name: str, value: Any, place: str, folder: Path | None) -> Any:
        """``value``; for the name or path of an object the one that finds it anywhere."""
        section, _, key = name.partition(".")
        at = plugs(DECLARED[section]).get(key) if section in DECLARED else None
        if at is None or not isinstance(value, str):
            return value
        try:
            return at.named(value, folder)
        except ValueError as error:
            raise KnobError(f"{place}: " * bool(place) + refusal(name, value, str(error))
                            ) from None

    def _known(self, names: Iterable[str]) -> Mapping[str, Knob]:
        """All knobs by name. Of a section that the tables have already, they are its own: another
        object of the same name may have been loaded since."""
        known = knobs_by_name(names)
        own = {name: type(content) for name, content in self._tables.items()
               if name not in DECLARED and isinstance(content, Section)}
        if not own:
            return known
        return {name: knob for name, knob in known.items() if name.partition(".")[0] not in own} | {
            knob.name: knob for knob in knobs_of(own)}

    def _check(self) -> None:
        known = knobs_by_name(self._tables)
        sections = list(dict.fromkeys(name.split(".")[0] for name in known))
        place = f"{self._source}: " * bool(self._source)
        for section, content in self._tables.items():
            if isinstance(content, Section):
                continue
            if section not in sections:
                raise KnobError(f"{place}{section} = {short(content)}: no table is called "
                                f"{section}{nearest(section, sections)}")
            if not isinstance(content, dict):
                raise KnobError(f"{place}{section} = {short(content)}: must be a table, "
                                f"[{section}]")
            for key, value in content.items():
                if (name := f"{section}.{key}") not in known:
                    raise KnobError(f"{place}{name} = {short(value)}: no knob is called {name}"
                                    f"{nearest(name, [*known])}")
