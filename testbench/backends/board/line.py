"""The serial line to a board: transports commands and responses, even if the line loses or damages
frames."""

import secrets
import struct
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from ....layouts.board import (
    COMMAND_FRAME,
    ESCAPE,
    FLAG,
    FLIP,
    HEADER,
    MAGIC,
    RESPONSE_FRAME,
    STATUS_WORDS,
    Kind,
)
from ...errors import UserError

try:
    from termios import error as _terminal_error
except ImportError:
    _FAILURES: tuple[type[Exception], ...] = (OSError,)
else:
    # serial.SerialException is an OSError; flushing a port that is gone raises termios.error.
    _FAILURES = (OSError, _terminal_error)

__all__ = ["Line", "LineError", "Port", "decode", "encode"]

_FLAG, _ESCAPE = bytes([FLAG]), bytes([ESCAPE])
_ESCAPED_FLAG, _ESCAPED_ESCAPE = bytes([ESCAPE, FLAG ^ FLIP]), bytes([ESCAPE, ESCAPE ^ FLIP])
_LONGEST = 2 * 4 * RESPONSE_FRAME + 2
_SLOWEST = 1.0
"""Largest interval in seconds between repetitions, which back off."""


class LineError(UserError):
    """Communication with the board failed."""


class Port(Protocol):
    """The part of pyserial's Serial that a line needs.

    ``name`` and ``baudrate`` are used if they exist. An error is an OSError.
    """

    timeout: Any

    @property
    def in_waiting(self) -> int: ...

    def read(self, size: int, /) -> bytes: ...

    def write(self, data: bytes, /) -> Any: ...

    def reset_input_buffer(self) -> None: ...


def encode(words: Sequence[int]) -> bytes:
    """The frame of ``words`` as it is sent on the line: with CRC, escapes and both FLAGs."""
    body = struct.pack(f"<{len(words)}I", *words)
    body += zlib.crc32(body).to_bytes(4, "little")
    body = body.replace(_ESCAPE, _ESCAPED_ESCAPE).replace(_FLAG, _ESCAPED_FLAG)
    return _FLAG + body + _FLAG


def decode(body: bytes) -> tuple[int, ...] | None:
    """The words of a frame without its CRC; ``body`` has the bytes between two FLAGs.

    None if this is no frame: not whole words, fewer than 2, wrong CRC or wrong magic.
    """
    body = body.replace(_ESCAPED_FLAG, _FLAG).replace(_ESCAPED_ESCAPE, _ESCAPE)
    if len(body) % 4 or len(body) < 8:
        return None
    *words, check = struct.unpack(f"<{len(body) // 4}I", body)
    if zlib.crc32(body[:-4]) != check or HEADER.get(words[0], "magic") != MAGIC:
        return None
    return tuple(words)


