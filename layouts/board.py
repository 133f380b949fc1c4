"""What goes over the serial line between a board and the back end: frames, commands, responses.

A **frame** is a sequence of 32-bit words, each sent low byte first, the last one the CRC-32
(Ethernet's, zlib.crc32) of the bytes before it. On the line it stands between two bytes FLAG; a
FLAG or ESCAPE inside is sent as ESCAPE and the byte XOR FLIP. Whatever is not such a frame is
noise: the receiver begins anew at the next FLAG.

The back end sends a command frame and waits for the one response frame to it. The first word of
both is the header. A command with the sequence number of the last one executed is not executed
again: its response is repeated, or BUSY is answered while time still runs. Any other number but the
next one is answered by LOST and ends the session: so is every one then, until HELLO. HELLO begins a
session with any number, wherever the board is: it ends a run, and its response shows what the board
is.

After the header a command frame has **commands** in the order in which they are to be executed,
each a word with its operation and arguments, then its own words. Time runs only within RUN, which
comes last.

A DONE response has the header, STATUS and three more words, then **sections**, each begun by a word
with its kind, an index, and the number of its items.
"""

from enum import IntEnum

from .bits import Field, Word

__all__ = ["BAUD", "COMMAND", "COMMAND_FRAME", "ESCAPE", "FLAG", "FLIP", "HEADER", "IDENTITY_WORDS",
           "Kind", "LOG_ADDRESS_BITS", "MAGIC", "MAP_WORD", "MEMORY_RECORD", "Operation",
           "PAGE_BYTES", "RESPONSE_FRAME", "Register", "SECTION", "STATUS", "STATUS_WORDS",
           "SWITCHES", "Section", "TRACE_RECORD", "TRACE_WORD"]

BAUD = 3_000_000
"""Bits a second on the serial line: what the USB bridges of boards do at the most."""
FLAG, ESCAPE, FLIP = 0x7E, 0x7D, 0x20
MAGIC = 0x6E62
COMMAND_FRAME = 1024
"""Words of a command frame at the most, header and CRC among them."""
RESPONSE_FRAME = 1024
"""Words of a response frame at the most, header and CRC among them."""
PAGE_BYTES = 1024
"""Bytes of a page of host memory, as it is resident on a board."""
IDENTITY_WORDS = 8
"""Words of the hash that tells one configuration's bitstream from another's."""
LOG_ADDRESS_BITS = 24
"""Bits of the address of a memory record: node number times words of a memory, plus word."""


class Kind(IntEnum):
    """What a frame is."""

    COMMAND = 0
    """To the board: execute."""
    HELLO = 1
    """To the board: begin a session. One more word, any; DONE repeats it in section IDENTITY."""
    DONE = 2
    """From the board: executed."""
    BUSY = 3
    """From the board: time runs. Two more words: the cycle counter."""
    LOST = 4
    """From the board: not executed. One more word: the sequence number that was expected."""
    REFUSED = 5
    """From the board: a command that it does not know, or a frame that ends within one. Commands
    before it were executed. One more word: the place of that command in the frame."""


HEADER = Word(
    "header",
    Field("sequence", 8, "of the command"),
    Field("kind", 8, "a Kind"),
    Field("magic", 16, "MAGIC"),
    width=32,
)


class Operation(IntEnum):
    """What a command does, with its ``index``, its ``count`` and the words that follow."""

    SET = 1
    """Register ``index``: 1 word."""
    TIMING = 2
    """Timing register ``index`` of the target: 1 word. To be used in reset."""
    WRITE = 3
    """``count`` 8-byte words of node ``index``'s resident memory: the place of the first (in
    8-byte words), then 2 words each."""
    ZERO = 4
    """The same with zeros: only the place follows."""
    READ = 5
    """``count`` 8-byte words of node ``index``'s resident memory from the place that follows:
    section READ."""
    MAP = 6
    """One word, MAP_WORD: where a page of node ``index``'s memory is resident, if it is."""
    FORGET = 7
    """``count`` pages of node ``index``'s memory, from the one whose number follows: none of them
    is resident."""
    GIVE = 8
    """``count`` entries, 1 to BLOCK, to host port ``index``: each a word whose bit n says that word
    n of the entry follows, and these; what does not follow is zero."""
    RUN = 9
    """1 word: let time run for so many cycles, 0 for without end, or until something is to be
    done. The last command of its frame."""


COMMAND = Word(
    "command",
    Field("operation", 8, "an Operation"),
    Field("index", 8, "node, port or register"),
    Field("count", 16, "of what follows"),
    width=32,
)


class Register(IntEnum):
    """Registers that SET writes. All are zero after power-up but ``reset``."""

    SWITCHES = 0
    LIMIT_LOW = 1
    LIMIT_HIGH = 2


SWITCHES = Word(
    "switches",
    Field("reset", 1, "the target is in reset; its go and blocks are forgotten"),
    Field("trace", 1, "events are recorded"),
    Field("skip", 1, "quiescent time is skipped"),
    width=32,
)

MAP_WORD = Word(
    "map_word",
    Field("page", 16, "of PAGE_BYTES, of the node's memory"),
    Field("frame", 15, "of PAGE_BYTES, of the resident memory"),
    Field("valid", 1, "the page is resident there"),
    width=32,
)

STATUS = Word(
    "status",
    Field("attention", 1, "host ports wait for their programs"),
    Field("expired", 1, "time has ended"),
    Field("miss", 1, "a page is wanted that is not resident"),
    Field("more", 1, "records are left: another command, an empty one will do, brings them"),
    Field("needs", 8, "one bit a host port that waits"),
    Field("node", 8, "whose page is wanted"),
    width=32,
)
"""Followed by the cycle counter, low half first, and the number of the page that is wanted. Without
any of the first four bits time stands still as commanded: there was no RUN, or its cycles are over.
"""
STATUS_WORDS = 4


class Section(IntEnum):
    """Sections of a response, in this order; each is there if it has items."""

    IDENTITY = 0
    """After HELLO: the word of HELLO, IDENTITY_WORDS of the configuration's hash, then the number
    of host ports and the frames of a node's resident memory. One item a word."""
    ANSWERS = 1
    """Answers of host port ``index``, if it waits: ANSWER_WORDS words an item, one item an entry of
    its last block."""
    CRASH = 2
    """If time has ended: the first crash of a NIC processor, one item a word."""
    READ = 3
    """What READ read: 2 words an item. The only section that may come more than once."""
    MEMORY = 4
    """What the target wrote to host memory: MEMORY_RECORD words an item, in order."""
    TRACE = 5
    """Events: TRACE_RECORD words an item."""


SECTION = Word(
    "section",
    Field("kind", 8, "a Section"),
    Field("index", 8, "host port or node"),
    Field("count", 16, "items"),
    width=32,
)

MEMORY_RECORD = 3
"""Words of a memory record: bytes written (7:0, one bit a byte) and the address (31:8, as
LOG_ADDRESS_BITS says), then the 8-byte word."""

TRACE_RECORD = 4
"""Words of a trace record: the cycle's low 32 bits; TRACE_WORD; kind (7:0) and number (31:8);
arg."""
TRACE_WORD = Word(
    "trace_word",
    Field("node", 8, "node or switch"),
    Field("block", 8, "a Block"),
    Field("cycle", 16, "bits 47:32 of the cycle"),
    width=32,
)
