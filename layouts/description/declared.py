"""The sections that every description has."""

from pydantic import ConfigDict

from .cpu import Cpu
from .knob import Section
from .layers import Am, Am2, Apps, Gm, Mpi, Mpl, Tcp, Via
from .target import Bus, Fabric, Faults, Link, Memory, Nic, Node, Processor, Switch

__all__ = ["DECLARED", "Declared"]


class Declared(Section):
    """The sections of a description that are declared here."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True)

    nic: Nic = Nic()
    link: Link = Link()
    switch: Switch = Switch()
    fabric: Fabric = Fabric()
    node: Node = Node()
    bus: Bus = Bus()
    memory: Memory = Memory()
    cpu: Cpu = Cpu()
    am: Am = Am()
    am2: Am2 = Am2()
    via: Via = Via()
    gm: Gm = Gm()
    tcp: Tcp = Tcp()
    mpl: Mpl = Mpl()
    mpi: Mpi = Mpi()
    apps: Apps = Apps()
    processor: Processor = Processor()
    faults: Faults = Faults()


DECLARED: dict[str, type[Section]] = {name: type(section) for name, section in Declared()}
"""Their classes, by name."""
