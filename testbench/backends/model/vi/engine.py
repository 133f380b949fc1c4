"""The VI engine's model: VIs, doorbells, kernel registers, errors. The specification in Python.

What the engine of a NIC promises to software and to its peers, without its timing. Everything
happens at once: a doorbell is a token, a command is executed, a packet is taken in one step.
Its parts: :mod:`.memory` (translation, descriptors), :mod:`.queues` (work and completion queues,
events), :mod:`.send`, :mod:`.link` (packets out), :mod:`.receive`.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from .....layouts.registers import ENGINE_REGISTERS, Access
from .....layouts.via import (
    ADDRESS,
    ATTRIBUTES,
    CQ_PAGES,
    DESCRIPTOR_ALIGN,
    DOORBELL_PAGES,
    PAGE,
    PEER,
    Doorbell,
    Event,
    Reliability,
    ViCommand,
    ViState,
)
from .link import Link
from .memory import Descriptor, Refused, Translator
from .queues import (
    CompletionQueue,
    EventQueue,
    Unreadable,
    WorkQueue,
    complete,
    page_write,
)
from .receive import Receiver, Receiving
from .send import Sender, Sending

if TYPE_CHECKING:
    from ..nic import ModelNic

__all__ = ["Engine", "Vi"]

COMMAND_CYCLES = 12
INVALIDATE_CYCLES = 8


class Vi:
    """A VI: its settings by the kernel agent, its state, its queues, its connection."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.state = ViState.CLOSED
        self.attributes = ATTRIBUTES.unpack(0)
        self.peer = PEER.unpack(0)
        self.queues = (WorkQueue(), WorkQueue())
        self.sending, self.receiving = Sending(), Receiving()

    @property
    def reliability(self) -> int:
        return self.attributes["reliability"]

    @property
    def reliable(self) -> bool:
        return self.reliability != Reliability.UNRELIABLE_DELIVERY


