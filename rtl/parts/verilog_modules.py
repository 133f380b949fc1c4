"""Modules in Verilog that blocks instantiate and that users bring along, by name."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from ...layouts.doors.verilog_names import INCLUDE, blanked
from ...layouts.errors import UserError
from .verilog_data import with_data

__all__ = ["add_module", "module_names", "module_text", "read_files"]

_GUARD = re.compile(r"\s*`ifndef\s+(\w+)\s+`define\s+\1\b")

_texts: dict[str, str] = {}


def read_files(files: Sequence[Path]) -> str:
    """The text of ``files``, one after the other, with those that they include in place of the
    directives, and with the data of $readmemh and $readmemb: so it can be compiled anywhere. A file
    is relative to the one that names it. One that is included within itself has nothing there if it
    has a guard: `ifndef and `define of a name at its beginning.

    Raises
    ------
    UserError
        A file cannot be read, includes itself without a guard, or as of
        :func:`.verilog_data.with_data`.
    """
    return "`timescale 1ns/1ps\n" + "".join(
        f"`default_nettype wire\n{_read(file, ())}\n" for file in files
    ) + "`default_nettype wire\n`timescale 1ns/1ps\n"


def _read(file: Path, outer: tuple[Path, ...]) -> str:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise UserError(f"{file}: cannot be read: {reason}") from None
    place = Path(os.path.normpath(file))
    if place in outer:
        if _GUARD.match(blanked(text)):
            return ""
        raise UserError(f"{file}: includes itself")
    text = with_data(text, file)
    parts: list[str] = []
    end = 0
    for found in INCLUDE.finditer(blanked(text)):
        inner = _read(file.parent / found["name"], (*outer, place))
        # The last line of what is included may be a comment, and so may the rest of this one.
        parts += [text[end:found.start("directive")], inner, "\n" * (not inner.endswith("\n"))]
        end = found.end()
    return "".join([*parts, text[end:]])


def add_module(name: str, text: str) -> None:
    """Make known that ``text`` defines module ``name``, to whoever converts a block that
    instantiates it. The last text of a name counts."""
    _texts[name] = text


def module_names() -> tuple[str, ...]:
    """The modules that are known."""
    return tuple(_texts)


def module_text(name: str) -> str:
    """The text that defines module ``name``, one of :func:`module_names`."""
    return _texts[name]