class Line:
    """Has a board execute commands, each once, and returns the responses.

    One command is under way at a time. Its frame is sent again if no response has come for a while,
    so lost, garbled and duplicated frames only cost time. An error, or an exception within a call,
    ends the session; :meth:`hello` begins a new one.

    Parameters
    ----------
    port
        The serial port; its ``timeout`` is set. A port whose ``write`` can block for ever should
        have a ``write_timeout``.
    patience
        Seconds without a response after which the board is taken to be absent, in addition to the
        time of the frames on the line.
    resend
        Seconds without a byte after which a frame is sent again. They double each time, up to one
        second (or to this value, if it is more).
    clock
        Function that returns the time in seconds.

    Raises
    ------
    LineError
        The port fails.
    ValueError
        ``patience`` or ``resend`` is not positive.
    """

    def __init__(self, port: Port, patience: float = 5.0, *, resend: float = 0.25,
                 clock: Callable[[], float] = time.monotonic) -> None:
        for name, seconds in ("patience", patience), ("resend", resend):
            if not seconds > 0:
                raise ValueError(f"{name} must be positive, not {seconds!r}")
        self._port = port
        self._patience = patience
        self._resend = resend
        self._clock = clock
        self._name = getattr(port, "name", None) or "the serial line"
        self._baud = getattr(port, "baudrate", None)
        self._byte_time = 10 / self._baud if self._baud else 0.0
        self._sequence: int | None = None
        self._rest = bytearray()
        try:
            port.timeout = min(resend, 0.05)
        except _FAILURES as error:
            raise self._failed(error) from None

    def hello(self) -> list[int]:
        """Begin a session; return the words of the response after its header.

        Raises
        ------
        LineError
            Nothing answers, or the answer is not a board's.
        """
        # Old responses may still arrive: the nonce has not been used before.
        nonce = secrets.randbits(32)
        sequence = secrets.randbits(8)
        self._sequence = None
        try:
            self._port.reset_input_buffer()
        except _FAILURES as error:
            raise self._failed(error) from None

        def judge(kind: int, words: Sequence[int]) -> Sequence[int] | None:
            place = STATUS_WORDS + 1
            return words if kind == Kind.DONE and words[place:place + 1] == (nonce,) else None

        found = self._exchange(Kind.HELLO, sequence, [nonce], judge)
        self._sequence = sequence
        return list(found)

    def transact(self, words: Sequence[int], *,
                 on_busy: Callable[[int], None] | None = None) -> list[int]:
        """Have the commands ``words`` executed; return the words of the response after its header.

        While time runs on the board, ``on_busy`` is called from time to time with its cycle.

        Raises
        ------
        LineError
            Nothing answers, the board refuses a command, or there is no session.
        ValueError
            More words than a frame holds.
        """
        if len(words) > COMMAND_FRAME - 2:
            raise ValueError(f"a frame has room for {COMMAND_FRAME - 2} words, not {len(words)}")
        if self._sequence is None:
            raise LineError(f"{self._name}: the session with the board is over: begin a new one")
        sequence = (self._sequence + 1) & 0xFF
        self._sequence = None

        def judge(kind: int, response: Sequence[int]) -> Sequence[int] | None:
            if kind == Kind.DONE:
                return response
            if kind == Kind.LOST:
                raise LineError(
                    f"{self._name}: the board lost the session: it was reset or programmed, or "
                    "another program talks to it; start again")
            if kind == Kind.REFUSED:
                raise LineError(f"{self._name}: the board refuses "
                                f"{_command(words, response)}: has it the bitstream of another "
                                "version of nicbed?")
            if kind == Kind.BUSY and len(response) == 2 and on_busy is not None:
                on_busy(response[0] | response[1] << 32)
            return None

        found = self._exchange(Kind.COMMAND, sequence, words, judge)
        self._sequence = sequence
        return list(found)

    def _exchange(self, kind: Kind, sequence: int, words: Sequence[int],
                  judge: Callable[[int, Sequence[int]], Sequence[int] | None]) -> Sequence[int]:
        """Send a frame, repeatedly, until ``judge`` accepts a response and returns a result."""
        header = HEADER.pack(sequence=sequence, kind=kind, magic=MAGIC)
        frame = encode([header, *words])
        going = len(frame) * self._byte_time
        patience = self._patience + going + _LONGEST * self._byte_time
        end = self._clock() + patience
        pause = self._resend
        seen = frames = 0
        while True:
            try:
                self._port.write(frame)
            except _FAILURES as error:
                raise self._failed(error) from None
            again = self._clock() + going + pause
            while (now := self._clock()) < again:
                if now >= end:
                    raise LineError(self._silence(seen, frames))
                got = self._read()
                if not got:
                    continue
                seen += len(got)
                again = max(again, self._clock() + pause)
                for response in self._frames(got):
                    frames += 1
                    if HEADER.get(response[0], "sequence") != sequence:
                        continue
                    found = judge(HEADER.get(response[0], "kind"), response[1:])
                    if found is not None:
                        return found
                    if HEADER.get(response[0], "kind") == Kind.BUSY:
                        end = self._clock() + patience
            pause = min(2 * pause, max(self._resend, _SLOWEST))

    def _read(self) -> bytes:
        """The bytes that are there; if there are none, the next ones, or none after the port's
        timeout."""
        try:
            return self._port.read(max(1, self._port.in_waiting))
        except _FAILURES as error:
            raise self._failed(error) from None

    def _frames(self, got: bytes) -> Iterator[tuple[int, ...]]:
        """The good frames that end in ``got``."""
        first, *others = got.split(_FLAG)
        self._rest += first
        if len(self._rest) > _LONGEST:
            self._rest.clear()
        for other in others:
            body, self._rest = bytes(self._rest), bytearray(other)
            words = decode(body)
            if words is not None:
                yield words

    def _silence(self, seen: int, frames: int) -> str:
        """The error text if there was no response."""
        if not seen:
            return (f"{self._name}: no board answers within {self._patience:g} s: is it powered, "
                    "programmed, and on this port?")
        if not frames:
            rate = f" of {self._baud}" if self._baud else ""
            return (f"{self._name}: {seen} bytes came, but no frame among them: is the baud rate"
                    f"{rate} the board's, and is it a nicbed board?")
        return (f"{self._name}: a board answers, but not to what it was sent: does another program "
                "talk to it?")

    def _failed(self, error: Exception) -> LineError:
        return LineError(f"{self._name}: the serial port failed: {error}; is its cable in place?")


def _command(words: Sequence[int], refused: Sequence[int]) -> str:
    """The command of frame ``words`` to which a REFUSED response refers."""
    if len(refused) != 1:
        return "a command"
    place = refused[0]
    text = f"the command at word {place} of the frame"
    return text + f" ({words[place - 1]:#010x})" if 1 <= place <= len(words) else text
