"""The NIC description: every knob of the testbed, declared once.

A knob is *structure* (changing it rebuilds the simulator), *timing* (a runtime register of the
target: nothing is rebuilt) or *cost* (read by host programs alone): ``knob``. The sections are in
``target`` (NIC, fabric, bus, memory), ``cpu`` and ``layers`` (protocols, programs); ``whole`` puts
them together and refuses combinations that cannot work; ``listed`` has them as a list.
"""

from .cpu import Cpu
from .knob import Kind, Section
from .layers import EAGER, Am, Apps, Gm, Mpi, Mpl, Tcp, Via
from .listed import Knob, knobs
from .target import (
    LONG_PACKET,
    MAX_CPUS,
    MAX_NICS,
    MAX_PORTS,
    Bus,
    Fabric,
    Faults,
    Link,
    Memory,
    Nic,
    Node,
    Processor,
    Switch,
)
from .whole import Description

__all__ = ["EAGER", "LONG_PACKET", "MAX_CPUS", "MAX_NICS", "MAX_PORTS", "Am", "Apps", "Bus", "Cpu",
           "Description", "Fabric", "Faults", "Gm", "Kind", "Knob", "Link", "Memory", "Mpi", "Mpl",
           "Nic", "Node", "Processor", "Section", "Switch", "Tcp", "Via", "knobs"]
