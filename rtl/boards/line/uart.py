"""The bytes of a serial line: 8 data bits, no parity, 1 stop bit."""

from amaranth.hdl import Cat, Const, Module, Signal
from amaranth.lib import cdc, stream, wiring
from amaranth.lib.wiring import In, Out

from ...parts.sizes import check_count

__all__ = ["UartReceiver", "UartTransmitter", "checked_divisor"]


def checked_divisor(divisor: int) -> int:
    """Check ``divisor`` and return it."""
    check_count("divisor", divisor, least=2)
    return divisor


class UartReceiver(wiring.Component):
    """Receives bytes from a line.

    A byte begins with a fall of the line, sampled through two flip-flops. If the line is high again
    half a bit later, the fall is ignored. Bits are sampled ``divisor`` cycles apart, the first
    after ``divisor // 2``. The next byte may begin half a bit early.

    Latency: ``o.valid`` is high for one cycle in the middle of the stop bit, at most three cycles
    after its sample. Throughput: bytes without pause. Back-pressure: none. Reset: the line is taken
    to be idle.

    Parameters
    ----------
    divisor : ``int``
        Clock cycles of a bit, 2 or more.

    Members
    -------
    rx : ``In(1)``
        The line, asynchronous, high when idle.
    o : ``Out(stream.Signature(8, always_ready=True))``
        Bytes.
    broken : ``Out(1)``
        High for one cycle instead of ``o.valid``: the stop bit was low. No byte is received before
        the line is high again.

    Raises
    ------
    TypeError
        ``divisor`` is not an integer.
    ValueError
        ``divisor`` is less than 2.
    """

    rx: In(1, init=1)
    o: Out(stream.Signature(8, always_ready=True))
    broken: Out(1)

    def __init__(self, *, divisor: int) -> None:
        self._divisor = checked_divisor(divisor)
        super().__init__()

    @property
    def divisor(self) -> int:
        return self._divisor

    def elaborate(self, platform: object) -> Module:
        m = Module()
        line = Signal(init=1)
        m.submodules.synchronizer = cdc.FFSynchronizer(self.rx, line, init=1)

        timer = Signal(range(self._divisor))
        byte = Signal(8)
        left = Signal(4)
        m.d.comb += self.o.payload.eq(byte)
        m.d.sync += [self.o.valid.eq(0), self.broken.eq(0)]
        with m.If(timer != 0):
            m.d.sync += timer.eq(timer - 1)
        with m.FSM():
            with m.State("IDLE"):
                m.d.sync += left.eq(8)
                with m.If(~line):
                    m.d.sync += timer.eq(self._divisor // 2 - 1)
                    m.next = "START"
            with m.State("START"):
                with m.If(timer == 0):
                    m.d.sync += timer.eq(self._divisor - 1)
                    m.next = "BITS"
                    with m.If(line):
                        m.next = "IDLE"
            with m.State("BITS"):
                with m.If(timer == 0):
                    m.d.sync += [timer.eq(self._divisor - 1), left.eq(left - 1)]
                    with m.If(left != 0):
                        m.d.sync += byte.eq(Cat(byte[1:], line))
                    with m.Else():
                        m.d.sync += [self.o.valid.eq(line), self.broken.eq(~line)]
                        m.next = "IDLE"
                        with m.If(~line):
                            m.next = "BREAK"
            with m.State("BREAK"):
                with m.If(line):
                    m.next = "IDLE"
        return m


class UartTransmitter(wiring.Component):
    """Sends bytes on a line.

    Latency: the start bit begins in the cycle after the byte was taken. Throughput: a byte every
    ``10 * divisor`` cycles, without pause. Back-pressure: ``i`` is ready in the last cycle of a
    stop bit and while the line is idle. Reset: the line is idle.

    Parameters
    ----------
    divisor : ``int``
        Clock cycles of a bit, 2 or more.

    Members
    -------
    i : ``In(stream.Signature(8))``
        Bytes.
    tx : ``Out(1)``
        The line, a register, high when idle.
    idle : ``Out(1)``
        No byte is on the line.

    Raises
    ------
    TypeError
        ``divisor`` is not an integer.
    ValueError
        ``divisor`` is less than 2.
    """

    i: In(stream.Signature(8))
    tx: Out(1)
    idle: Out(1)

    def __init__(self, *, divisor: int) -> None:
        self._divisor = checked_divisor(divisor)
        super().__init__()

    @property
    def divisor(self) -> int:
        return self._divisor

    def elaborate(self, platform: object) -> Module:
        m = Module()
        timer = Signal(range(self._divisor))
        bits = Signal(10, init=0x3FF)
        left = Signal(range(11))
        m.d.comb += [self.tx.eq(bits[0]), self.idle.eq(left == 0)]
        with m.If(timer != 0):
            m.d.sync += timer.eq(timer - 1)
        with m.Elif(left[1:].any()):
            m.d.sync += [
                timer.eq(self._divisor - 1),
                bits.eq(Cat(bits[1:], Const(1, 1))),
                left.eq(left - 1),
            ]
        with m.Else():
            m.d.comb += self.i.ready.eq(1)
            m.d.sync += left.eq(0)
            with m.If(self.i.valid):
                m.d.sync += [
                    timer.eq(self._divisor - 1),
                    bits.eq(Cat(Const(0, 1), self.i.payload, Const(1, 1))),
                    left.eq(10),
                ]
        return m
