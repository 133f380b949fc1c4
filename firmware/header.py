"""Generates the C header of the NIC's layouts: registers, packets, rings, the NIC processor, and
what the modules of layers declare as ``IN_C``. It uses the same declarations as the hardware, so
that firmware cannot drift from it. ``python -m nicbed.firmware.header``."""

import sys
from collections.abc import Iterator
from enum import Enum
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from .. import layouts
from ..layouts import processor, trace
from ..layouts.bits import Word
from ..layouts.in_c import InC
from ..layouts.operations import NIC_BASE
from ..layouts.packet import CRC_BYTES, HEADER, HEADER_BYTES, MAX_HEADER_BYTES, TRACE_BITS, Protocol
from ..layouts.registers import RECEIVE_WINDOW, REGISTERS, SEND_WINDOW, WINDOW_BYTES, Irq
from ..layouts.rings import COMPLETION, DESCRIPTOR_BYTES, DESCRIPTOR_CONTROL, INLINE_BYTES

__all__ = ["constants", "c_header"]

_WORDS = {
    "header": HEADER, "descriptor_control": DESCRIPTOR_CONTROL, "completion": COMPLETION,
    "protocol_select": processor.PROTOCOL_SELECT, "doorbell_entry": processor.DOORBELL_ENTRY,
    "send_word": processor.SEND_WORD, "h2n_place": processor.H2N_PLACE,
}
_ENUMS: dict[str, type[Enum]] = {
    "irq": Irq, "protocol": Protocol, "state": processor.State, "crash": processor.CrashReason,
    "pending": processor.Pending, "start": processor.StartFlag, "send_kind": processor.SendKind,
    "kind": trace.Kind,
}


@cache
def _of_layers() -> InC:
    """What the modules of layouts declare for C, each for itself, in the order of their names."""
    found = InC()
    for one in sorted(info.name for info in iter_modules(layouts.__path__) if not info.ispkg):
        own = getattr(import_module(f"{layouts.__name__}.{one}"), "IN_C", InC())
        found = found.with_(own)
    return found


def _word(name: str, word: Word) -> Iterator[tuple[str, int, bool]]:
    """SHIFT and MASK (in place) of each field. Fields in one half of a 64-bit word also get
    LO_SHIFT and LO_MASK, or HI_SHIFT and HI_MASK, in place in that half."""
    for field in word.fields:
        if field.name == "reserved":
            continue
        base = f"NICBED_{name}_{field.name}".upper()
        shift, mask = word.offset(field.name), word.mask(field.name)
        yield f"{base}_SHIFT", shift, False
        yield f"{base}_MASK", mask, word.width == 64
        if word.width < 64:
            continue
        for half, low in (("LO", 0), ("HI", 32)):
            if low <= shift and mask >> low < 1 << 32:
                yield f"{base}_{half}_SHIFT", shift - low, False
                yield f"{base}_{half}_MASK", mask >> low, False
                break


def _processor() -> Iterator[tuple[str, int]]:
    yield "NICBED_NIC_MEMORY", processor.NIC_MEMORY
    yield "NICBED_WINDOW_PAGE", processor.WINDOW_PAGE
    yield "NICBED_SLOT_BYTES", processor.SLOT_BYTES
    yield "NICBED_ENGINE_QUEUE", processor.ENGINE_QUEUE
    yield "NICBED_HOST_BASE", processor.HOST_BASE
    for register in processor.MMIO_REGISTERS:
        yield f"NICBED_MMIO_{register.name.upper()}", processor.mmio_address(register.name)
    for engine in processor.Engine:
        base = (processor.MMIO_BASE + processor.ENGINES_BASE
                + processor.ENGINE_STRIDE * engine.value)
        yield f"NICBED_ENGINE_{engine.name}", base
        for place in processor.EngineRegister:
            yield f"NICBED_MMIO_{engine.name}_{place.name}", base + place.value
    for place in processor.EngineRegister:
        yield f"NICBED_ENGINE_OFFSET_{place.name}", place.value


def _declared() -> Iterator[tuple[str, int, bool]]:
    """Name, value, and whether the constant is for 64-bit arithmetic."""
    narrow = {
        "NICBED_NIC_BASE": NIC_BASE,
        "NICBED_SEND_WINDOW": SEND_WINDOW,
        "NICBED_RECEIVE_WINDOW": RECEIVE_WINDOW,
        "NICBED_WINDOW_BYTES": WINDOW_BYTES,
        **{f"NICBED_{register.name.upper()}": register.offset for register in REGISTERS},
        "NICBED_HEADER_BYTES": HEADER_BYTES,
        "NICBED_CRC_BYTES": CRC_BYTES,
        "NICBED_MAX_HEADER_BYTES": MAX_HEADER_BYTES,
        "NICBED_TRACE_BITS": TRACE_BITS,
        "NICBED_DESCRIPTOR_BYTES": DESCRIPTOR_BYTES,
        "NICBED_INLINE_BYTES": INLINE_BYTES,
    }
    layers = _of_layers()
    for found in (narrow.items(), _processor(), ((f"NICBED_{name}", value) for name, value
                                                 in layers.constants.items())):
        yield from ((name, value, False) for name, value in found)
    for prefix, enum in {**_ENUMS, **layers.enums}.items():
        for member in enum.__members__.values():
            yield f"NICBED_{prefix}_{member.name}".upper(), member.value, False
    for name, word in {**_WORDS, **layers.words}.items():
        yield from _word(name, word)


def _all() -> dict[str, tuple[int, bool]]:
    result: dict[str, tuple[int, bool]] = {}
    for name, value, wide in _declared():
        if name in result:
            raise ValueError(f"two constants are called {name}")
        result[name] = value, wide
    return result


def constants() -> dict[str, int]:
    """Every constant of the header by name, in order."""
    return {name: value for name, (value, _) in _all().items()}


def c_header() -> str:
    """Text of nicbed.h: C99, freestanding. Masks of 64-bit words have 64 bits, all other constants
    32."""
    values = _all()
    longest = max(map(len, values))
    lines = [
        "/* Generated by nicbed.firmware.header; edit layouts/ instead. */",
        "#ifndef NICBED_H",
        "#define NICBED_H",
        "",
        "#ifndef __ASSEMBLER__",
        "#include <stdint.h>",
        "",
        "struct nicbed_descriptor {",
        "    uint64_t header;",
        f"    uint8_t inline_bytes[{INLINE_BYTES}];",
        "    uint64_t payload_address;",
        "    uint64_t control;",
        "    uint64_t reserved;",
        "};",
        "",
        "struct nicbed_slot {",
        "    uint64_t completion;",
        "    uint64_t header;",
        "    uint8_t bytes[];",
        "};",
        "",
        "#define NICBED_U32(value) UINT32_C(value)",
        "#define NICBED_U64(value) UINT64_C(value)",
        "#else",
        "#define NICBED_U32(value) value",
        "#define NICBED_U64(value) value",
        "#endif",
        "",
        *(f"#define {name:<{longest}} NICBED_U{64 if wide or value >> 32 else 32}({value:#x})"
          for name, (value, wide) in values.items()),
        "",
        "#endif",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(c_header())
