"""A NIC design: what a user writes to plug a NIC in."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ..registers import Register
from .finding import DoorError
from .lazy import resolved
from .trace_block import TraceBlock, block_numbers
from .trace_stage import TraceStage, stages_of

if TYPE_CHECKING:
    from amaranth.hdl import Signal
    from amaranth.lib import wiring

    from ...host.nic.kinds import Driver
    from ...host.port.node import Node
    from ...rtl.node.nic_side import NicSide
    from ..description import Description, Section

__all__ = ["NicDesign"]

Kind = TypeVar("Kind")


class NicDesign:
    """A NIC, by its name in ``nic.design``. A design of your own is a subclass, of which a door
    makes an object without arguments.

    Attributes
    ----------
    name
        Small letters, digits, underscores; also that of its section of knobs.
    title
        One line for ``nicbed list``.
    knobs
        The section of its own knobs, ``[name]``; None for none. Its timing knobs are registers of
        the target behind those of :data:`~nicbed.layouts.timing.TIMING_REGISTERS`; they come to
        the NIC as ``side.own``.
    registers
        Its registers in the PIO window; addresses are offsets from NIC_BASE.
    trace
        Its blocks that emit events, in the order in which messages pass them.
    sleeps
        Whether it has an ``idle`` that says that nothing happens until something comes in. Without
        one its node never sleeps: no cycle changes, but the simulator evaluates the whole node in
        every cycle, and goes through each of the cycles in which nothing happens anywhere.
    """

    name: str
    title: str
    knobs: "type[Section] | None" = None
    registers: tuple[Register, ...] = ()
    trace: tuple[TraceBlock, ...] = ()
    sleeps: bool = True

    def registers_of(self, description: "Description") -> Sequence[Register]:
        """Those of :attr:`registers` that the NIC has under ``description``."""
        return self.registers

    def side(self, description: "Description", cpus: int) -> "NicSide":
        """The parameters of its socket, in a node of ``cpus`` CPUs: made by :meth:`socket`, with
        what differs from its defaults."""
        return self.socket(description, cpus)

    def socket(self, description: "Description", cpus: int, **parameters: Any) -> "NicSide":
        """A :class:`NicSide` of ``parameters``, with the design's own timing registers, and by
        default one port for the events of each block of :attr:`trace`."""
        made = {"events": len(self.trace),
                "own": resolved("nicbed.rtl.parts.timing:own_timing")(description), **parameters}
        return resolved("nicbed.rtl.node.nic_side:NicSide")(cpus=cpus, **made)

    def build(self, description: "Description", side: "NicSide", *,
              step: "Signal | None" = None) -> "wiring.Component":
        """The NIC: a component whose signature is ``side``. With ``step`` two nodes share its
        logic, and it steps in the cycles in which ``step`` is high."""
        raise NotImplementedError(f"NIC design {self.name} has no build()")

    def event_blocks(self, nic: "wiring.Component") -> Sequence[int]:
        """The number of the block of each port of ``events`` of ``nic``, which :meth:`build` made:
        by default one port for each of :attr:`trace`. Two ports of one block may carry its BEGIN
        and its END, so that both can happen in one cycle."""
        return block_numbers(self.trace)

    def stages(self, *, requests: bool) -> tuple[TraceStage, ...]:
        """The stages of a message's flight that its blocks are, in order; those of the link and the
        fabric lie between the two sides. By default of each block the wait until its BEGIN, and
        its service. ``requests``: of requests and replies, else of messages one way."""
        return stages_of(self.trace)

    def kinds(self, description: "Description") -> tuple[type, ...]:
        """The kinds of :class:`Driver` that :meth:`driver` offers under ``description``, best
        first."""
        return ()

    def offered(self, description: "Description") -> tuple[type, ...]:
        """The kinds that :meth:`kinds` gives, checked.

        Raises
        ------
        DoorError
            It is no tuple of classes.
        """
        found: object = self.kinds(description)
        if not isinstance(found, (tuple, list)) or not all(isinstance(one, type) for one in found):
            raise DoorError(f"kinds() of NIC design {self.name!r} must give a tuple of kinds of "
                            f"drivers, not {found!r}")
        return tuple(found)

    def driver(self, node: "Node", kind: type) -> "Driver":
        """The driver of the NIC of ``node`` that is of ``kind``, one of :meth:`kinds`. It is made
        once for each NIC (:meth:`.Node.nic_driver`)."""
        raise NotImplementedError(f"NIC design {self.name} has no driver()")

    def offered_driver(self, node: "Node", kind: type[Kind]) -> Kind:
        """The driver that :meth:`driver` makes, checked.

        Raises
        ------
        RuntimeError
            The design offers none of ``kind`` under the run's description.
        DoorError
            It makes something else.
        """
        kinds = self.offered(node.description)
        if kind not in kinds:
            raise RuntimeError(
                f"{node.place}: NIC design {self.name} has no driver of kind {kind.__name__}; it "
                f"has {', '.join(one.__name__ for one in kinds) or 'none'}")
        made: object = self.driver(node, kind)
        if not isinstance(made, kind):
            raise DoorError(f"driver() of NIC design {self.name!r} must make an object of "
                            f"{kind.__name__}, not of {type(made).__name__}")
        return made

    def needs(self, description: "Description") -> Iterable[str]:
        """One line for each rule of the design that ``description`` breaks: the knob, its value and
        what it must be."""
        return ()

    def values(self, description: "Description") -> Any:
        """Its own section in ``description``; None if it has none."""
        return getattr(description, self.name) if self.knobs else None
