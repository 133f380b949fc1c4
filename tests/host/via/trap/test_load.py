"""The kernel-trap design point under load, on the model target: without a loss nothing is sent
again, however short the time-out, nobody starves, and all that is shared by VIs is given back."""

import pytest
from nicbed.host.port.sent_again import Cause
from nicbed.host.via import VIP_INFINITE, VIP_RETURN, NetAddress
from nicbed.layouts.packet import HEADER, Protocol
from nicbed.layouts.via import DETAIL, VIA_HEADER, PacketKind

from tests.labs.kernel_trap import NAME, OK, RD, RR, Side
from tests.models.target import Model
from tests.programs.am import describe

PATIENT = 10_000_000
"""A time-out, in cycles, that never passes here."""
DATA = 1 << 17
"""Where data lie in each side's region."""


async def accept(side: Side, name: bytes):
    result, _, _, connection = await side.vipl.VipConnectWait(
        side.nic, NetAddress(side.node.number, name), VIP_INFINITE)
    assert result is OK
    assert await side.vipl.VipConnectAccept(connection, side.vi) is OK


async def request(side: Side, node: int, name: bytes):
    result = VIP_RETURN.NO_MATCH
    while result is VIP_RETURN.NO_MATCH:
        await side.port.delay(500)
        result, _ = await side.vipl.VipConnectRequest(
            side.vi, NetAddress(side.node.number, name), NetAddress(node, name), VIP_INFINITE)
    assert result is OK


