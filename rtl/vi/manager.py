"""The life of VIs: commands of the kernel agent, and errors that break connections."""

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ...layouts.via import QUEUE_BITS, VI_BITS, ViCommand, ViState
from ..parts.queue import Queue
from ..parts.round_robin import RoundRobin
from ..parts.sizes import check_count, check_vis
from .types import (
    Break,
    Command,
    ContextRead,
    ContextWrite,
    Control,
    ControlAction,
    EngineEvent,
    StateWrite,
)

__all__ = ["BLOCKS", "BREAKS", "Manager"]

BLOCKS = 4
"""Blocks with state of VIs, in the order in which the manager informs them: work queues, receiver,
sender, completion."""
BREAKS = 16
"""Breaks that can wait at a port."""


class Manager(wiring.Component):
    """Changes the state of VIs and informs the other blocks, one step after the other. No other
    block changes a VI's state.

    Commands (layouts.via.ViCommand), each done when ``busy`` falls to 0. In a state that is not
    listed, or for a VI of number ``vis`` or above, a command does nothing:

    ========== =================== ============================================================
    command    in state            what happens, in this order
    ========== =================== ============================================================
    CREATE     CLOSED              attributes and peer written; CREATE to all blocks; IDLE
    CONNECT    IDLE                attributes and peer written; CONNECT to all blocks; CONNECTED
    DISCONNECT CONNECTED           ERROR; ABORT to all blocks; both queues woken
    DISCONNECT IDLE, ERROR         ERROR; both queues woken
    IDLE       ERROR               IDLE
    DESTROY    CONNECTED           CLOSED; ABORT to all blocks
    DESTROY    IDLE, ERROR         CLOSED
    ATTRIBUTES any                 attributes and peer written
    ========== =================== ============================================================

    A break of a CONNECTED VI: its event; ERROR; ABORT to all blocks; both queues woken. A break of
    an IDLE VI: its event. A break of any other VI: nothing, so a connection breaks once. The
    command and the ports with a break take turns.

    Latency: 3 cycles from a command or break to its first effect, then the time that the blocks
    take. Back-pressure: a command waits while another one is held, a break while 16 of its port
    wait. Reset: nothing held. Commands must not arrive before the contexts are ready.

    Parameters
    ----------
    vis : :class:`int`
        VIs: a power of two, 2 to 4096.
    breakers : :class:`int`
        Ports for breaks, 1 or more.

    Members
    -------
    command : ``In(stream of Command)``
        From the registers.
    break_ : ``In(stream of Break).array(breakers)``
        Errors.
    control : ``Out(stream of Control).array(4)``
        To work queues, receiver, sender, completion: each gets it when the one before has taken it.
    wake : ``Out(stream of QUEUE_BITS)``
        To the scheduler.
    event : ``Out(stream of EngineEvent)``
        To the event queue.
    context : ``Out(ContextRead)``
        States.
    write : ``Out(ContextWrite)``, set_state : ``Out(StateWrite)``
        To the contexts; never both in one cycle.
    busy : ``Out(3)``
        The command held, from the cycle on in which it is offered; 0 if none.
    idle : ``Out(1)``
        Nothing held, nothing requested.

    Raises
    ------
    TypeError
        A parameter is not an integer.
    ValueError
        A parameter breaks its rule.
    """

    def __init__(self, *, vis: int, breakers: int) -> None:
        check_vis(vis)
        check_count("breakers", breakers)
        self._vis = vis
        self._breakers = breakers
        super().__init__({
            "command": In(stream.Signature(Command)),
            "break_": In(stream.Signature(Break)).array(breakers),
            "control": Out(stream.Signature(Control)).array(BLOCKS),
            "wake": Out(stream.Signature(QUEUE_BITS)),
            "event": Out(stream.Signature(EngineEvent)),
            "context": Out(ContextRead),
            "write": Out(ContextWrite),
            "set_state": Out(StateWrite),
            "busy": Out(3),
            "idle": Out(1),
        })

    @property
    def vis(self) -> int:
        """VIs."""
        return self._vis

    @property
    def breakers(self) -> int:
        """Ports for breaks."""
        return self._breakers

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.arbiter = arbiter = RoundRobin(count=1 + self._breakers)
        held = Signal()
        command = Signal(Command)
        with m.If(~held):
            m.d.comb += self.command.ready.eq(1)
        with m.If(held):
            m.d.comb += self.busy.eq(command.command)
        with m.Elif(self.command.valid):
            m.d.comb += self.busy.eq(self.command.payload.command)
            m.d.sync += [held.eq(1), command.eq(self.command.payload)]
        m.d.comb += arbiter.requests[0].eq(held)
        some = Signal()
        m.d.comb += some.eq(held)
        picks = Signal()
        picked = Signal(Break)
        for number, port in enumerate(self.break_):
            queue = Queue(shape=Break, depth=BREAKS)
            m.submodules[f"breaks_{number}"] = queue
            wiring.connect(m, wiring.flipped(port), queue.i)
            m.d.comb += [
                arbiter.requests[1 + number].eq(queue.o.valid),
                queue.o.ready.eq(picks & arbiter.grant[1 + number]),
            ]
            with m.If(port.valid | (queue.level != 0)):
                m.d.comb += some.eq(1)
            with m.If(arbiter.grant[1 + number]):
                m.d.comb += picked.eq(queue.o.payload)

        # What is being done: a command, or a break with its event.
        vi = Signal(VI_BITS)
        broken = Signal()
        plan = self._plan(m, vi=vi, broken=broken, command=command.command)
        does = {name: Signal(name=f"does_{name}") for name in ("sets", "late", "orders", "wakes")}
        with m.FSM() as fsm:
            with m.State("PICK"):
                m.d.comb += [picks.eq(1), arbiter.advance.eq(1)]
                with m.If(arbiter.requests.any()):
                    m.d.sync += [vi.eq(command.vi), broken.eq(0)]
                    with m.If(~arbiter.grant[0]):
                        m.d.sync += [vi.eq(picked.vi), broken.eq(1),
                                     self.event.payload.code.eq(picked.event),
                                     self.event.payload.number.eq(picked.vi)]
                    m.next = "LOOK"
            with m.State("LOOK"):
                m.next = "DECIDE"
            with m.State("DECIDE"):
                m.d.comb += self.write.valid.eq(plan["writes"])
                m.d.sync += [
                    self.event.valid.eq(plan["tells"]),
                    self.set_state.state.eq(plan["state"]),
                ]
                m.d.sync += [flag.eq(plan[name]) for name, flag in does.items()]
                for control in self.control:
                    m.d.sync += control.payload.action.eq(plan["action"])
                m.next = "END"
                with m.If(plan["tells"] | plan["sets"]):
                    m.next = "EVENT"
            with m.State("EVENT"):
                with m.If(self.event.ready | ~self.event.valid):
                    m.d.sync += self.event.valid.eq(0)
                    m.next = "EARLY"
            with m.State("EARLY"):
                m.d.comb += self.set_state.valid.eq(does["sets"] & ~does["late"])
                m.next = "LATE"
                with m.If(does["orders"]):
                    m.next = "ORDER_0"
            for number, control in enumerate(self.control):
                with m.State(f"ORDER_{number}"):
                    m.d.comb += control.valid.eq(1)
                    with m.If(control.ready):
                        m.next = "LATE" if number == BLOCKS - 1 else f"ORDER_{number + 1}"
            with m.State("LATE"):
                m.d.comb += self.set_state.valid.eq(does["sets"] & does["late"])
                m.next = "END"
                with m.If(does["wakes"]):
                    m.next = "WAKE_0"
            for side in (0, 1):
                with m.State(f"WAKE_{side}"):
                    m.d.comb += [self.wake.valid.eq(1), self.wake.payload.eq((vi << 1) | side)]
                    with m.If(self.wake.ready):
                        m.next = "END" if side else "WAKE_1"
            with m.State("END"):
                with m.If(~broken):
                    m.d.sync += held.eq(0)
                m.next = "PICK"

        m.d.comb += [
            self.context.vi.eq(vi),
            self.write.vi.eq(vi),
            self.write.attributes.eq(command.attributes),
            self.write.peer.eq(command.peer),
            self.set_state.vi.eq(vi),
            *(control.payload.vi.eq(vi) for control in self.control),
            self.idle.eq(fsm.ongoing("PICK") & ~(some | self.command.valid)),
        ]
        return m

    def _plan(self, m: Module, *, vi: Signal, broken: Signal, command: Signal) -> dict[str, Signal]:
        """Effects of the command or break in the VI's current state: the table above."""
        state = self.context.data.state
        plan = {name: Signal(name=name) for name in ("writes", "tells", "sets", "late", "orders",
                                                     "wakes")}
        plan["state"] = becomes = Signal(2, name="becomes")
        plan["action"] = action = Signal(ControlAction, name="action")
        connected = Signal()
        there = Signal()
        m.d.comb += [
            connected.eq(state == ViState.CONNECTED),
            there.eq(vi < self._vis),
            action.eq(ControlAction.ABORT),
        ]

        def does(*names: str) -> list:
            return [plan[name].eq(1) for name in names]

        with m.If(broken):
            m.d.comb += becomes.eq(ViState.ERROR)
            with m.If(connected):
                m.d.comb += does("tells", "sets", "orders", "wakes")
            with m.Elif(state == ViState.IDLE):
                m.d.comb += does("tells")
        with m.Elif(there), m.Switch(command):
            with m.Case(ViCommand.CREATE):
                m.d.comb += [becomes.eq(ViState.IDLE), action.eq(ControlAction.CREATE)]
                with m.If(state == ViState.CLOSED):
                    m.d.comb += does("writes", "orders", "sets", "late")
            with m.Case(ViCommand.CONNECT):
                m.d.comb += [becomes.eq(ViState.CONNECTED), action.eq(ControlAction.CONNECT)]
                with m.If(state == ViState.IDLE):
                    m.d.comb += does("writes", "orders", "sets", "late")
            with m.Case(ViCommand.DISCONNECT):
                m.d.comb += [becomes.eq(ViState.ERROR), plan["orders"].eq(connected)]
                with m.If(state != ViState.CLOSED):
                    m.d.comb += does("sets", "wakes")
            with m.Case(ViCommand.IDLE):
                m.d.comb += becomes.eq(ViState.IDLE)
                with m.If(state == ViState.ERROR):
                    m.d.comb += does("sets")
            with m.Case(ViCommand.DESTROY):
                m.d.comb += [becomes.eq(ViState.CLOSED), plan["orders"].eq(connected),
                             plan["sets"].eq(state != ViState.CLOSED)]
            with m.Case(ViCommand.ATTRIBUTES):
                m.d.comb += does("writes")
        return plan
