"""Knobs of the target: NICs, the fabric between them, and what they share in a node."""

from fractions import Fraction
from typing import Annotated

from pydantic import model_validator

from ..doors import NICS
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
        "rings", doc="the NIC, by its name, or one's own by its path from the description's "
                     "folder, './my_nic/design.py'; its own knobs are a section of its name")
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
            power_of_two(f"processor.{name}", getattr(self, name))
        return self


class Link(Section):
    bytes_per_cycle: Rate = timing(Fraction(2), unit="bytes/cycle", ge=1 / 64, le=8,
                                   doc="rate of a link, each way")
    latency: int = timing(4, ge=0, le=65535, doc="time of flight of a link")
    buffer: int = structure(1024, unit="bytes", ge=64, le=65536,
                            doc="receiver's buffer of a link, all of it credits of the sender")

    @model_validator(mode="after")
    def _combinations(self) -> "Link":
        power_of_two("link.buffer", self.buffer)
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
                           doc="host memory of a node")
    latency: int = timing(8, ge=0, le=4095, doc="from a read burst's address to its first beat")
    intervention: int = timing(8, ge=0, le=4095,
                               doc="of several CPUs: that a line which is dirty in another's cache "
                                   "takes longer")
    upgrade: int = timing(2, ge=2, le=4095,
                          doc="of several CPUs: a store to a line that others have, too")
    bytes_per_cycle: Rate = timing(Fraction(8), unit="bytes/cycle", ge=1 / 16, le=32,
                                   holds="word_rate",  # the port counts beats of 8 bytes
                                   doc="bandwidth of the memory port, CPU and DMA together")
    width: int = structure(8, unit="bytes", ge=8, le=32,
                           doc="of a beat of the memory port: of a cache's line so many, of a DMA "
                               "burst 8")

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
    drop: float = timing(0.0, unit="probability", ge=0, le=1, doc="a packet vanishes on its uplink")
    corrupt: float = timing(0.0, unit="probability", ge=0, le=1, doc="a bit of a packet flips")
    duplicate: float = timing(0.0, unit="probability", ge=0, le=1, doc="a packet is sent twice")
    delay: float = timing(0.0, unit="probability", ge=0, le=1,
                          doc="a packet, and all behind it, waits faults.delay_cycles")
    delay_cycles: int = timing(100, ge=0, le=65535, doc="how long a delayed packet waits")
    seed: int = timing(1, unit="", ge=0, le=(1 << 32) - 1, doc="seed of the fault generators")
