"""The protocol of the serial line between a board and the back end: frames, commands, responses.

A **frame** is a sequence of 32-bit words, each sent low byte first, the last one the CRC-32
(Ethernet's, zlib.crc32) of the bytes before it. On the line it stands between two bytes FLAG; a
FLAG or ESCAPE inside is sent as ESCAPE and the byte XOR FLIP. Anything else is noise: the receiver
starts again at the next FLAG.

The back end sends a command frame and waits for the one response frame to it. The first word of
both is the header. A command with the sequence number of the last executed command is not executed
again: the board repeats the response, or answers BUSY while time still runs. If the number is
neither that one nor the next one, the board answers LOST and the session ends: the board then
answers LOST to every command until HELLO. HELLO begins a session with any number and in any state
of the board: it ends a run, and its response identifies the board.

After the header a command frame has **commands** in the order of their execution. Each is a word
with its operation and arguments, then the command's own words. Time runs only during RUN, which is
the last command of its frame.

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
"""Bits a second on the serial line: the most that the USB bridges of boards support."""
FLAG, ESCAPE, FLIP = 0x7E, 0x7D, 0x20
MAGIC = 0x6E62
COMMAND_FRAME = 1024
"""Most words of a command frame, header and CRC included."""
RESPONSE_FRAME = 1024
"""Most words of a response frame, header and CRC included."""
PAGE_BYTES = 1024
"""Bytes of a page of host memory on a board."""
IDENTITY_WORDS = 8
"""Words of the hash that identifies a bitstream's configuration."""
LOG_ADDRESS_BITS = 24
"""Bits of the address in a memory record: node number times the words of a memory, plus the
word."""


class Kind(IntEnum):
    """Kinds of frames."""

    COMMAND = 0
    """To the board: execute."""
    HELLO = 1
    """To the board: begin a session. One more word with any value; DONE repeats it in section
    IDENTITY."""
    DONE = 2
    """From the board: executed."""
    BUSY = 3
    """From the board: time runs. Two more words: the cycle counter."""
    LOST = 4
    """From the board: not executed. One more word: the sequence number that was expected."""
    REFUSED = 5
    """From the board: a command is unknown, or the frame ends inside a command. Commands before it
    were executed. One more word: the position of that command in the frame."""


HEADER = Word(
    "header",
    Field("sequence", 8, "of the command"),
    Field("kind", 8, "a Kind"),
    Field("magic", 16, "MAGIC"),
    width=32,
)


class Operation(IntEnum):
    """Operations of commands. A command has an ``index``, a ``count`` and the words that follow."""

    SET = 1
    """Set register ``index``: 1 word."""
    TIMING = 2
    """Set timing register ``index`` of the target: 1 word. To be used in reset."""
    WRITE = 3
    """Write ``count`` 8-byte words of node ``index``'s resident memory: the position of the first
    (in 8-byte words), then 2 words each."""
    ZERO = 4
    """The same with zeros: only the position follows."""
    READ = 5
    """Read ``count`` 8-byte words of node ``index``'s resident memory, from the position that
    follows. The words come in section READ."""
    MAP = 6
    """One word, MAP_WORD: where a page of node ``index``'s memory is resident, or that it is
    not."""
    FORGET = 7
    """Remove ``count`` pages of node ``index``'s memory from the resident ones, from the page whose
    number follows."""
    GIVE = 8
    """Give ``count`` entries, 1 to BLOCK, to host port ``index``. Each begins with a word in which
    bit n says that word n of the entry follows; the other words of the entry are zero."""
    RUN = 9
    """1 word: let time run for that number of cycles (0: no limit), or until the back end is
    needed. The last command of its frame."""


COMMAND = Word(
    "command",
    Field("operation", 8, "an Operation"),
    Field("index", 8, "node, port or register"),
    Field("count", 16, "of what follows"),
    width=32,
)


class Register(IntEnum):
    """Registers that SET writes. All are zero after power-up, except for ``reset``."""

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
"""Followed by the cycle counter, low half first, and the number of the page that is needed. If none
of the first four bits is set, time stands still because there was no RUN or its cycles are over."""
STATUS_WORDS = 4


class Section(IntEnum):
    """Sections of a response, in this order. Empty sections are left out."""

    IDENTITY = 0
    """After HELLO: the word of HELLO, IDENTITY_WORDS words of the configuration's hash, the number
    of host ports, and the page frames of a node's resident memory. One item a word."""
    ANSWERS = 1
    """Answers of host port ``index``, if it waits: one item of ANSWER_WORDS words for each entry of
    its last block."""
    CRASH = 2
    """The first crash of a NIC processor, if time has ended. One item a word."""
    READ = 3
    """The words that a READ has read: 2 words an item. The only section that may come more than
    once."""
    MEMORY = 4
    """Writes of the target to host memory, in order: MEMORY_RECORD words an item."""
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
