"""A side of an exchange over VMMC."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from ...layouts.description import Description
from ...layouts.trace import BEGIN, END, Activity
from ..endpoint import Endpoint, EndpointError, Exchange, Spin
from ..kernel.process import Process
from ..port.node import Node
from ..port.port import Watch
from .costs import Prices
from .handles import Import
from .knobs import Knobs
from .status import Status
from .vmmc import Vmmc

__all__ = ["VmmcEndpoint"]

LINE = 64
MOST = 16
"""Most places for a sender's messages."""
LEAST = 4
"""Bytes of the shortest message: its last four say that it has arrived."""
WORDS = 2 * LINE
"""Bytes behind a sender's places: the word of its credits and that of its answers."""
PATIENCE = 1 << 24
"""Cycles for which a peer may take to export its memory."""
HIGH = 0xFFFF_FFFF << 32
WATCHES = 4
EMPTY_CHECK, RECEIVE_COMPLETE = int(Activity.EMPTY_CHECK), int(Activity.RECEIVE_COMPLETE)


class VmmcEndpoint(Endpoint):
    """A process that exports places for the messages of each sender, and has imported its own at
    the others. The receiver polls its memory: a message's last word is its trace number, which
    differs from what was there before. When half of a sender's places have been read it is told, by
    a word in its memory."""

    crowds = True

    def __init__(self, node: Node, exchange: Exchange) -> None:
        super().__init__(node, exchange)
        me = node.home
        self._vmmc = Vmmc(Process(node, 1))
        self._size = max(LEAST, exchange.size)
        self._place = -(-self._size // LINE) * LINE
        self._nodes = exchange.nodes
        description = node.description
        most = _room(description) // max(1, exchange.crowd, len(self._nodes) - 1)
        self._places = min(MOST, (most - WORDS) // self._place) & ~1
        if self._places < 2:
            raise EndpointError(f"vmmc.exports = {description.section(Knobs).exports}: too few for "
                                f"two messages of {self._size} bytes of each of "
                                f"{len(self._nodes) - 1} nodes")
        self._area = self._places * self._place + WORDS
        self._lot = self._places // 2
        peers = sorted({*exchange.to(me), *exchange.of(me)})
        self._imports: dict[int, Import] = {peer: None for peer in peers}  # type: ignore[misc]
        self._base = self._source = self._words = 0
        self._sent: Counter[int] = Counter()
        self._got: Counter[int] = Counter()
        self._answers: Counter[int] = Counter()
        self._credits = dict.fromkeys(peers, 0)
        """Messages of ours that each peer has said it has read."""
        self._answered = 0
        self._flags = {(peer, place): 0 for peer in exchange.of(me)
                       for place in range(self._places)}
        """What the last word of each place was."""
        self._senders = list(exchange.of(me))
        prices = node.service(Prices)
        self._check, self._take = prices.check, prices.take

    @classmethod
    def largest(cls, description: Description) -> int:
        """Two messages of each of two nodes fit into what is exported."""
        return (_room(description) - WORDS) // 2 // LINE * LINE

    async def open(self) -> None:
        vmmc, me = self._vmmc, self.node.home
        _sound("open", await vmmc.open())
        length = self._area * len(self._nodes)
        try:
            self._base = vmmc.allocate(length)
            self._source = vmmc.allocate(self._places * self._place)
            self._words = vmmc.allocate(WORDS * len(self._nodes))
        except MemoryError:
            raise EndpointError(f"no {length} bytes are left (memory.bytes)") from None
        status, _ = await vmmc.export(self._base, length, me)
        _sound("export", status)
        for peer in self._imports:
            status, found = await vmmc.import_(self.node.address_on(peer), peer, length, PATIENCE)
            _sound("import", status)
            assert found is not None
            self._imports[peer] = found

    def _at(self, owner: int) -> int:
        """Where the area for ``owner`` is in an export."""
        return self._nodes.index(owner) * self._area

    async def send(self, peer: int, stream: int = 0) -> None:
        """Send one message; wait for a place."""
        self.on_send(peer, stream)
        number = self._sent[peer]
        while number - self._credits[peer] >= self._places:
            await self._credit(peer)
        self._sent[peer] += 1
        place = number % self._places
        end = (place + 1) * self._place
        trace = self.node.trace_number()
        process = self._vmmc.process
        await process.touch(self._source + end - 4, 4, True)
        await self.node.port.settle()
        process.write(self._source + end - 4, trace.to_bytes(4, "little"))
        await self._vmmc.send(self._source + end - self._size, self._imports[peer],
                              self._at(self.node.home) + end - self._size, self._size, trace=trace)

    async def answer(self, peer: int) -> None:
        """4 bytes, into a word of their own: they count as no message."""
        self._answers[peer] += 1
        await self._word(peer, LINE, self._answers[peer])

    async def answered(self, times: int) -> None:
        [peer] = self._imports
        at = self._physical(peer, LINE)
        await self._vmmc.spin([Watch(at, times, 0xFFFF_FFFF)])

    async def poll(self) -> None:
        """One look at the next place of each sender."""
        for peer in self._senders:
            watch = self._watch(peer)
            cpu = self.node.port
            begin = cpu.mark(EMPTY_CHECK, BEGIN, 0)
            cpu.spend(self._check)
            poll = await cpu.poll(watch, once=True)
            if poll.timed_out:
                cpu.mark(EMPTY_CHECK, END, 0)
            else:
                await self._arrived(peer, poll.data, begin)
        if not self._senders:
            await self.node.port.flush()
        if self.node.port.interrupted:
            await self._vmmc.attend()

    async def receive(self, messages: int) -> None:
        cpu = self.node.port
        while self.received < messages:
            if len(self._senders) > 1:
                await self.poll()
                continue
            [peer] = self._senders
            cpu.mark(EMPTY_CHECK, BEGIN, 0)
            cpu.spend(self._check)
            await self._vmmc.spin([self._watch(peer)])
            await self._arrived(peer, cpu.data,
                                cpu.mark_check(EMPTY_CHECK, RECEIVE_COMPLETE))

    async def wait(self, condition: Callable[[], Any]) -> None:
        while not condition():
            await self.poll()

    async def finish(self) -> None:
        expected = self.exchange.expected(self.number)
        await self.wait(lambda: self.received >= expected)
        await self._vmmc.idle()

    async def close(self, spin: Spin | None = None) -> None:
        """Wait until all that was sent has arrived."""
        await self._vmmc.idle()

    def _watch(self, peer: int) -> Watch:
        """The last word of the peer's next place."""
        place = self._got[peer] % self._places
        at = self._at(peer) + (place + 1) * self._place - 8
        return Watch(self._vmmc.process.physical(self._base + at),
                     self._flags[peer, place] << 32, HIGH, not_equal=True)

    async def _arrived(self, peer: int, word: int, begin: list[int]) -> None:
        trace = word >> 32
        place = self._got[peer] % self._places
        self._flags[peer, place] = trace
        self._got[peer] += 1
        cpu = self.node.port
        cpu.spend(self._take)
        cpu.finish(begin, RECEIVE_COMPLETE, trace & 0xFF_FFFF)
        self.received += 1
        self.on_message(peer, 0)
        if not self._got[peer] % self._lot:
            await self._word(peer, 0, self._got[peer])

    async def _word(self, peer: int, place: int, value: int) -> None:
        """Write a word behind our places at ``peer``."""
        process, at = self._vmmc.process, self._words + WORDS * self._nodes.index(peer) + place
        await process.touch(at, 4, True)
        await self.node.port.settle()
        process.write(at, value.to_bytes(4, "little"))
        await self._vmmc.send(at, self._imports[peer], self._at(self.node.home)
                              + self._places * self._place + place, 4)

    def _physical(self, peer: int, place: int) -> int:
        return self._vmmc.process.physical(self._base + self._at(peer)
                                           + self._places * self._place + place)

    async def _credit(self, peer: int) -> None:
        """Read how many messages the peer has read; take what has come meanwhile."""
        cpu, at = self.node.port, self._physical(peer, 0)
        if self.exchange.count:
            await self.poll()
            await cpu.touch(at, 8)
            await cpu.flush()
            word = self.node.memory.word(at)
        else:
            await self._vmmc.spin([Watch(at, self._credits[peer] & 0xFFFF_FFFF, 0xFFFF_FFFF,
                                         not_equal=True)])
            word = cpu.data
        self._credits[peer] += (word & 0xFFFF_FFFF) - self._credits[peer] & 0xFFFF_FFFF


def _room(description: Description) -> int:
    """Bytes for the messages that come, at the most."""
    vmmc, page = description.section(Knobs), description.via.page_bytes
    return min(min(vmmc.exports, vmmc.imports // 2) * page, description.memory.bytes // 4) // 2


def _sound(call: str, status: Status) -> None:
    if status is not Status.SUCCESS:
        raise EndpointError(f"{call}: {status.name}")
