"""The NIC description: every knob of the testbed, declared once.

A knob is *structure* (changing it rebuilds the simulator), *timing* (a runtime register of the
target: nothing is rebuilt) or *cost* (read by host programs alone): ``knob``; ``plugged`` is for
those that name an object at a door. The sections are in ``target`` (NIC, fabric, bus, memory),
``cpu`` and ``layers`` (protocols, programs), ``declared`` has all of them; ``sections`` finds those
that objects from outside bring along. ``listed`` and ``known`` have the knobs as a list, ``errors``
a line for what is wrong. ``whole`` is the description and refuses combinations that cannot work;
``draft`` puts one together out of tables and values.
"""

from .cpu import Cpu
from .draft import Draft
from .errors import KnobError
from .knob import Kind, Section, cost, structure, timing
from .known import knobs, knobs_by_name
from .layers import EAGER, Am, Am2, Apps, Gm, Mpi, Mpl, Tcp, Via
from .listed import Knob, knobs_of
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

__all__ = ["EAGER", "LONG_PACKET", "MAX_CPUS", "MAX_NICS", "MAX_PORTS", "Am", "Am2", "Apps", "Bus",
           "Cpu", "Description", "Draft", "Fabric", "Faults", "Gm", "Kind", "Knob", "KnobError",
           "Link", "Memory", "Mpi", "Mpl", "Nic", "Node", "Processor", "Section", "Switch", "Tcp",
           "Via", "cost", "knobs", "knobs_by_name", "knobs_of", "structure", "timing"]
