"""The channel over VIA does what calls of VIPL do, in one coroutine; and packets lie where they
belong, wherever their data are."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from nicbed.host.mpi.channels.buffered import Received, received
from nicbed.host.mpi.channels.via import ViaChannel
from nicbed.host.via.descriptors import LENGTH
from nicbed.host.via.returns import VIP_INFINITE

from tests.models.target import Model
from tests.models.written import Written
from tests.programs.mpi import FAULTS, LIMIT, describe, pattern, random_program, ranks

PAGE = 4096


async def by_calls(self: Any, waits: bool) -> Received | None:
    """What ``ViaChannel._next`` does, by calls."""
    vipl, cq = self._vipl, self._cq
    while True:
        _, vi, receive = await (vipl.VipCQWait(cq, VIP_INFINITE) if waits else vipl.VipCQDone(cq))
        if vi is None:
            return None
        peer = self._by_vi[vi.number]
        _, descriptor = await (vipl.VipRecvDone(vi) if receive else vipl.VipSendDone(vi))
        assert descriptor is not None
        if not receive:
            self._outstanding -= 1
            result = peer.sends.popleft()()
            if hasattr(result, "__await__"):
                await result
            await self._debts.tell()
            if waits:
                return None
            continue
        buffer, handle, place = self._buffers[descriptor]
        packet = received(self.process, peer.rank, buffer,
                          self.process.memory.word(place) & LENGTH, peer.credits,
                          partial(self._post_receive, peer, descriptor, handle, True))
        await self._port.settle()
        if not peer.used:
            await self._used(peer)
        if packet is None:
            await self._post_receive(peer, descriptor, handle)
        if packet is not None or waits:
            return packet


@pytest.mark.parametrize("channel", ["via", "via in the kernel", "via in firmware"])
@pytest.mark.parametrize("knobs", [{}, {"cpu__clock_mhz": 100, "mpi__eager": 100, **{
    name.replace(".", "__"): value for name, value in FAULTS.items()}}], ids=["sound", "faults"])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_look_is_that_of_calls(channel: str, knobs: dict[str, Any], seed: int,
                                 monkeypatch: pytest.MonkeyPatch) -> None:
    """Block by block, at the same cycles, with the same marks."""
    if channel == "via in firmware" and knobs:
        knobs = {"cpu__clock_mhz": 100}
    runs = []
    for next_packet in (ViaChannel._next, by_calls):
        monkeypatch.setattr(ViaChannel, "_next", next_packet)
        target = Written(describe(channel, 3, **knobs))
        main = random_program(seed, 3, 12, [0, 8, 300, 3000])
        runtime = target.run(ranks(main, 3, channel), limit=LIMIT)
        runs.append((target.given, runtime.marks, runtime.wakes, runtime.results))
    assert len(runs[0][0]) > 300 and runs[0] == runs[1]


@pytest.mark.parametrize("channel", ["via", "gm"])
def test_data_may_begin_anywhere_and_be_as_long_as_a_packet(channel: str) -> None:
    """Packets, and data, that are in one page, and others."""
    sizes = [1, 2008, 2016, 2017, 3000, PAGE - 24, PAGE, PAGE + 1, 7000]
    places = [0, 8, 1000, PAGE - 1, PAGE]

    async def main(mpi: Any) -> None:
        comm, peer = mpi.COMM_WORLD, 1 - mpi.rank
        whole = mpi.empty(4 * PAGE, np.uint8)
        first = -mpi.buffers.data(whole, "").pieces[0][0] % PAGE
        for tag, (size, place) in enumerate([(one, at) for one in sizes for at in places]):
            part = whole[first + place:first + place + size]
            if mpi.rank == 0:
                part[:] = pattern(size, tag)
                await comm.Send(part, peer, tag)
            else:
                whole[:] = 0xAA
                await comm.Recv(part, peer, tag)
                assert (part == pattern(size, tag)).all(), (size, place)
                part[:] = 0xAA
                assert (whole == 0xAA).all()

    description = describe(channel, mpi__buffer_bytes=8192, mpi__eager=8000)
    Model(description).run(ranks(main, 2, channel), limit=LIMIT)
