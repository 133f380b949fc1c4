"""The kernel-trap design point: calls that do not block see to time-outs; a disconnection settles.
"""

from collections import deque
from fractions import Fraction

import pytest
from nicbed.host.via import VIP_RETURN, ErrorCode
from nicbed.layouts.packet import Protocol

from tests.labs.kernel_trap import OK, QUICK, RD, RELIABLE, UD, run_pair
from tests.models.target import Model
from tests.programs.am import describe
from tests.programs.vipl import SMALL, Side


def first_message():
    """A rule for ModelNic.lose: the first packet of Protocol.VIA."""
    lost = []

    def rule(data):
        if data[6] != Protocol.VIA or lost:
            return False
        lost.append(data)
        return True
    return rule


@RELIABLE
@pytest.mark.parametrize("call", ["VipSendDone", "VipRecvDone", "VipSendWait"])
def test_calls_on_empty_queues_send_again(level, call):
    """The only packet is lost; its sender asks for what it has not posted, and nothing else."""
    arrived = []

    async def receiver(side):
        await side.receive(0, [side.at(8192, 100)])
        await side.connect(True)
        result, done = await side.received()
        arrived.append((result, done.length, side.port.cycle))
        await side.linger(50_000)

    async def sender(side):
        await side.connect(False)
        await side.linger(20_000)
        await side.send(0, [side.at(8192, 100)])
        begin = side.port.cycle
        if level is RD:
            assert (await side.sent())[0] is OK
        vi = side.vi if level is RD or call == "VipRecvDone" else await side.endpoint()
        arguments = (vi, None) if call == "VipSendWait" else (vi,)
        while not arrived:
            result, va = await getattr(side.vipl, call)(*arguments)
            assert (result, va) == (VIP_RETURN.DESCRIPTOR_ERROR, None)
            assert side.port.cycle < begin + 100 * QUICK["via.retry_timeout"]
        assert begin < arrived[0][2] < begin + 10 * QUICK["via.retry_timeout"]
        await side.linger(50_000)

    model = run_pair(receiver, sender, reliability=level, settings=QUICK,
                     lose={1: first_message()})
    assert arrived[0][:2] == (OK, 100)
    assert model.counters[1]["resent"] == 1


def test_what_had_no_room_leaves_in_other_calls():
    """More than the kernel's buffers hold, then only calls on another, empty queue."""
    got = []

    async def receiver(side):
        for index in range(12):
            await side.receive(64 * index, [side.at(8192, 1024)])
        await side.connect(True)
        while len(got) < 12:
            got.append((await side.received())[0])
        await side.linger(50_000)

    async def sender(side):
        await side.connect(False)
        await side.linger(20_000)
        other = await side.endpoint()
        for index in range(12):
            await side.send(64 * index, [side.at(8192, 1024)])
        begin = side.port.cycle
        while len(got) < 12:
            await side.vipl.VipRecvDone(other)
            assert side.port.cycle < begin + 1_000_000
        await side.linger(50_000)

    run_pair(receiver, sender, reliability=UD, settings={"via.window": 2, "via.send_slots": 4,
                                                        "nic.send_ring": 4})
    assert got == [OK] * 12


class Overtaking(deque):
    """What a NIC is to send, where packets of the send window go before those of the ring."""

    def append(self, item):
        at = len(self)
        if item[0] is not None:
            at = min((index for index, (data, *_) in enumerate(self) if data is None and index),
                     default=at)
        self.insert(at, item)


def test_disconnecting_waits_until_all_has_left():
    """Messages still in the send ring must not come to the next connection of the same VIs, though
    the kernel agents' own packets overtake them."""
    slow = {"link.bytes_per_cycle": Fraction(1, 16), "via.retry_timeout": 500_000}
    messages, length = 8, 1000

    async def server(node):
        side = await Side(node, UD).open()
        await side.connect()
        while ErrorCode.CONN_LOST not in side.errors:
            await side.vipl.VipQueryVi(side.vi)
        await side.vipl.VipDisconnect(side.vi)
        for index in range(messages):
            await side.receive(side.segment(1024 * (index % 4), 1024))
        await side.connect()
        result, va = await side.vipl.VipRecvWait(side.vi, None)
        assert (result, side.look(va).length) == (OK, 8)
        assert await side.vipl.VipRecvWait(side.vi, 3) == (VIP_RETURN.TIMEOUT, None)

    async def client(node):
        side = await Side(node, UD).open()
        model.nics[0].queue = Overtaking(model.nics[0].queue)
        await side.connect()
        for _ in range(messages):
            await side.send(side.segment(0, length))
        await side.vipl.VipDisconnect(side.vi)
        while side.vi.send.entries:
            await side.vipl.VipSendDone(side.vi)
        await side.connect()
        await side.send(side.segment(0, 8))
        assert (await side.vipl.VipSendWait(side.vi, None))[0] is OK
        for _ in range(300):
            await side.vipl.VipQueryVi(side.vi)

    model = Model(describe(SMALL, slow, {"via.design": "kernel"}))
    model.run([client, server], limit=10_000_000)