class Load:
    """``clients`` nodes send ``count`` messages of ``size`` bytes each on each of ``vis`` VIs to
    node 0, which has posted receives for all. ``cycles``: from when all were connected until all
    had come; ``waited``: until the last of them had its first; ``shares``: messages of each VI
    while all sent, behind the first quarter; ``traps``: the nodes' providers."""

    def __init__(self, clients: int, count: int, size: int, *, vis: int = 1, level=RD,
                 lose=None, **settings) -> None:
        self.clients, self.count, self.size, self.vis = clients, count, size, vis
        self.ready = 0
        self.began = 0
        self.came: list[list[int]] = []
        self.over = False
        named = {name.replace("__", "."): value for name, value in settings.items()}
        model = Model(describe({"fabric.nodes": clients + 1, "via.design": "kernel",
                                "via.vis": 1 << max(4, (clients * vis).bit_length()),
                                "via.send_slots": max(16, 2 * named.get("via.window", 0)),
                                "memory.bytes": 1 << 20, "via.queue_depth": 128}, named))
        if lose is not None:
            model.nics[1].lose = lose
        programs = [self._serve] + [self._send] * clients
        self.traps = model.run([self._on(program, level) for program in programs],
                               limit=10_000_000).results
        self.cycles = max(times[-1] for times in self.came) - self.began
        self.waited = max(times[0] for times in self.came) - self.began
        begin = max(times[count // 4] for times in self.came)
        end = min(times[-1] for times in self.came)
        self.shares = [sum(begin <= at <= end for at in times) for times in self.came]

    def fair(self, window: int) -> bool:
        """Whether the shares are the same, but for 5 % and a window, which may come at once."""
        most = max(self.shares)
        return most - min(self.shares) <= 0.05 * most + window

    def total(self, *causes: Cause) -> int:
        """Packets sent again."""
        return sum(trap.again.total(*causes) for trap in self.traps)

    def _on(self, program, level):
        async def main(node):
            side = Side(node, 1 << 18, reliability=level)
            await side.open(cq_entries=2048)
            await program(side)
            while not self.over:
                await side.kernel.doze(side.port.cycle + 2000)
            await side.kernel.attend()
            return side.provider
        return main

    async def _serve(self, side):
        vis = []
        for number in range(self.clients * self.vis):
            side.vi = await side.endpoint()
            vis.append(side.vi)
            for index in range(self.count):
                await side.receive(64 * (number * self.count + index), [side.at(DATA, self.size)])
            self.came.append([])
        for number, side.vi in enumerate(vis):
            await accept(side, NAME + bytes([number]))
        while any(len(times) < self.count for times in self.came):
            result, vi, _ = await side.vipl.VipCQDone(side.cq)
            if result is OK:
                result, _ = await side.vipl.VipRecvDone(vi)
                assert result is OK
                self.came[vis.index(vi)].append(side.port.cycle)
        self.over = True

    async def _send(self, side):
        vis = []
        for index in range(self.vis):
            side.vi = await side.endpoint()
            vis.append(side.vi)
            await request(side, 0, NAME + bytes([(side.node.number - 1) * self.vis + index]))
        self.ready += 1
        while self.ready < self.clients:
            await side.kernel.doze(side.port.cycle + 500)
        self.began = max(self.began, side.port.cycle)
        for index in range(self.count):
            for number, side.vi in enumerate(vis):
                await side.send(64 * (number * self.count + index), [side.at(DATA, self.size)])
        left = self.count * self.vis
        while left:
            result, vi, _ = await side.vipl.VipCQDone(side.cq)
            if result is OK:
                result, _ = await side.vipl.VipSendDone(vi)
                assert result is OK
                left -= 1


@pytest.mark.parametrize(("clients", "size", "window", "level"), [
    (3, 8, 8, RD), (3, 3000, 8, RR),
    *(pytest.param(clients, size, window, level, marks=pytest.mark.full)
      for clients in (1, 2, 7, 15) for size, window, level in (
          (8, 2, RD), (8, 32, RR), (3000, 4, RD), (3000, 32, RD)))])
def test_many_senders(clients, size, window, level):
    knobs = {"level": level, "via__window": window}
    count = 120 if size == 8 else 40
    longest = Load(clients, count, size, via__retry_timeout=PATIENT, **knobs)
    assert longest.total() == 0 and longest.fair(window)
    for timeout in (2000, 20_000):
        load = Load(clients, count, size, via__retry_timeout=timeout, **knobs)
        assert load.total() == 0 and load.fair(window)
        assert load.cycles < 1.1 * longest.cycles


def test_a_program_gets_messages_while_more_come():
    """An interrupt that handled all that comes would end when the senders do."""
    load = Load(3, 60, 3000, via__retry_timeout=PATIENT)
    assert load.waited < load.cycles / 10


@pytest.mark.parametrize("vis", [
    4, 8, *(pytest.param(vis, marks=pytest.mark.full) for vis in (2, 16, 24))])
def test_vis_that_share_buffers(vis):
    """The time grows with their number, and no time-out is needed: who holds one of the last
    buffers asks for it back."""
    one = Load(1, 10, 4096, via__retry_timeout=PATIENT).cycles
    load = Load(1, 10, 4096, vis=vis, via__retry_timeout=PATIENT)
    assert load.total() == 0 and load.fair(2)
    assert load.cycles < 1.15 * vis * one


class LosesLast:
    """A rule for ModelNic.lose: packet ``sequence`` of a VI, the first ``times`` times."""

    def __init__(self, sequence: int, times: int) -> None:
        self.sequence, self.left = sequence, times

    def __call__(self, data: bytes) -> bool:
        header, via = (int.from_bytes(data[at:at + 8], "little") for at in (0, 8))
        if (HEADER.get(header, "protocol") != Protocol.VIA or not self.left
                or DETAIL.unpack(HEADER.get(header, "detail"))["kind"] != PacketKind.SEND
                or VIA_HEADER.unpack(via)["sequence"] != self.sequence):
            return False
        self.left -= 1
        return True


def test_only_what_was_lost_goes_again():
    """The last packet, lost three times: one time-out, and a round trip for each loss more."""
    timeout = 20_000
    lossless = Load(1, 10, 8, via__retry_timeout=timeout)
    load = Load(1, 10, 8, via__retry_timeout=timeout, lose=LosesLast(9, 3))
    assert load.total() == load.total(Cause.ANSWER) == 3
    assert lossless.cycles + timeout < load.cycles < lossless.cycles + 1.5 * timeout