class Engine:
    """The VI engine of one NIC."""

    def __init__(self, nic: "ModelNic") -> None:
        self.nic, self.model = nic, nic.model
        description = self.model.description
        self.via = description.via
        self.mtu = description.nic.mtu
        self.registers = nic.registers
        self.access = {register.name: register.access for register in ENGINE_REGISTERS}
        self.mask = {register.name: (1 << register.width) - 1 for register in ENGINE_REGISTERS}
        self.vis: dict[int, Vi] = {}
        self.cqs: dict[int, CompletionQueue] = {}
        self.events = EventQueue(self, self.via.events)
        self.translator = Translator(description, nic.memory, self.dma_write, self.registers)
        self.link = Link(self)
        self.sender = Sender(self)
        self.receiver = Receiver(self)

    def dma_write(self, address: int, data: bytes) -> None:
        self.model.dma_write(self.nic.home, address, data)

    def count(self, name: str) -> None:
        """Counts one more in register ``name``."""
        self.registers[name] += 1

    def number_of(self, cq: CompletionQueue) -> int:
        return next(number for number, other in self.cqs.items() if other is cq)

    def vi(self, number: int) -> Vi:
        return self.vis.get(number) or Vi(number)

    # Doorbells and the pages of completion queues

    def page(self, offset: int, word: int, process: int) -> None:
        """A write to the NIC's pages."""
        if offset < DOORBELL_PAGES:
            page_write(self, offset - CQ_PAGES, word, process)
            return
        number, place = divmod(offset - DOORBELL_PAGES, PAGE)
        vi = self.vi(number)
        if (vi.state == ViState.CLOSED or process not in (0, vi.attributes["owner"])
                or place not in set(Doorbell)):
            self.count("doorbells_foreign")
        elif place in (Doorbell.SEND, Doorbell.RECEIVE):
            self.token(vi, place == Doorbell.RECEIVE, word)
        else:
            self.arm(vi, place == Doorbell.ARM_RECEIVE, word)

    def token(self, vi: Vi, receive: bool, word: int) -> None:
        """A descriptor was linked to a queue."""
        va, handle = ADDRESS.get(word, "va"), ADDRESS.get(word, "handle")
        if va % DESCRIPTOR_ALIGN:
            self.break_(vi, Event.POST_DESC)
        elif not vi.queues[receive].token(va, handle, self.via.queue_depth):
            self.break_(vi, Event.VI_OVERRUN)
        else:
            self.sender.wake(vi, receive)

    def arm(self, vi: Vi, receive: bool, word: int) -> None:
        """Software has seen ``word`` completions of a queue: an event at the next."""
        queue = vi.queues[receive]
        if queue.completed != word & 0xFFFF:
            self.events.push(Event.RECEIVE_DONE if receive else Event.SEND_DONE, vi.number)
        else:
            queue.armed = True

    # Work queues

    def take(self, vi: Vi, receive: bool) -> Descriptor | None:
        """The next descriptor of a queue, none if nothing is posted.

        One that cannot be read only counts, and all that is behind it is forgotten: Unreadable,
        for which the taker breaks the VI with POST_DESC."""
        queue = vi.queues[receive]
        address = queue.take()
        if address is None:
            return None
        try:
            descriptor = Descriptor(self.translator, *address, vi.attributes["tag"])
        except Refused:
            queue.lose()
            complete(self, vi, receive, address, silent=True)
            raise Unreadable from None
        queue.link(descriptor.following)
        return descriptor

    # Errors and commands

    def break_(self, vi: Vi, event: Event) -> None:
        """VI in error: reported once, and only of a VI that is idle or connected."""
        if vi.state in (ViState.IDLE, ViState.CONNECTED):
            self.events.push(event, vi.number)
        if vi.state == ViState.CONNECTED:
            self.error(vi)

    def error(self, vi: Vi) -> None:
        """To the state ERROR: what was begun completes flushed, then all that is posted."""
        connected, vi.state = vi.state == ViState.CONNECTED, ViState.ERROR
        if connected:
            self.receiver.abort(vi)
            self.sender.abort(vi)
        self.sender.wake(vi, False)
        self.sender.wake(vi, True)

    def command(self, command: int) -> None:
        """The register vi_command. A command in a state that it is not for does nothing."""
        number = self.registers["vi_select"]
        self.registers["vi_command"] = 0
        if number >= self.via.vis:
            return
        vi = self.vi(number)
        state = vi.state
        if command == ViCommand.CREATE and state == ViState.CLOSED:
            vi = self.vis[number] = Vi(number)
            vi.state = ViState.IDLE
        elif command == ViCommand.CONNECT and state == ViState.IDLE:
            vi.sending, vi.receiving = Sending(), Receiving()
            vi.state = ViState.CONNECTED
        elif command == ViCommand.DISCONNECT and state != ViState.CLOSED:
            self.error(vi)
            return
        elif command == ViCommand.IDLE and state == ViState.ERROR:
            vi.state = ViState.IDLE
            return
        elif command == ViCommand.DESTROY and state != ViState.CLOSED:
            self.error(vi)
            vi.state = ViState.CLOSED
            return
        elif command != ViCommand.ATTRIBUTES:
            return
        vi.attributes = ATTRIBUTES.unpack(self.registers["vi_attributes"])
        vi.peer = PEER.unpack(self.registers["vi_peer"])
        self.sender.wake(vi, False)

    # Kernel registers

    def write(self, name: str, word: int) -> None:
        """A write of the kernel's; writes to what can only be read do nothing."""
        if self.access[name] == Access.RO:
            return
        word &= self.mask[name]
        busy = self.registers["vi_command"]
        if name != "vi_command":
            self.registers[name] = word
        later: Callable[[], None] | None = None
        if name == "vi_command" and not busy:
            assert self.ready, "a command before via_ready"
            self.registers["vi_command"] = word & 7
            later = lambda: self.command(word & 7)  # noqa: E731
        elif name == "cq_config":
            number = self.registers["vi_select"]
            if number < self.via.cqs:
                self.cqs[number] = CompletionQueue(self.registers["cq_base"], word)
        elif name == "table_place":
            self.translator.place()
        elif name == "invalidate":
            def invalidated() -> None:
                self.translator.invalidate(word)
                self.registers["invalidated"] = self.registers["invalidated"] + 1 & 0xFFFF
            later = invalidated
        if later is not None:
            cycles = COMMAND_CYCLES if name == "vi_command" else INVALIDATE_CYCLES
            self.model.at(self.model.now + cycles, later)

    @property
    def ready(self) -> bool:
        return self.model.now >= self.via.vis

    def read(self, name: str) -> int:
        """A read of the kernel's."""
        vi = self.vi(self.registers["vi_select"])
        if name == "via_event":
            return self.events.pop()
        if name == "via_ready":
            return int(self.ready)
        if name == "vi_state":
            return vi.state
        if name == "vi_posted":
            return vi.queues[0].posted | vi.queues[1].posted << 16
        if name == "vi_completed":
            return vi.queues[0].completed | vi.queues[1].completed << 16
        return 0 if self.access[name] == Access.WO else self.registers[name]
