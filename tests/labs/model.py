"""A lab over the functional model: benchmarks without a simulator, in plausible times.

Events are made from what the model does: packets leaving on the link, and landing in memory.
"""

from typing import Any

from nicbed.layouts.description import Description
from nicbed.layouts.trace import Block, Event, Kind
from nicbed.testbench.lab import Run, apply_settings
from nicbed.testbench.run.sent_again import Account, sent_again

from tests.models.target import Model, ModelNic


class ModelLab:
    """Stands in for :class:`nicbed.testbench.lab.Lab`."""

    sim = "model"
    forks = False

    def __init__(self, description: Description) -> None:
        self.description = description
        self.account = Account()

    @property
    def parties(self) -> int:
        return self.description.fabric.nodes

    def progress(self, what: str, done: int, total: int) -> None:
        pass

    async def run(self, programs: Any, *, settings: Any = None, trace: bool = False,
                  skip: bool = True, limit: int | None = None, progress: Any = None) -> Run:
        description = apply_settings(self.description, settings or {})
        model = Model(description)
        events: list[Event] = []
        if trace:
            for nic in model.nics:
                _tap(nic, model, events)
        runtime = model.run(programs, limit=limit or 50_000_000)
        again = sent_again(runtime.ports, [
            Event(model.now, nic.node, Block.VI_SEND, Kind.AGAIN, 0, 0)
            for nic in model.nics if nic.via for _ in range(nic.registers.get("via_resent", 0))
        ] + [Event(model.now, nic.node, Block.FIRMWARE, Kind.AGAIN, number, peer)
             for nic in model.nics if nic.processor for number, peer in nic.processor.again])
        self.account.note(description, again)
        return Run(model.now, runtime.results, sorted(events), runtime.marks, runtime.wakes, [],
                   again=again)


def _tap(nic: ModelNic, model: Model, events: list[Event]) -> None:
    sent, arrive, stored = nic.sent, nic.arrive, nic.stored
    began: list[int] = []

    def tapped_sent(space: int) -> None:
        number = nic.queue[0][1]
        events.append(Event(model.now, nic.node, Block.SEND_LINK, Kind.END, number, 0))
        events.append(Event(model.now - 14, nic.node, Block.SEND_LINK, Kind.BEGIN, number, 0))
        sent(space)

    def tapped_arrive(data: bytes, number: int, length: int) -> None:
        began.append(model.now)
        arrive(data, number, length)

    def tapped_stored() -> None:
        number = nic.received[0][1]
        events.append(Event(model.now, nic.node, Block.RECEIVE_DMA, Kind.END, number, 0))
        stored()

    nic.sent, nic.arrive, nic.stored = tapped_sent, tapped_arrive, tapped_stored
