"""The NIC description: every knob of the testbed, declared once.

A knob is *structure* (changing it rebuilds the simulator), *timing* (a runtime register of the
target: nothing is rebuilt) or *cost* (read by host programs alone).
"""

from enum import StrEnum
from fractions import Fraction
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from .fabric import topology
from .packet import HEADER_BYTES, MAX_HEADER_BYTES
from .rate import Rate

__all__ = ["Kind", "Knob", "Section", "Description", "Nic", "Link", "Switch", "Fabric", "Node",
           "Bus", "Memory", "Cpu", "Am", "Via", "Gm", "Tcp", "Apps", "Processor", "Faults",
           "EAGER", "LONG_PACKET", "MAX_CPUS", "MAX_NICS", "MAX_PORTS", "knobs"]


LONG_PACKET = 1024
"""The longest ``nic.mtu`` of a VI engine, a NIC processor and a ring that the NIC pulls."""
TCP_HEADERS = 40
"""Bytes of the headers of IP and TCP, without options."""
EAGER = {"via": 1024, "gm": 8000, "tcp": 8000, "shm": 8000, "self": 1024}
"""Longest messages that MPI sends with their data at once, by channel, where ``mpi.eager`` does not
say: below the length where a request and a reply take less than copies do."""
MAX_CPUS = 8
"""CPUs of a node."""
MAX_NICS = 4
"""NICs of a node."""
MAX_PORTS = 64
"""Host ports of a target, those of all nodes together; and its wire addresses, one a NIC."""


class Kind(StrEnum):
    """Kind of a knob: what a change of it costs."""

    STRUCTURE = "structure"
    TIMING = "timing"
    COST = "cost"


def knob(default: Any, *, kind: Kind, unit: str, doc: str, **bounds: Any) -> Any:
    return Field(default, description=doc, json_schema_extra={"kind": kind.value, "unit": unit},
                 **bounds)


def structure(default: Any, *, unit: str = "", doc: str, **bounds: Any) -> Any:
    return knob(default, kind=Kind.STRUCTURE, unit=unit, doc=doc, **bounds)


def timing(default: Any, *, unit: str = "cycles", doc: str, **bounds: Any) -> Any:
    return knob(default, kind=Kind.TIMING, unit=unit, doc=doc, **bounds)


def cost(default: Any, *, unit: str = "CPU cycles", doc: str, **bounds: Any) -> Any:
    return knob(default, kind=Kind.COST, unit=unit, doc=doc, **bounds)


