"""Writes fitted values into a description's file; its comments and layout stay."""

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import tomlkit
from tomlkit.items import Table

from ...layouts.description import knobs
from ..errors import UserError
from ..results.document import save

__all__ = ["rewritten", "write"]


def rewritten(text: str, values: Mapping[str, int | Fraction]) -> str:
    """The description ``text`` with knobs set to ``values``. A knob that is not there is added to
    its table, with its meaning as comment."""
    document = tomlkit.parse(text)
    declared = {knob.name: knob for knob in knobs()}
    for name, value in values.items():
        section, key = name.split(".")
        if section not in document:
            document.add(section, tomlkit.table())
        table = document[section]
        assert isinstance(table, Table)
        new = key not in table
        exact = Fraction(value)
        table[key] = exact.numerator if exact.denominator == 1 else str(exact)
        if new:
            knob = declared[name]
            table[key].comment(f"{knob.unit}: {knob.doc}" if knob.unit else knob.doc)
    return tomlkit.dumps(document)


def write(path: Path, values: Mapping[str, int | Fraction]) -> None:
    """Rewrite the file.

    Raises
    ------
    UserError
        It cannot be written.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    save(path, rewritten(text, values).encode())
