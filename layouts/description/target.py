"""Knobs of the target: NICs, the fabric between them, and what they share in a node."""

from fractions import Fraction
from typing import Annotated

from pydantic import model_validator

from ..doors import CORES, NICS, TOPOLOGIES
from ..packet import MAX_HEADER_BYTES
from ..rate import Rate
from .knob import Section, cost, power_of_two, structure, timing
from .plugged import At

__all__ = ["LONG_PACKET", "MAX_CPUS", "MAX_NICS", "MAX_PORTS", "Bus", "Fabric", "Faults", "Link",
           "Memory", "Nic", "Node", "Processor", "Switch"]

LONG_PACKET = 1024
"""The longest ``nic.mtu`` of a VI engine, a NIC processor and a ring that the NIC pulls."""
MAX_CPUS = 8
"""CPUs of a node."""
MAX_NICS = 4
"""NICs of a node."""
MAX_PORTS = 64
"""Host ports of a target, those of all nodes together; and its wire addresses, one a NIC."""


class Nic(Section):
    design: Annotated[str, At(NICS)] = structure(
        "rings", doc="The NIC is the one of this name, or that at this path from the description's "
                     "folder, './my_nic/design.py'; its own knobs are a section of its name.")
    clock_mhz: Rate = cost(Fraction(66), unit="MHz", gt=0, le=1000,
                           doc="The NIC and the host bus run at this clock; it also turns cycles "
                               "into microseconds.")
    mtu: int = structure(1024, unit="bytes", ge=64, le=9000, multiple_of=4,
                         doc="A packet carries at most this payload behind its header. More than "
                             "1,024 needs a NIC with rings that is not on the memory bus; up to "
                             "1,024 it is a multiple of 8.")
    send_fifo: int = structure(4096, unit="bytes", ge=128, le=65536,
                               doc="Each lane of the send FIFO (PIO window, DMA) holds this much.")
    receive_fifo: int = structure(4096, unit="bytes", ge=128, le=65536,
                                  doc="The receive FIFO holds this much.")
    send_ring: int = structure(256, unit="entries", ge=0, le=4096,
                               doc="The send ring in host memory has this many descriptors. 0 "
                                   "leaves it out, where a VI engine or a processor sends.")
    receive_ring: int = structure(256, unit="entries", ge=4, le=4096,
                                  doc="The receive ring in host memory has this many slots.")
    overflow: str = timing("push", unit="", pattern="^(push|drop)$",
                           doc="A full receive FIFO pushes back on the link ('push') or drops the "
                               "packet ('drop').")
    irq_latency: int = timing(20, ge=0, le=65535,
                              doc="An interrupt takes this long from the NIC's line to the CPU.")
    processor: Annotated[str, At(CORES, also=("none",))] = structure(
        "none", doc="The NIC has this processor core: 'serv' is bit-serial, 'picorv32' "
                    "multi-cycle, 'vexriscv' pipelined, or one in a file, './my_core/core.py'.")
    attachment: str = structure("io_bus", pattern="^(io_bus|local_bus|memory_bus)$",
                                doc="The NIC is attached here. On 'memory_bus' the queues to it "
                                    "are cacheable and coherent, and it pulls them.")

    @model_validator(mode="after")
    def _combinations(self) -> "Nic":
        for name in ("send_fifo", "receive_fifo", "send_ring", "receive_ring"):
            power_of_two(f"nic.{name}", getattr(self, name))
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


class Processor(Section):
    memory: int = structure(65536, unit="bytes", ge=1 << 14, le=1 << 20,
                            doc="The NIC memory has this many bytes for firmware, its data and "
                                "packets.")
    clock_divider: int = timing(1, unit="", ge=1, le=8,
                                doc="The processor's clock is the target's divided by this.")
    doorbells: str = cost("queue", unit="", pattern="^(queue|words)$",
                          doc="Doorbells come to the firmware in a hardware 'queue', or as 'words' "
                              "in NIC memory that it polls.")
    doorbell_queue: int = structure(64, unit="doorbells", ge=4, le=1024,
                                    doc="This many doorbells can wait in hardware.")
    host_access: str = structure("dma", pattern="^(dma|uncached)$",
                                 doc="Firmware accesses host memory by the engines' 'dma'; with "
                                     "'uncached' also by loads and stores of the processor, a bus "
                                     "transaction each.")
    watchdog: int = timing(1 << 20, ge=0, le=(1 << 24) - 1,
                           doc="The processor counts as crashed when it has been awake for this "
                               "long without a kick; with 0 it never does.")

    @model_validator(mode="after")
    def _combinations(self) -> "Processor":
        for name in ("memory", "doorbell_queue"):
            power_of_two(f"processor.{name}", getattr(self, name))
        return self


class Link(Section):
    bytes_per_cycle: Rate = timing(Fraction(2), unit="bytes/cycle", ge=1 / 64, le=8,
                                   doc="A link carries this much, each way.")
    latency: int = timing(4, ge=0, le=65535, doc="A flit is on a link for this long.")
    buffer: int = structure(1024, unit="bytes", ge=64, le=65536,
                            doc="The receiver of a link has this much buffer, all of it credits of "
                                "the sender.")

    @model_validator(mode="after")
    def _combinations(self) -> "Link":
        power_of_two("link.buffer", self.buffer)
        return self


