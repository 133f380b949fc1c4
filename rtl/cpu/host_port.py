"""The host port: executes what a host program spends time on."""

from collections.abc import Sequence

from amaranth.hdl import Module
from amaranth.lib.wiring import connect

from .address_bus import AddressBus
from .executor import Executor
from .port_members import PortMembers

__all__ = ["HostPort", "join_ports"]


class HostPort(PortMembers):
    """Executes blocks of operations, one after the other, each in exact cycles.

    A block is given by flipping ``host.go``; an operation begins in the cycle in which the last one
    was answered, or in the first cycle with the block given. So a program takes the same cycles in
    blocks of any size. Options in this text are those of its :class:`PortShape`. Cycles of an
    operation, where nobody else uses the bus and memory, after W whole cycles of ``work`` (the
    port's fraction added; the rest is the new fraction):

    ========================  ==============================================================
    DELAY                     max(W, 1); an interrupt seen ends an interruptible one early, and the
                              rest of the block is discarded
    PIO_READ                  W + 1 + ``bus.pio_read``, after the posted writes before it
    PIO_WRITE, posted         W + n for n beats; each waits for room in the buffer
    PIO_WRITE                 W + 1 + ``bus.pio_write`` + (n - 1) ``bus.burst_beat``, after the
                              posted writes before it
    TOUCH                     W + each line's access (:class:`TagCache`): 1, or latency + 6, or + 11
                              (on a coherent bus, a store to a clean line: 2); with ``peers`` as
                              :class:`CoherentCache` says; with ``l2_lines`` a load as
                              :class:`InnerCache` says
    TOUCH, a flush            W + each line's flush (:class:`TagCache`): 1, or n + 2 if it is dirty
    TOUCH, block stores       W + 1 for each line, when the :class:`BlockBuffer` is empty: n + 2
                              cycles after it took the last one
    POLL of 1 watch           P + sum over the checks made of (W + 1 if the line is there and the
                              word read there by the same watch is kept, else latency + 6; of a NIC
                              address 1 + ``bus.pio_read``), P the whole cycles of its own work
    POLL of n watches         max(P, 1) + sum over the checks as above; each WATCH before it is 1
    WAIT_IRQ                  to the edge :class:`IrqDelay` gives, at least W + 1
    CAS                       W + latency + 5 if it writes, else W + latency + 3; with
                              ``owned_swaps`` W + ``cpu.cas`` + the line's access (a store's) - 1
    STOP                      W + 1
    ========================  ==============================================================

    On a bus whose PIO transfers are of 4 bytes (:class:`Bus`) read 2 ``bus.pio_read`` for
    ``bus.pio_read``, 2 ``bus.burst_beat`` for ``bus.burst_beat``, and ``bus.pio_write`` +
    ``bus.burst_beat`` for ``bus.pio_write``.

    With ``flushes`` no word is kept: a check of a poll flushes its line and reads it. From the
    operation on in which a forgotten flush shows (:class:`Fault`), all answers have STALE.

    A poll's timeout counts from the end of its own work, a wait's from its beginning. It ends a
    wait at that cycle, if not yet in its work, and a poll with the check that is under way then
    (its work included), and discards the rest of the block. A poll with ONCE ends after one round.

    A block store has taken effect when its TOUCH has ended, as any other store: the data are in
    memory, and no cache has the line. What is posted is the write, which occupies the memory port
    later. Until it has passed, accesses to that line wait, of this CPU and of others; a
    compare-and-swap past the cache waits for any.

    With ``l2_lines`` a check of a kept word is a load, and takes what :class:`InnerCache` says: 1,
    or ``l2_hit`` if its line is in the second level alone.

    latency + 6 is that of a line of 32 bytes, 4 beats; of n beats latency + 2 + n, and n + 1 more
    for a dirty victim.

    A word that a poll read is kept, one a watch number, until a snoop, a TOUCH that stores or a CAS
    of its line, on this CPU or, in its last cycle, on another. What a program of another CPU stored
    is in memory when its TOUCH has ended. Posted writes drain while the port runs on; to several
    NICs, through the one buffer in program order. Reset: waiting for a block, with the tags invalid
    and the buffer empty; the level of ``host.go`` in reset is the one to be flipped.

    Parameters
    ----------
    shape : :class:`PortShape`
        Its structure.
    source : :class:`int`
        This CPU's number among the memory controller's initiators, 0 to 15.

    Members
    -------
    host : ``In(HostSide)``
        The program: blocks of operations and their answers, and where the port is in them.
    pio : ``Out(PioInitiator)``, memory : ``Out(Burst)``, lock : ``Out(1)``, snoop : ``In(Snoop)``
        The bus, with several NICs an array; the memory controller, and what it tells the caches.
    taken : ``Out(LineTaken)``
        Only with ``coherent``: in the last cycle of a store that took the line, or of a CAS that
        writes; in the cache a CAS takes its line before, as a store does, and that is told, too. Of
        a TOUCH of several lines, each with its own: what a TOUCH stored is there when all of it has
        ended.
    bus : ``Out(CoherencePort)``, stored : ``Out(Stored)``, news : ``In(Stored)``, one a peer
        Only with ``peers``: the other caches; in the last cycle of a TOUCH that stores, or of a CAS
        that writes, what it stored; and the others' ``stored``. ``snoop`` is of the NIC's accesses
        alone then.
    block_memory : ``Out(Burst)``
        Only with ``block_stores``: their port of the memory controller, as a writer.
    posted : ``Out(PostedLine)``
        Only with ``block_stores``: the line that is on its way there.
    irq : ``In(1)``
        The interrupt line: of the NICs that interrupt this CPU.
    now : ``In(32)``, timing : ``In(Timing)``
        The cycle counter's low half, and the timing registers.

    Raises
    ------
    TypeError
        ``shape`` is not a :class:`PortShape`.
    TypeError, ValueError
        As :class:`PostedBuffer`, :class:`TagCache`, :class:`CoherentCache` and :class:`InnerCache`
        do, for the sizes in ``shape``.
    """

    def elaborate(self, platform: object) -> Module:
        return Executor(self, self.posted_buffer, self.cache, self.inner).module


def join_ports(m: Module, ports: Sequence[HostPort]) -> None:
    """Join the host ports of a node with several CPUs by an :class:`AddressBus`, and tell each
    what the others store."""
    shape = ports[0].shape
    m.submodules.address_bus = bus = AddressBus(caches=len(ports), line_bytes=shape.line_bytes,
                                                block_stores=shape.block_stores)
    if shape.block_stores:
        for port, posted in zip(ports, bus.posted, strict=True):
            m.d.comb += posted.eq(port.posted)
    for port, cache in zip(ports, bus.cache, strict=True):
        connect(m, port.bus, cache)
        others = [other for other in ports if other is not port]
        for news, other in zip(port.news, others, strict=True):
            m.d.comb += news.eq(other.stored)
