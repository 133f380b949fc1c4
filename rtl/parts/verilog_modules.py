"""Modules in Verilog that blocks instantiate and that users bring along, by name."""

import re
from collections.abc import Sequence
from pathlib import Path

from ...layouts.errors import UserError
from .verilog_data import with_data

__all__ = ["add_module", "module_names", "module_text", "read_files"]

_INCLUDE = re.compile(r'^[ \t]*`include[ \t]+"([^"]+)"[ \t]*$', re.MULTILINE)

_texts: dict[str, str] = {}


def read_files(files: Sequence[Path]) -> str:
    """The text of ``files``, one after the other, with those that they include in place of the
    directives, and with the data of $readmemh and $readmemb: so it can be compiled anywhere. A file
    is relative to the one that names it.

    Raises
    ------
    UserError
        A file cannot be read.
    """
    return "`timescale 1ns/1ps\n" + "".join(
        f"`default_nettype wire\n{_read(file, ())}\n" for file in files
    ) + "`default_nettype wire\n`timescale 1ns/1ps\n"


def _read(file: Path, outer: tuple[Path, ...]) -> str:
    if file in outer:
        raise UserError(f"{file}: includes itself")
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise UserError(f"{file}: cannot be read: {reason}") from None
    return _INCLUDE.sub(lambda found: _read(file.parent / found[1], (*outer, file)),
                        with_data(text, file))


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