class Switch(Section):
    ports: int = structure(16, unit="ports", ge=2, le=16, doc="A crossbar has this many ports.")
    latency: int = timing(4, ge=1, le=65535, doc="A packet's head is in a switch for this long.")


class Fabric(Section):
    nodes: int = structure(2, unit="nodes", ge=2, le=64, doc="The fabric has this many nodes.")
    topology: Annotated[str, At(TOPOLOGIES)] = structure(
        "chain", doc="The fabric is switches in a row ('chain'), two levels ('fat_tree'), a switch "
                     "a node in rows and columns ('mesh'), or the graph in a file, './graph.toml'.")
    switches: int = structure(1, unit="switches", ge=1, le=4,
                              doc="A chain has this many crossbars, joined by one trunk each.")
    uplinks: int = structure(4, unit="trunks", ge=1, le=8,
                             doc="A fat tree has this many roots; each leaf has a trunk to each.")
    columns: int = structure(2, unit="switches", ge=1, le=16,
                             doc="A mesh has this many switches in a row.")


class Node(Section):
    cpus: int = structure(1, unit="CPUs", ge=1, le=MAX_CPUS,
                          doc="A node has this many CPUs, each a host port with a tag cache.")
    nics: int = structure(1, unit="NICs", ge=1, le=MAX_NICS,
                          doc="A node has this many NICs, each on an I/O bus of its own and with a "
                              "wire address of its own.")


class Bus(Section):
    pio_write: int = timing(4, ge=1, le=4095,
                            doc="The first beat of a CPU's write to the NIC takes this long.")
    pio_read: int = timing(12, ge=2, le=4095, doc="A CPU's read from the NIC takes this long.")
    burst_beat: int = timing(1, ge=1, le=255,
                             doc="Each further beat of a CPU's burst takes this long.")
    pio_width: int = structure(8, unit="bytes", ge=4, le=8,
                               doc="A CPU's access to the NIC is 4 or 8 bytes wide; with 4, 8 "
                                   "bytes take two transfers.")
    dma_setup: int = timing(6, ge=0, le=4095,
                            doc="Arbitration and address phase of a DMA burst take this long.")
    bytes_per_cycle: Rate = timing(Fraction(8), unit="bytes/cycle", ge=1 / 16, le=8,
                                   doc="A DMA burst moves this much.")
    max_burst: int = timing(256, unit="bytes", ge=8, le=4096, multiple_of=8,
                            doc="A DMA burst has at most this many bytes; the bus is held for all "
                                "of it.")
    posted_writes: int = structure(16, unit="beats", ge=2, le=256,
                                   doc="The CPU's posted-write buffer has this many beats.")
    posted: bool = cost(True, unit="",
                        doc="A CPU's writes to the NIC are posted; if false, the CPU waits until "
                            "the NIC has what it wrote.")
    coherent: bool = structure(True,
                               doc="DMA sees and changes the CPU's cache. If false, programs flush "
                                   "lines, and a run in which one forgot to is stopped.")

    @model_validator(mode="after")
    def _combinations(self) -> "Bus":
        power_of_two("bus.pio_width", self.pio_width)
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
    bytes: int = structure(8 << 20, unit="bytes", ge=1 << 16, le=1 << 27,
                           doc="A node has this much host memory.")
    latency: int = timing(8, ge=0, le=4095,
                          doc="A read burst takes this long from its address to its first beat.")
    intervention: int = timing(8, ge=0, le=4095,
                               doc="A line takes this much longer when another CPU's cache holds "
                                   "it dirty.")
    upgrade: int = timing(2, ge=2, le=4095,
                          doc="A store to a line that other CPUs share takes this long.")
    bytes_per_cycle: Rate = timing(Fraction(8), unit="bytes/cycle", ge=1 / 16, le=32,
                                   holds="word_rate",  # the port counts beats of 8 bytes
                                   doc="The memory port moves this much, for CPU and DMA together.")
    width: int = structure(8, unit="bytes", ge=8, le=32,
                           doc="A beat of a cache line's transfer has this many bytes. A beat of a "
                               "DMA burst always has 8.")

    @model_validator(mode="after")
    def _combinations(self) -> "Memory":
        power_of_two("memory.bytes", self.bytes)
        power_of_two("memory.width", self.width)
        if self.bytes_per_cycle > self.width:
            raise ValueError(f"memory.bytes_per_cycle = {self.bytes_per_cycle}: must be at most "
                             f"memory.width = {self.width}, a beat a cycle")
        return self

    @property
    def word_rate(self) -> Fraction:
        """Bytes a cycle of accesses of which each beat has 8 bytes, as those of DMA."""
        return self.bytes_per_cycle * 8 / self.width


class Faults(Section):
    drop: float = timing(0.0, unit="probability", ge=0, le=1,
                         doc="A packet vanishes on its uplink with this probability.")
    corrupt: float = timing(0.0, unit="probability", ge=0, le=1,
                            doc="A bit of a packet flips with this probability.")
    duplicate: float = timing(0.0, unit="probability", ge=0, le=1,
                              doc="A packet is sent twice with this probability.")
    delay: float = timing(0.0, unit="probability", ge=0, le=1,
                          doc="A packet, and all behind it, wait faults.delay_cycles with this "
                              "probability.")
    delay_cycles: int = timing(100, ge=0, le=65535, doc="A delayed packet waits for this long.")
    seed: int = timing(1, unit="", ge=0, le=(1 << 32) - 1,
                       doc="The fault generators start from this seed.")
