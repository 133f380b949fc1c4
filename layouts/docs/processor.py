"""Makes docs/reference/processor.md from the declarations:
``python -m nicbed.layouts.docs.processor``.

Without an argument it writes the page; with ``-`` it prints it.
"""

import ast
import inspect
import sys
from enum import Enum

from .. import processor
from ..operations import NIC_BASE
from ..processor import (
    ENGINE_STRIDE,
    ENGINES_BASE,
    HOST_BASE,
    MMIO_BASE,
    MMIO_REGISTERS,
    CrashReason,
    Engine,
    EngineRegister,
    Pending,
    StartFlag,
    State,
    mmio_address,
)
from ..registers import PROCESSOR_REGISTERS
from ..via import DOORBELL_PAGES, PAGE
from .page import command, page, place, register_row, table, word_table

__all__ = ["PAGE_FILE", "markdown"]

PAGE_FILE = place("processor")


def _members(kind: type[Enum]) -> dict[str, str]:
    """Text of each member in the source: the string after its line."""
    body = ast.parse(inspect.getsource(kind)).body[0]
    assert isinstance(body, ast.ClassDef)
    texts: dict[str, str] = {}
    name = ""
    for statement in body.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            name = statement.targets[0].id
            texts[name] = ""
        elif isinstance(statement, ast.Expr) and name:
            text = ast.literal_eval(statement.value)
            texts[name] = " ".join(str(text).replace("``", "`").split())
    return texts


def _enum(kind: type[Enum], heads: tuple[str, ...]) -> list[str]:
    return table(heads, [(str(kind[name].value), name.lower(), text)
                         for name, text in _members(kind).items()])


def markdown() -> str:
    """The page."""
    engines = ", ".join(f"{engine.name} `{MMIO_BASE + ENGINES_BASE + ENGINE_STRIDE * engine:#x}`"
                        for engine in Engine)
    return page("processor", "Registers of the NIC processor", [
        "[Writing firmware](../tutorials/firmware.md) shows how to use them. In C a register is "
        "read by `reg_read(NICBED_MMIO_WAIT)`. The constants of a field are, for example, "
        "`NICBED_SEND_WORD_LENGTH_LO_SHIFT` and `_LO_MASK` in the low half of its word, `_HI_` in "
        "the high half, and without either in the whole word.", "",
        "## Memory map of the processor", "",
        *table(("address", "what"), [
            ("`0x0`", "NIC memory, `processor.memory` bytes; execution begins at 0"),
            (f"`{HOST_BASE:#x}`", "with `processor.host_access` = uncached: host memory, "
             "`memory.bytes` bytes, in words of 32 bits; each load or store is a bus transaction"),
            (f"`{MMIO_BASE:#x}`", "registers, 32 bits each"),
            (f"`{MMIO_BASE + ENGINES_BASE:#x}`", f"the engines' registers: {engines}"),
        ]),
        "An access to any other address is a crash (bus).", "",
        f"The CPU sees NIC memory from `{NIC_BASE + processor.NIC_MEMORY:#x}` on, in pages of "
        f"{processor.WINDOW_PAGE} bytes that the kernel gives to processes, and doorbell page p at "
        f"`{NIC_BASE + DOORBELL_PAGES:#x} + {PAGE:#x} p`: 64 doorbells of 8 bytes (as words: 2).",
        "",
        "## Registers", "",
        *table(("address", "name", "access", "bits", "meaning"), [
            (f"`{mmio_address(register.name):#x}`", f"`{register.name}`", register.access.value,
             str(register.width), register.doc) for register in MMIO_REGISTERS
        ]),
        "### Bits of pending and wait_mask", "",
        " ".join((Pending.__doc__ or "").replace("``", "`").split()), "",
        *_enum(Pending, ("value", "name", "set when")),
        "### Doorbell entry", "",
        *word_table(processor.DOORBELL_ENTRY),
        "### Protocol", "",
        *word_table(processor.PROTOCOL_SELECT),
        "### Crash reasons", "",
        *_enum(CrashReason, ("value", "name", "meaning")),
        "## Engines", "",
        *_enum(Engine, ("number", "name", "what it does")),
        *table(("offset", "name", "meaning"), [
            (f"`{EngineRegister[name].value:#04x}`", name.lower(), text)
            for name, text in _members(EngineRegister).items()
        ]),
        "Flags of start:", "",
        *_enum(StartFlag, ("value", "name", "meaning")),
        "## The host's registers", "",
        *table(("offset", "name", "access", "bits", "meaning"),
               [register_row(register) for register in PROCESSOR_REGISTERS]),
        "Status:", "",
        *word_table(processor.STATUS),
        *_enum(State, ("state", "name", "meaning")),
        "Owners of pages of NIC memory, and of doorbell pages; doorbells as words:", "",
        *word_table(processor.WINDOW_OWNER),
        *word_table(processor.DOORBELL_OWNER),
        *word_table(processor.DOORBELL_WORDS),
        "## Slots of queues from the host", "",
        f"{processor.SLOT_BYTES} bytes; word 0, for the firmwares am and fm:", "",
        *word_table(processor.SEND_WORD),
        *_enum(processor.SendKind, ("kind", "name", "what follows")),
    ])


def main(arguments: list[str]) -> int:
    """Write the page, or print it."""
    return command("processor", markdown(), arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