class Section(BaseModel):
    """A table of a NIC description."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def _power_of_two(name: str, value: int) -> None:
    if value & (value - 1):
        raise ValueError(f"{name} = {value}: must be a power of two")


class Nic(Section):
    clock_mhz: Rate = cost(Fraction(66), unit="MHz", gt=0, le=1000,
                           doc="target clock: NIC and host bus; turns cycles into microseconds")
    mtu: int = structure(1024, unit="bytes", ge=64, le=9000, multiple_of=4,
                         doc="payload a packet carries behind its header; more than 1,024 only of "
                             "NICs with rings, off the memory bus; up to 1,024 a multiple of 8")
    send_fifo: int = structure(4096, unit="bytes", ge=128, le=65536,
                               doc="each lane (PIO window, DMA) of the send FIFO")
    receive_fifo: int = structure(4096, unit="bytes", ge=128, le=65536, doc="receive FIFO")
    send_ring: int = structure(256, unit="entries", ge=0, le=4096,
                               doc="descriptors in the host-memory send ring; 0: no ring, where a "
                                   "VI engine or a processor sends")
    receive_ring: int = structure(256, unit="entries", ge=4, le=4096,
                                  doc="slots in the host-memory receive ring")
    overflow: str = timing("push", unit="", pattern="^(push|drop)$",
                           doc="receive FIFO full: 'push' back on the link, or 'drop' the packet")
    irq_latency: int = timing(20, ge=0, le=65535,
                              doc="from the NIC's interrupt line to the CPU seeing it")
    processor: str = structure("none", pattern="^(none|serv|picorv32|vexriscv)$",
                               doc="core of the NIC processor: bit-serial, multi-cycle, pipelined")
    attachment: str = structure("io_bus", pattern="^(io_bus|local_bus|memory_bus)$",
                                doc="where the NIC is; on 'memory_bus' queues to it are cacheable "
                                    "and coherent, and it pulls them")

    @model_validator(mode="after")
    def _combinations(self) -> "Nic":
        for name in ("send_fifo", "receive_fifo", "send_ring", "receive_ring"):
            _power_of_two(f"nic.{name}", getattr(self, name))
        if 0 < self.send_ring < 4:
            raise ValueError(f"nic.send_ring = {self.send_ring}: must be 0 or at least 4")
        if self.mtu <= LONG_PACKET and self.mtu % 8:
            raise ValueError(f"nic.mtu = {self.mtu}: must be a multiple of 8, where it is not more "
                             f"than {LONG_PACKET}")
        packet = self.mtu + MAX_HEADER_BYTES
        for name in ("send_fifo", "receive_fifo"):
            if getattr(self, name) < packet:
                raise ValueError(f"nic.{name} = {getattr(self, name)}: must hold one packet of "
                                 f"{packet} bytes (nic.mtu = {self.mtu} and its header)")
        return self


class Link(Section):
    bytes_per_cycle: Rate = timing(Fraction(2), unit="bytes/cycle", ge=1 / 64, le=8,
                                   doc="rate of a link, each way")
    latency: int = timing(4, ge=0, le=65535, doc="time of flight of a link")
    buffer: int = structure(1024, unit="bytes", ge=64, le=65536,
                            doc="receiver's buffer of a link, all of it credits of the sender")

    @model_validator(mode="after")
    def _combinations(self) -> "Link":
        _power_of_two("link.buffer", self.buffer)
        return self


class Switch(Section):
    ports: int = structure(16, unit="ports", ge=2, le=16, doc="ports of a crossbar")
    latency: int = timing(4, ge=1, le=65535, doc="from a packet's head arriving to it leaving")


class Fabric(Section):
    nodes: int = structure(2, unit="nodes", ge=2, le=64, doc="nodes on the fabric")
    topology: str = structure("chain", pattern="^(chain|fat_tree|mesh)$",
                              doc="'chain': switches in a row; 'fat_tree': two levels; 'mesh': a "
                                  "switch a node, in rows and columns")
    switches: int = structure(1, unit="switches", ge=1, le=4,
                              doc="of a chain: crossbars, joined by one trunk each")
    uplinks: int = structure(4, unit="trunks", ge=1, le=8,
                             doc="of a fat tree: its roots; each leaf has a trunk to each")
    columns: int = structure(2, unit="switches", ge=1, le=16, doc="of a mesh: switches in a row")


class Node(Section):
    cpus: int = structure(1, unit="CPUs", ge=1, le=MAX_CPUS,
                          doc="CPUs of a node, each a host port with a tag cache")
    nics: int = structure(1, unit="NICs", ge=1, le=MAX_NICS,
                          doc="NICs of a node, each on an I/O bus of its own and with a wire "
                              "address of its own")


class Bus(Section):
    pio_write: int = timing(4, ge=1, le=4095, doc="first beat of a CPU write to the NIC")
    pio_read: int = timing(12, ge=2, le=4095, doc="a CPU read from the NIC")
    burst_beat: int = timing(1, ge=1, le=255, doc="each further beat of a CPU burst")
    pio_width: int = structure(8, unit="bytes", ge=4, le=8,
                               doc="width of CPU accesses to the NIC, 4 or 8; with 4, 8 bytes take "
                                   "two transfers")
    dma_setup: int = timing(6, ge=0, le=4095, doc="arbitration and address phase of a DMA burst")
    bytes_per_cycle: Rate = timing(Fraction(8), unit="bytes/cycle", ge=1 / 16, le=8,
                                   doc="DMA burst rate")
    max_burst: int = timing(256, unit="bytes", ge=8, le=4096, multiple_of=8,
                            doc="longest DMA burst; the bus is held for all of it")
    posted_writes: int = structure(16, unit="beats", ge=2, le=256,
                                   doc="depth of the CPU's posted-write buffer")
    posted: bool = cost(True, unit="",
                        doc="whether CPU writes to the NIC are posted; if not, the CPU waits until "
                            "the NIC has what it wrote")
    coherent: bool = structure(True, doc="whether DMA sees and changes the CPU's cache; if not, "
                                         "programs flush lines, and a run in which one forgot to "
                                         "is stopped")

    @model_validator(mode="after")
    def _combinations(self) -> "Bus":
        _power_of_two("bus.pio_width", self.pio_width)
        return self

    @property
    def pio_read_cycles(self) -> int:
        """Cycles for which a CPU read of 8 bytes holds the bus."""
        return self.pio_read * (8 // self.pio_width)

    @property
    def pio_write_cycles(self) -> int:
        """Cycles for which a CPU write of 8 bytes holds the bus."""
        return self.pio_write + self.burst_beat * (8 // self.pio_width - 1)

    @property
    def pio_beat_cycles(self) -> int:
        """Cycles that each further 8 bytes of the write take."""
        return self.burst_beat * (8 // self.pio_width)


class Memory(Section):
    bytes: int = structure(8 << 20, unit="bytes", ge=1 << 16, le=1 << 26,
                           doc="host memory of a node")
    latency: int = timing(8, ge=0, le=4095, doc="from a read burst's address to its first beat")
    intervention: int = timing(8, ge=0, le=4095,
                               doc="of several CPUs: that a line which is dirty in another's cache "
                                   "takes longer")
    upgrade: int = timing(2, ge=2, le=4095,
                          doc="of several CPUs: a store to a line that others have, too")
    bytes_per_cycle: Rate = timing(Fraction(8), unit="bytes/cycle", ge=1 / 16, le=32,
                                   doc="bandwidth of the memory port, CPU and DMA together")
    width: int = structure(8, unit="bytes", ge=8, le=32,
                           doc="of a beat of the memory port: of a cache's line so many, of a DMA "
                               "burst 8")

    @model_validator(mode="after")
    def _combinations(self) -> "Memory":
        _power_of_two("memory.bytes", self.bytes)
        _power_of_two("memory.width", self.width)
        if self.bytes_per_cycle > self.width:
            raise ValueError(f"memory.bytes_per_cycle = {self.bytes_per_cycle}: must be at most "
                             f"memory.width = {self.width}, a beat a cycle")
        return self

    @property
    def word_rate(self) -> Fraction:
        """Bytes a cycle of accesses of which each beat has 8 bytes, as those of DMA."""
        return self.bytes_per_cycle * 8 / self.width


class Cpu(Section):
    clock_mhz: Rate = cost(Fraction(200), unit="MHz", gt=0, le=10000, doc="host CPU clock")
    cache_lines: int = structure(512, unit="lines", ge=4, le=32768,
                                 doc="lines of the host port's tag cache, direct mapped, of 1 MB "
                                     "at most")
    line_bytes: int = structure(32, unit="bytes", ge=32, le=256,
                                doc="bytes of a cache line; 32 with nic.attachment = 'memory_bus'")
    cas: int = timing(6, ge=6, le=4095,
                      doc="compare-and-swap of a word whose line is owned: of several CPUs, or "
                          "with cpu.cas_place = 'cache'")
    cas_place: str = structure("memory", pattern="^(memory|cache)$",
                               doc="of one CPU: compare-and-swap past the cache, in the 'memory', "
                                   "or in the 'cache', which takes the line as a store does")
    copy_by: str = structure("cache", pattern="^(cache|block)$",
                             doc="'block': the CPU has block stores, which put whole lines to "
                                 "memory past the cache, posted, and a copy of lines uses them; "
                                 "'cache': it copies by loads and stores alone")
    path_scale: Rate = cost(Fraction(1), unit="", ge=0, le=1000,
                            doc="factor on what each path of a layer takes: its code against that "
                                "of which the items below are counted")
    call: int = cost(6, ge=0, le=100000, doc="a function call and return, with its argument checks")
    load: int = cost(1, ge=0, le=100000, doc="a load that hits the cache")
    store: int = cost(1, ge=0, le=100000, doc="a store that hits the cache")
    branch: int = cost(2, ge=0, le=100000, doc="a test and branch")
    alu: int = cost(1, ge=0, le=100000, doc="an arithmetic instruction")
    copy_word: int = cost(2, ge=0, le=100000, doc="copying 8 bytes, both in the cache")
    copy_line: int = cost(2, ge=0, le=100000,
                          doc="copying a line with cpu.copy_by = 'block', beside its load and its "
                              "block store")
    flush: int = cost(20, ge=0, le=100000, doc="a memory barrier or write-buffer flush")
    flush_line: int = cost(6, ge=0, le=100000,
                           doc="with bus.coherent = false: flushing a line of the cache, beside "
                               "the cache's time; also of each check of a poll")
    poll_check: int = cost(3, ge=0, le=100000, doc="one test of a polled word: load, mask, branch")
    interrupt: int = cost(1000, ge=0, le=1000000, doc="taking an interrupt, to the user's handler")
    trap: int = cost(400, ge=0, le=1000000, doc="entering and leaving the kernel")

    @model_validator(mode="after")
    def _combinations(self) -> "Cpu":
        for name in ("cache_lines", "line_bytes"):
            _power_of_two(f"cpu.{name}", getattr(self, name))
        if self.cache_lines * self.line_bytes > 1 << 20:
            raise ValueError(f"cpu.cache_lines * cpu.line_bytes = "
                             f"{self.cache_lines * self.line_bytes}: must be at most 1 MB")
        return self


class Am(Section):
    request_window: int = cost(75, unit="packets", ge=1, le=120,
                               doc="requests in flight to one peer")
    reply_window: int = cost(76, unit="packets", ge=2, le=121, doc="replies in flight to one peer")
    chunk_packets: int = cost(8, unit="packets", ge=1, le=64, doc="packets of a bulk chunk")
    chunks: int = cost(2, unit="chunks", ge=1, le=8, doc="unacknowledged bulk chunks a peer")
    retry_timeout: int = cost(20000, unit="cycles", ge=100, le=1 << 30,
                              doc="without progress for this long, ask what has arrived; longer "
                                  "if round trips are longer")
    retries: int = cost(12, unit="times", ge=1, le=1000,
                        doc="time-outs in a row before a peer is declared gone")
    bulk: str = cost("pointer", unit="", pattern="^(pointer|copy|pinned)$",
                     doc="how bulk data go to the NIC: by 'pointer' to where they are; by 'copy' "
                         "into the entries of firmware 'tb2'; copied to a 'pinned' region, which "
                         "the pointer is to")
    credit: str = cost("reply", unit="", pattern="^(reply|ack)$",
                       doc="what returns a request's credit: its 'reply', a null one where the "
                           "handler sends none; or its 'ack', by any packet or an explicit one at "
                           "a quarter of the request window")
    keep_alive_polls: int = cost(1000, unit="polls", ge=1, le=1 << 30,
                                 doc="unsuccessful polls before a keep-alive probe")
    message_processor: str = cost("none", unit="", pattern="^(none|cpu)$",
                                  doc="'cpu': CPU 1 of a node moves messages between queues in "
                                      "memory and the NIC; 'none': the CPU of the program does")
    message_work: int = cost(0, ge=0, le=100000,
                             doc="of a message processor: work for each message, each way, beside "
                                 "the paths that are counted")
    firmware: str = cost("am", unit="", pattern="^(am|lanai|elan|tb2)$",
                         doc="of a NIC processor: 'am', doorbells and a receive ring in host "
                             "memory; 'lanai' polls, receive queue in NIC memory, read by PIO; "
                             "'elan' loads messages from host memory, hardware receives; 'tb2' "
                             "gets them by DMA, their lengths are in NIC memory")
    work_send: int = cost(0, unit="NIC processor cycles", ge=0, le=100000,
                          doc="firmwares 'lanai' and 'elan': added to their work for a packet that "
                              "they send; 'tb2': a delay of each, beside its other work")
    work_receive: int = cost(0, unit="NIC processor cycles", ge=0, le=100000,
                             doc="added to the work of firmware 'lanai' for a packet that it "
                                 "receives, of 'elan' for a packet that it acknowledges")

    @model_validator(mode="after")
    def _combinations(self) -> "Am":
        if self.reply_window <= self.request_window:
            raise ValueError(f"am.reply_window = {self.reply_window}: must be larger than "
                             f"am.request_window = {self.request_window}, or full windows deadlock")
        if self.chunk_packets * self.chunks > 120:
            raise ValueError(f"am.chunk_packets * am.chunks = {self.chunk_packets * self.chunks}: "
                             "must be at most 120, or bulk sequence numbers are ambiguous")
        return self


class Via(Section):
    design: str = structure("auto", pattern="^(auto|engine|kernel|firmware)$",
                            doc="'engine': doorbells and VI engine in the NIC; 'kernel': neither, "
                                "the kernel drives the rings; 'firmware' of the NIC processor; "
                                "'auto': where layer via runs, firmware if there is a processor, "
                                "else engine")
    vis: int = structure(1024, unit="VIs", ge=8, le=4096, doc="VIs of a NIC")
    cqs: int = structure(64, unit="queues", ge=2, le=256, doc="completion queues of a NIC")
    queue_depth: int = structure(1024, unit="descriptors", ge=4, le=16384,
                                 doc="posted descriptors a work queue takes before VI_OVERRUN")
    doorbell_queue: int = structure(16, unit="tokens", ge=4, le=256,
                                    doc="doorbell tokens that wait in hardware")
    events: int = structure(64, unit="events", ge=4, le=1024, doc="events that wait for the kernel")
    translation: str = structure("cache", pattern="^(cache|table|physical)$",
                                 doc="'cache' over tables in host memory; whole 'table' in NIC "
                                     "memory; host-supplied 'physical' addresses")
    translations: int = structure(4096, unit="entries", ge=64, le=16384,
                                  doc="entries of the translation table, one a registered page")
    page_bytes: int = structure(4096, unit="bytes", ge=1024, le=65536, doc="page of host memory")
    cache_sets: int = structure(64, unit="sets", ge=1, le=1024, doc="of the translation cache")
    cache_ways: int = structure(4, unit="ways", ge=1, le=8, doc="of the translation cache")
    cache_replacement: str = structure("lru", pattern="^(lru|fifo|random)$",
                                       doc="which way of a full set gives way")
    send_slots: int = structure(16, unit="packets", ge=4, le=64,
                                doc="packets held for sending and for sending again, of all VIs")
    window: int = structure(8, unit="packets", ge=1, le=32,
                            doc="unacknowledged packets, and unfinished descriptors, of a VI")
    retry_timeout: int = timing(20000, ge=100, le=1 << 24,
                                doc="unacknowledged for this long, ask the peer what has arrived")
    retries: int = timing(7, unit="times", ge=1, le=255,
                          doc="time-outs in a row before the connection is broken")
    spin: int = cost(0, unit="cycles", ge=0, le=1 << 30,
                     doc="blocking calls spin for this long before they wait for the interrupt")
    register_page: int = cost(250, ge=0, le=1000000,
                              doc="pinning a page and writing its translation, beside the trap")

    @model_validator(mode="after")
    def _combinations(self) -> "Via":
        for name in ("vis", "cqs", "queue_depth", "doorbell_queue", "events", "translations",
                     "page_bytes", "cache_sets", "cache_ways", "send_slots", "window"):
            _power_of_two(f"via.{name}", getattr(self, name))
        if self.window > self.send_slots // 2:
            raise ValueError(f"via.window = {self.window}: must be at most half of via.send_slots "
                             f"= {self.send_slots}, or one dead peer holds them all")
        if self.cache_sets * self.cache_ways > self.translations:
            raise ValueError(f"via.cache_sets * via.cache_ways = "
                             f"{self.cache_sets * self.cache_ways}: must be at most "
                             f"via.translations = {self.translations}")
        return self


class Gm(Section):
    send_tokens: int = cost(16, unit="tokens", ge=1, le=16, doc="sends of a port under way")
    receive_tokens: int = cost(32, unit="tokens", ge=1, le=32,
                               doc="buffers that a port has provided")
    window: int = cost(8, unit="packets", ge=1, le=64,
                       doc="unacknowledged packets of a port to one node, a priority")
    retry_timeout: int = cost(50000, unit="cycles", ge=100, le=1 << 30,
                              doc="without progress for this long, ask what has arrived")
    retries: int = cost(12, unit="times", ge=1, le=30,
                        doc="time-outs in a row before a send fails")


class Tcp(Section):
    socket_buffer: int = cost(32768, unit="bytes", ge=256, le=65535,
                              doc="a socket's buffer, each way: the window")
    mss: int = cost(0, unit="bytes", ge=0, le=8960,
                    doc="most data of a segment; 0: what nic.mtu leaves beside the headers of 40")
    delayed_ack: int = cost(660000, unit="cycles", ge=0, le=1 << 30,
                            doc="an acknowledgement waits so long for data to go with, or for a "
                                "second segment; 0: none waits")
    rto_min: int = cost(13200000, unit="cycles", ge=100, le=1 << 30,
                        doc="least time until a segment that was not acknowledged is sent again")
    retries: int = cost(12, unit="times", ge=1, le=1000,
                        doc="time-outs in a row before a connection is given up")
    time_wait: int = cost(0, unit="cycles", ge=0, le=1 << 30,
                          doc="a connection that both ends have closed is kept for this long, and "
                              "its program does not end before: for a FIN that comes again")
    path_scale: Rate = cost(Fraction(1), unit="", ge=0, le=1000,
                            doc="factor on what the kernel's own paths take, in place of "
                                "cpu.path_scale")
    checksum_word: int = cost(2, ge=0, le=100000,
                              doc="8 bytes added to a checksum, beside their load")
    context_switch: int = cost(1200, ge=0, le=1000000, doc="another process on the CPU")
    select: int = cost(150, ge=0, le=1000000, doc="one descriptor looked at by select")


class Mpl(Section):
    path_scale: Rate = cost(Fraction(1), unit="", ge=0, le=1000,
                            doc="factor on what MPL's own paths take, in place of cpu.path_scale")
    eager_bytes: int = cost(1024, unit="bytes", ge=16, le=1 << 16,
                            doc="longest message that is sent before its receive is known")


class Mpi(Section):
    channel: str = cost("via", unit="", pattern="^(via|gm|tcp)$",
                        doc="what carries messages between nodes; between the CPUs of one it is "
                            "shared memory")
    path_scale: Rate = cost(Fraction(1), unit="", ge=0, le=1000,
                            doc="factor on what the layer's own paths take, in place of "
                                "cpu.path_scale")
    eager: int = cost(0, unit="bytes", ge=0, le=1 << 20,
                      doc="longest message that is sent with its data at once, where it fits into "
                          "a buffer of the channel; 0: the channel's own: 1,024 of 'via', 8,000 of "
                          "'gm', 'tcp' and shared memory")
    rendezvous: str = cost("write", unit="", pattern="^(write|read|bounce)$",
                           doc="how longer ones go: the sender writes the data, the receiver reads "
                               "them, or in parts through the channel's buffers")
    buffer_bytes: int = cost(8192, unit="bytes", ge=512, le=1 << 18, multiple_of=64,
                             doc="a buffer of channels 'via' and 'gm', and the longest packet of "
                                 "'tcp', with its header")
    prepost: int = cost(12, unit="buffers", ge=6, le=128,
                        doc="receives that wait on a VI when it is connected")
    prepost_used: int = cost(32, unit="buffers", ge=6, le=128,
                             doc="and from its first message on")
    registration_cache: int = cost(1024, unit="pages", ge=0, le=16384,
                                   doc="registered pages of users' buffers that are kept after "
                                       "use; 0: none")
    derived: str = cost("pack", unit="", pattern="^(pack|segments)$",
                        doc="long messages of derived types: copied into one piece, or a segment "
                            "of the descriptor for each block")
    program_cycles: Rate = cost(Fraction(0), unit="CPU cycles", ge=0, le=1000000000,
                                doc="what a program with blocking calls computes before each of "
                                    "them")

    @model_validator(mode="after")
    def _combinations(self) -> "Mpi":
        if self.prepost_used < self.prepost:
            raise ValueError(f"mpi.prepost_used = {self.prepost_used}: must be at least "
                             f"mpi.prepost = {self.prepost}")
        return self

    def eager_of(self, channel: str) -> int:
        """``eager``, or what the channel called so has where that is 0."""
        return self.eager or EAGER[channel]


class Apps(Section):
    flop: Rate = cost(Fraction(21, 10), unit="CPU cycles", ge=0, le=100000,
                      doc="mm: a floating-point operation; fitted to the SP-2's mm 128")
    sort_key: Rate = cost(Fraction(220), unit="CPU cycles", ge=0, le=1000000,
                          doc="sample-sort: both local sorts of a key; fitted to the SP-2's "
                              "smpsort lg")
    radix_key: Rate = cost(Fraction(140), unit="CPU cycles", ge=0, le=1000000,
                           doc="radix-sort: a key in one pass; fitted to the SP-2's rdxsort lg")
    is_key: Rate = cost(Fraction(112), unit="CPU cycles", ge=0, le=1000000,
                        doc="NAS IS: a key in one iteration")
    ep_pair: Rate = cost(Fraction(906), unit="CPU cycles", ge=0, le=1000000,
                         doc="NAS EP: a pair of numbers")
    cg_nonzero: Rate = cost(Fraction(33), unit="CPU cycles", ge=0, le=1000000,
                            doc="NAS CG: a nonzero in one product with the matrix")
    mg_point: Rate = cost(Fraction(60), unit="CPU cycles", ge=0, le=1000000,
                          doc="NAS MG: a point that an operation on a grid writes")
    ft_point: Rate = cost(Fraction(200), unit="CPU cycles", ge=0, le=1000000,
                          doc="NAS FT: a point in a transform along one axis")
    lu_point: Rate = cost(Fraction(15200), unit="CPU cycles", ge=0, le=10000000,
                          doc="NAS LU: a point in one iteration")
    sp_point: Rate = cost(Fraction(9200), unit="CPU cycles", ge=0, le=10000000,
                          doc="NAS SP: a point in one iteration")
    bt_point: Rate = cost(Fraction(24000), unit="CPU cycles", ge=0, le=10000000,
                          doc="NAS BT: a point in one iteration")
    poll_interval: int = cost(20000, ge=0, le=1 << 30,
                              doc="a program that computes polls after this many; 0: never")


class Processor(Section):
    memory: int = structure(65536, unit="bytes", ge=1 << 14, le=1 << 20,
                            doc="NIC memory: firmware, its data, packets")
    clock_divider: int = timing(1, unit="", ge=1, le=8,
                                doc="the processor's clock is the target's divided by this")
    doorbells: str = cost("queue", unit="", pattern="^(queue|words)$",
                          doc="doorbells come to the firmware in a hardware 'queue', or as 'words' "
                              "in NIC memory that it polls")
    doorbell_queue: int = structure(64, unit="doorbells", ge=4, le=1024,
                                    doc="doorbells that wait in hardware")
    host_access: str = structure("dma", pattern="^(dma|uncached)$",
                                 doc="how firmware accesses host memory: by the engines' 'dma'; "
                                     "'uncached': also by loads and stores of the processor, a bus "
                                     "transaction each")
    watchdog: int = timing(1 << 20, ge=0, le=(1 << 24) - 1,
                           doc="awake for this long without a kick, the processor counts as "
                               "crashed; 0: never")

    @model_validator(mode="after")
    def _combinations(self) -> "Processor":
        for name in ("memory", "doorbell_queue"):
            _power_of_two(f"processor.{name}", getattr(self, name))
        return self


class Faults(Section):
    drop: float = timing(0.0, unit="probability", ge=0, le=1, doc="a packet vanishes on its uplink")
    corrupt: float = timing(0.0, unit="probability", ge=0, le=1, doc="a bit of a packet flips")
    duplicate: float = timing(0.0, unit="probability", ge=0, le=1, doc="a packet is sent twice")
    delay: float = timing(0.0, unit="probability", ge=0, le=1,
                          doc="a packet, and all behind it, waits faults.delay_cycles")
    delay_cycles: int = timing(100, ge=0, le=65535, doc="how long a delayed packet waits")
    seed: int = timing(1, unit="", ge=0, le=(1 << 32) - 1, doc="seed of the fault generators")


class Description(Section):
    """A whole NIC description: the nodes, what they run on and what joins them."""

    nic: Nic = Nic()
    link: Link = Link()
    switch: Switch = Switch()
    fabric: Fabric = Fabric()
    node: Node = Node()
    bus: Bus = Bus()
    memory: Memory = Memory()
    cpu: Cpu = Cpu()
    am: Am = Am()
    via: Via = Via()
    gm: Gm = Gm()
    tcp: Tcp = Tcp()
    mpl: Mpl = Mpl()
    mpi: Mpi = Mpi()
    apps: Apps = Apps()
    processor: Processor = Processor()
    faults: Faults = Faults()

    @model_validator(mode="after")
    def _combinations(self) -> "Description":
        if self.nic.attachment == "memory_bus" and self.bus.max_burst < 32:
            raise ValueError(f"bus.max_burst = {self.bus.max_burst}: must be at least a cache line "
                             "of 32 bytes where nic.attachment = 'memory_bus'")
        if self.nic.attachment == "memory_bus":
            for name, value, needed in (("cpu.line_bytes", self.cpu.line_bytes, 32),
                                        ("memory.width", self.memory.width, 8),
                                        ("cpu.cas_place", self.cpu.cas_place, "memory"),
                                        ("cpu.copy_by", self.cpu.copy_by, "cache")):
                if value != needed:
                    raise ValueError(f"{name} = {value}: must be {needed} where nic.attachment = "
                                     "'memory_bus'")
        if self.am.message_processor == "cpu":
            if self.node.cpus < 2:
                raise ValueError(f"am.message_processor = 'cpu': needs at least two CPUs a node "
                                 f"(node.cpus = {self.node.cpus})")
            if self.nic.processor != "none":
                raise ValueError(f"am.message_processor = 'cpu': drives a NIC without a processor "
                                 f"(nic.processor = {self.nic.processor})")
        if self.via.design == "firmware" and self.nic.processor == "none":
            raise ValueError("via.design = 'firmware': needs a NIC processor (nic.processor)")
        if self.via.design == "engine" and self.nic.processor != "none":
            raise ValueError(f"nic.processor = {self.nic.processor}: with via.design = 'engine' "
                             "there is no processor: a NIC has the one or the other")
        self._not_coherent()
        self._several_nics()
        self._long_packets()
        self._segments()
        if self.am.firmware != "am" and self.nic.processor == "none":
            raise ValueError(f"am.firmware = {self.am.firmware!r}: needs a NIC processor "
                             "(nic.processor)")
        if self.am.firmware == "elan" and self.processor.host_access != "uncached":
            raise ValueError("am.firmware = 'elan': needs processor.host_access = 'uncached', by "
                             "which it loads messages")
        if (self.am.bulk == "copy") != (self.am.firmware == "tb2"):
            raise ValueError(f"am.bulk = {self.am.bulk!r}: firmware 'tb2' (am.firmware) has "
                             "entries, to which data are copied: it needs 'copy', and nothing else "
                             "can")
        ports = self.fabric.nodes * self.node.cpus
        if ports > MAX_PORTS:
            raise ValueError(f"fabric.nodes * node.cpus = {ports}: must be at most {MAX_PORTS}, "
                             "the host ports of a target")
        topology(self)
        return self

    def _not_coherent(self) -> None:
        if self.bus.coherent:
            return
        for name, value, needed in (
                ("nic.attachment", self.nic.attachment, ("io_bus", "local_bus")),
                ("node.cpus", self.node.cpus, (1,)), ("node.nics", self.node.nics, (1,)),
                ("cpu.copy_by", self.cpu.copy_by, ("cache",))):
            if value not in needed:
                raise ValueError(f"{name} = {value}: must be {' or '.join(map(str, needed))} where "
                                 "bus.coherent = false")

    def _several_nics(self) -> None:
        nics = self.node.nics
        if nics == 1:
            return
        if self.am.message_processor != "none":
            raise ValueError(f"node.nics = {nics}: must be 1 where am.message_processor = "
                             f"{self.am.message_processor!r}, which drives one NIC")
        addresses = self.fabric.nodes * nics
        if addresses > MAX_PORTS:
            raise ValueError(f"fabric.nodes * node.nics = {addresses}: must be at most "
                             f"{MAX_PORTS}, the wire addresses of a fabric")

    def _long_packets(self) -> None:
        if self.nic.mtu <= LONG_PACKET:
            return
        for name, value, needed in (
                ("nic.processor", self.nic.processor, ("none",)),
                ("nic.attachment", self.nic.attachment, ("io_bus", "local_bus")),
                ("via.design", self.via.design, ("auto", "kernel"))):
            if value not in needed:
                raise ValueError(f"nic.mtu = {self.nic.mtu}: must be at most {LONG_PACKET} where "
                                 f"{name} = {value!r}; NICs with rings, off the memory bus, take "
                                 "longer packets")

    def _segments(self) -> None:
        if self.tcp.mss > self.nic.mtu - TCP_HEADERS:
            raise ValueError(f"tcp.mss = {self.tcp.mss}: must be at most nic.mtu = {self.nic.mtu} "
                             f"less the headers of {TCP_HEADERS}")
        if self.tcp.socket_buffer < 2 * self.segment_bytes:
            raise ValueError(f"tcp.socket_buffer = {self.tcp.socket_buffer}: must hold two "
                             f"segments of {self.segment_bytes} bytes (tcp.mss, nic.mtu)")

    @property
    def segment_bytes(self) -> int:
        """Most data of a segment of TCP."""
        return self.tcp.mss or self.nic.mtu - TCP_HEADERS

    @property
    def slot_bytes(self) -> int:
        """Stride of the receive ring: completion word, header, payload; whole cache lines."""
        return -(-(8 + HEADER_BYTES + 16 + self.nic.mtu) // 64) * 64


class Knob(BaseModel):
    """One knob, as ``nicbed list`` shows it."""

    name: str
    kind: Kind
    unit: str
    default: Any
    bounds: str
    doc: str


def knobs() -> list[Knob]:
    """All knobs, in the order of their declaration."""
    found = []
    for section, field in Description.model_fields.items():
        for name, info in field.annotation.model_fields.items():  # type: ignore[union-attr]
            extra = info.json_schema_extra
            assert isinstance(extra, dict)
            limits = {type(rule).__name__: rule for rule in info.metadata}
            low = getattr(limits.get("Ge"), "ge", None)
            if isinstance(info.default, Fraction) and low is not None:
                low = Fraction(low)
            if "Gt" in limits:
                low = f"> {limits['Gt'].gt}"
            high = getattr(limits.get("Le"), "le", None)
            pattern = next((rule.pattern for rule in info.metadata if hasattr(rule, "pattern")), "")
            bounds = f"{low} to {high}" if high is not None else str(pattern).strip("^$()")
            if isinstance(info.default, bool):
                bounds = "false|true"
            found.append(Knob(name=f"{section}.{name}", kind=Kind(extra["kind"]),
                              unit=str(extra["unit"]), default=info.default, bounds=bounds,
                              doc=str(info.description)))
    return found
