"""Frames over a serial line, both ways: the board's end."""

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect

from .deframer import Deframer, WordLayout
from .framer import Framer
from .uart import UartReceiver, UartTransmitter, checked_divisor

__all__ = ["SerialLink", "WordLayout"]


class SerialLink(wiring.Component):
    """Receives commands from a line and sends responses on it, in frames as layouts.board declares.

    A command is received whole before its first word is offered. Commands that arrive before its
    last word was consumed are dropped, and so is everything that is no valid frame. A response is
    taken whole before it is sent, and is kept for ``again``. The two directions do not wait for
    each other.

    Latency: a command's first word is offered at most 6 cycles after the middle of the stop bit of
    the FLAG that ends it; a response begins 2 cycles after its last word was taken. Throughput: a
    word of a command every other cycle, a word of a response a cycle; both ways of the line without
    pause. Back-pressure: a response is taken when none is being sent. Reset: nothing is kept or
    sent; the line is idle.

    Parameters
    ----------
    divisor : ``int``
        Clock cycles of a bit, 2 or more.

    Members
    -------
    rx : ``In(1)``
        The line from the back end, asynchronous, high when idle.
    tx : ``Out(1)``
        The line to the back end, high when idle.
    command : ``Out(stream.Signature(WordLayout))``
        Words of good frames, the header first, without their CRC.
    response : ``In(stream.Signature(WordLayout))``
        The same in the other direction; at most RESPONSE_FRAME - 1 words.
    again : ``In(1)``
        Send the last response again. Does nothing while a response is being taken or sent.
    idle : ``Out(1)``
        No response is being taken or sent, the line is at rest, and no command is being consumed.
    bad : ``Out(16)``
        Frames dropped, modulo 2 ** 16.

    Raises
    ------
    TypeError
        ``divisor`` is not an integer.
    ValueError
        ``divisor`` is less than 2.
    """

    rx: In(1, init=1)
    tx: Out(1)
    command: Out(stream.Signature(WordLayout))
    response: In(stream.Signature(WordLayout))
    again: In(1)
    idle: Out(1)
    bad: Out(16)

    def __init__(self, *, divisor: int) -> None:
        self._divisor = checked_divisor(divisor)
        super().__init__()

    @property
    def divisor(self) -> int:
        return self._divisor

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.receiver = receiver = UartReceiver(divisor=self._divisor)
        m.submodules.transmitter = transmitter = UartTransmitter(divisor=self._divisor)
        m.submodules.deframer = deframer = Deframer()
        m.submodules.framer = framer = Framer()

        connect(m, receiver.o, deframer.i)
        connect(m, framer.o, transmitter.i)
        connect(m, wiring.flipped(self.command), deframer.o)
        connect(m, wiring.flipped(self.response), framer.i)
        m.d.comb += [
            receiver.rx.eq(self.rx),
            deframer.broken.eq(receiver.broken),
            framer.again.eq(self.again),
            self.tx.eq(transmitter.tx),
            self.bad.eq(deframer.bad),
            self.idle.eq(framer.idle & transmitter.idle & ~deframer.held),
        ]
        return m
