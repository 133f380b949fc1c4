"""The Verilog of a core."""

import re
from pathlib import Path

from ....layouts.doors import Core
from ....layouts.errors import UserError
from .enabled_core import with_enable

__all__ = ["core_verilog"]


def core_verilog(core: Core, *, enabled: bool = False) -> str:
    """Source of the core's module, and of all modules below it. ``enabled``: with a clock enable,
    and another name (:func:`with_enable`).

    Raises
    ------
    UserError
        A file of it cannot be read, has no such module, or has one to which no clock enable can be
        added.
    """
    try:
        # What a core says of nets and time is not for those who are compiled after it.
        text = "`timescale 1ns/1ps\n" + "\n".join(map(_read, core.files())) + (
            "\n`default_nettype wire\n`timescale 1ns/1ps\n")
        text = core.text(text) if core.text else text
        if not re.search(rf"^[ \t]*module\s+{core.module}\b", text, re.MULTILINE):
            raise ValueError(f"the source has no module {core.module}")
        return with_enable(text, core.module) if enabled else text
    except ValueError as error:
        raise UserError(f"core {core.name}: {error}") from None


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise ValueError(f"{file}: cannot be read: {error.strerror}") from None
