"""Makes docs/reference/registers.md from the declarations:
``python -m nicbed.layouts.docs.registers``.

Without an argument it writes the page; with ``-`` it prints it.
"""

import sys

from ..operations import NIC_BASE
from ..packet import HEADER
from ..registers import RECEIVE_WINDOW, REGISTERS, SEND_WINDOW, WINDOW_BYTES, Access, Irq
from ..rings import COMPLETION, DESCRIPTOR_BYTES, DESCRIPTOR_CONTROL, INLINE_BYTES
from .page import command, page, place, register_row, table, word_table

__all__ = ["PAGE", "markdown"]

PAGE = place("registers")

_ACCESS = {
    Access.RW: "read and write",
    Access.RO: "read only; writes do nothing",
    Access.W1C: "read; a one written clears the bit",
    Access.WO: "a write acts; reads as 0",
}

_IRQ = {
    Irq.RECEIVE: "a packet was written to the receive ring",
    Irq.SEND: "the send ring ran empty",
    Irq.ERROR: "a packet or a doorbell was refused, or a packet dropped, corrupt or misrouted",
    Irq.VIA: "`via_event` holds an event; this is a level, which ends when all events have been "
             "read, and so there is a bit in `irq_enable` only",
    Irq.PROCESSOR: "the NIC processor's firmware requests an interrupt",
}


def markdown() -> str:
    """The page."""
    return page("registers", "Register map of the NIC", [
        f"The CPU sees the NIC from address `{NIC_BASE:#x}` on; offsets below count from there. "
        "Every access is one 8-byte word at a multiple of 8, little-endian.", "",
        "## Windows", "",
        *table(("offset", "window", "what an access does"), [
            (f"`{SEND_WINDOW:#06x}`–`{SEND_WINDOW + WINDOW_BYTES - 1:#06x}`", "send",
             "a write at any address is the next 8 bytes of a packet, header word first"),
            (f"`{RECEIVE_WINDOW:#06x}`–`{RECEIVE_WINDOW + WINDOW_BYTES - 1:#06x}`", "receive",
             "a read at any address takes the next 8 bytes of the receive FIFO's head packet, "
             "header word first; 0 if there is none or the receive ring is on"),
        ]),
        "## Registers", "",
        *table(("offset", "name", "access", "bits", "reset", "meaning"),
               [register_row(register, reset=True) for register in REGISTERS]),
        "Access: " + "; ".join(f"*{access.value}* {_ACCESS[access]}" for access in Access) + ".",
        "Counters wrap around at their width.", "",
        "## Interrupt causes", "",
        "Bits of `irq_status` and `irq_enable`.", "",
        *table(("bit", "cause", "meaning"), [
            (str(cause.bit_length() - 1), str(cause.name).lower(), _IRQ[cause]) for cause in Irq
        ]),
        "## Wire header", "",
        "First word of a packet, in the windows, in descriptors and in slots.", "",
        *word_table(HEADER),
        "## Send descriptor", "",
        f"{DESCRIPTOR_BYTES} bytes in the send ring, in 8-byte words:", "",
        *table(("word", "content"), [
            ("0", "wire header; its length is inline + payload"),
            ("1–4", f"inline bytes, at most {INLINE_BYTES}"),
            ("5", "payload address in host memory, any alignment"),
            ("6", "control, below"),
            ("7", "reserved"),
        ]),
        *word_table(DESCRIPTOR_CONTROL),
        "## Receive slot", "",
        "Word 0 is the completion word, written last; word 1 the wire header; then the packet's "
        "bytes.", "",
        *word_table(COMPLETION),
    ])


def main(arguments: list[str]) -> int:
    """Write the page, or print it."""
    return command("registers", markdown(), arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
