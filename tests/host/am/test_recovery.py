"""How Active Messages recover: one chosen packet is lost, and what follows is counted."""

import pytest
from nicbed.host.am import Gam, PeerGone, wire
from nicbed.host.am.sending import Sending
from nicbed.layouts.am import AM_HEADER
from nicbed.layouts.packet import HEADER

from tests.models.target import Model
from tests.programs.am import describe

LATE = 50_000
"""A time-out, in cycles, that no test here should have to wait for unless it says so."""


def kind_of(data):
    return AM_HEADER.get(int.from_bytes(data[8:16], "little"), "kind")


class Loser:
    """Loses the packets of ``kinds`` whose places among them are in ``places``."""

    def __init__(self, kinds, *places):
        self.kinds, self.places = kinds, places
        self.seen = 0

    def __call__(self, data):
        if kind_of(data) not in self.kinds:
            return False
        self.seen += 1
        return self.seen - 1 in self.places


async def serve(node, am):
    """Answer others until they are through."""
    await am.enable()
    await am.disable()
    return am.counters


def exchange(count, losers, *, settings=None, replies=True, sleep=0, linger=0):
    """Node 0 sends ``count`` requests to node 1, whose handler replies or leaves it to the layer.
    Both nodes' counters, handlers checked, and the cycle at which all was answered. Node 1 sleeps
    for a while first; node 0 polls for a while at the end."""
    got, answered, ended = [], [], []

    def ask(am, source, number):
        got.append(number)
        return am.reply(1, number) if replies else None

    async def asks(node):
        am = Gam(node, [ask, lambda am, source, number: answered.append(number)])
        await am.enable()
        for number in range(count):
            await am.request(1, 0, number)
        await am.wait(lambda: am.peers[1].credits == 75)
        ended.append(node.port.cycle)
        while node.port.cycle < ended[0] + linger:
            await node.port.delay(100)
            await am.poll()
        await am.disable()
        return am.counters

    async def answers(node):
        am = Gam(node, [ask])
        await am.enable()
        await node.port.delay(sleep)
        await am.disable()
        return am.counters

    model = Model(describe({"am.retry_timeout": LATE, **(settings or {})}))
    for node, loser in losers.items():
        model.nics[node].lose = loser
    runtime = model.run([asks, answers], limit=40 * LATE)
    assert got == list(range(count))
    assert answered == (got if replies else [])
    return *runtime.results, ended[0]


def test_without_a_loss_nothing_is_sent_twice():
    mine, other, cycle = exchange(60, {})
    for counters in (mine, other):
        assert counters["resent"] == counters["nacks"] == counters["timeouts"] == 0
    assert cycle < LATE / 4


def test_lost_request_comes_back_by_one_nack():
    """Long before a time-out, and though many packets out of sequence arrive meanwhile."""
    mine, other, cycle = exchange(40, {0: Loser({wire.K_REQUEST}, 5)})
    assert other["nacks"] == 1
    assert mine["timeouts"] == other["timeouts"] == 0
    assert 1 <= mine["resent"] < 40
    assert cycle < LATE / 4


def test_lost_reply_comes_back_by_one_nack():
    mine, other, cycle = exchange(40, {1: Loser({wire.K_REPLY}, 5)})
    assert mine["nacks"] == 1
    assert mine["timeouts"] == other["timeouts"] == 0
    assert 1 <= other["resent"] < 40
    assert cycle < LATE / 4


def test_lost_null_reply_comes_back():
    mine, other, cycle = exchange(40, {1: Loser({wire.K_NULL}, 5)}, replies=False)
    assert mine["nacks"] == 1 and cycle < LATE / 4


def test_lost_again_and_the_nack_lost_too():
    """A second NACK follows the second round; a lost NACK is made good by the time-out."""
    mine, other, cycle = exchange(40, {0: Loser({wire.K_REQUEST}, 5, 40)})
    assert cycle < LATE * 2
    mine, other, cycle = exchange(40, {0: Loser({wire.K_REQUEST}, 5),
                                       1: Loser({wire.K_NACK}, 0)})
    assert mine["timeouts"] == 1
    assert LATE < cycle < 2 * LATE


def test_lone_lost_request_comes_back_by_time_out():
    mine, other, cycle = exchange(1, {0: Loser({wire.K_REQUEST}, 0)})
    assert mine["timeouts"] == mine["resent"] == 1
    assert other["nacks"] == 0
    assert LATE < cycle < 1.5 * LATE


def test_where_one_was_lost_the_next_is_missed_sooner():
    """One request at a time: the first loss costs a time-out, each later one a round trip or two,
    as measured."""
    answered = []

    async def asks(node):
        am = Gam(node, [lambda am, source: None, lambda am, source: answered.append(source)])
        await am.enable()
        for number in range(20):
            await am.request(1, 0)
            await am.wait(lambda number=number: len(answered) > number)
        cycle = node.port.cycle
        await am.disable()
        return am.counters, cycle

    model = Model(describe({"am.retry_timeout": LATE}))
    model.nics[0].lose = Loser({wire.K_REQUEST}, 3, 9, 14, 18)
    (mine, cycle), _ = model.run(
        [asks, lambda node: serve(node, Gam(node, [lambda am, source: am.reply(1)]))],
        limit=40 * LATE).results
    assert mine["resent"] == mine["timeouts"] == 4
    assert LATE < cycle < 1.5 * LATE


def test_what_is_sent_again_is_asked_for_at_once():
    """One time-out finds the first loss; a probe behind each repetition finds the next."""
    mine, _, cycle = exchange(1, {0: Loser({wire.K_REQUEST}, 0, 1, 2)})
    assert mine["timeouts"] == 1 and mine["resent"] == 3
    assert LATE < cycle < 1.5 * LATE


def test_time_outs_back_off():
    """Probes are lost, too: each time-out is twice the one before."""
    mine, _, cycle = exchange(1, {0: Loser({wire.K_REQUEST, wire.K_PROBE}, 0, 1, 2)})
    assert mine["timeouts"] == 3 and mine["resent"] == 1
    assert 7 * LATE < cycle < 8 * LATE


def test_replies_are_acknowledged_at_a_quarter_of_their_window():
    """Before any deadline: no request goes that could carry the acknowledgements."""
    mine, _, cycle = exchange(75, {}, sleep=20_000)
    assert 3 <= mine["acks"] <= 5
    assert cycle < 20_000 + LATE / 4


def test_owed_acknowledgement_goes_before_the_other_sends_again():
    """A lone reply: no quarter, nothing to ride on; its acknowledgement goes by itself."""
    async def asks(node):
        got = []
        am = Gam(node, [lambda *_: None, lambda *_: got.append(1)])
        await am.enable()
        await am.request(1, 0)
        await am.wait(lambda: got)
        for _ in range(500):
            await node.port.delay(100)
            await am.poll()
        return am.counters

    async def answers(node):
        am = Gam(node, [lambda am, source: am.reply(1)])
        await am.enable()
        await am.wait(lambda: am.peers[0].reply.next == 1)
        await am.wait(lambda: not am.peers[0].open())
        return am.counters, node.port.cycle

    mine, (other, cycle) = Model(describe({"am.retry_timeout": LATE})).run(
        [asks, answers], limit=40 * LATE).results
    assert mine["acks"] == 1
    assert other["timeouts"] == other["probes"] == 0
    assert cycle < LATE / 2


def test_lost_acknowledgements_are_asked_for():
    """The acknowledgements of all replies, and of the peer's BYE, are lost: an answer to a probe
    brings them, and nothing is sent again."""
    mine, other, _ = exchange(75, {0: Loser({wire.K_ACK}, *range(6))}, sleep=20_000,
                              linger=4 * LATE)
    assert mine["duplicates"] == other["resent"] == 0
    assert other["timeouts"] >= 1


@pytest.mark.parametrize("replies", [True, False])
def test_no_handler_runs_twice(replies):
    """Every packet comes twice."""
    _, other, _ = exchange(20, {}, replies=replies, settings={"faults.duplicate": 1.0})
    assert other["duplicates"] >= 20


def transfer(length, losers, settings=None):
    """Node 0 stores ``length`` bytes at node 1: counters, and the cycle at which it returned."""
    data = bytes(place * 37 & 255 for place in range(length))
    landed, ended = [], []

    async def stores(node):
        am = Gam(node)
        source = node.allocate(length)
        node.memory.write(source, data)
        await am.enable()
        await am.store(1, source, 0x40000, length, 0)
        ended.append(node.port.cycle)
        await am.disable()
        return am.counters

    def handler(am, source, address, size, argument):
        landed.append(am.memory.read(address, size) == data)

    model = Model(describe({"am.retry_timeout": LATE, **(settings or {})}))
    for node, loser in losers.items():
        model.nics[node].lose = loser
    runtime = model.run([stores, lambda node: serve(node, Gam(node, [handler]))], limit=40 * LATE)
    assert landed == [True]
    return *runtime.results, ended[0]


CHUNKS = {"am.chunk_packets": 4, "am.chunks": 2, "nic.mtu": 256}


def test_each_bulk_chunk_is_acknowledged():
    """The window is two chunks, so a long store would stand still without."""
    mine, other, cycle = transfer(256 * 40, {}, CHUNKS)
    assert 40 // 4 <= other["acks"] <= 40 // 4 + 3
    assert mine["resent"] == 0 and cycle < LATE / 2


def test_lost_bulk_packet_comes_back_by_one_nack():
    mine, other, cycle = transfer(256 * 40, {0: Loser({wire.K_STORE}, 9)}, CHUNKS)
    assert other["nacks"] == 1 and mine["timeouts"] == 0
    assert 1 <= mine["resent"] <= 8
    assert cycle < LATE / 2


def test_no_bulk_packet_counts_twice():
    """Every packet comes twice."""
    _, other, _ = transfer(256 * 8, {}, {**CHUNKS, "faults.duplicate": 1.0})
    assert other["duplicates"] >= 8


@pytest.mark.parametrize("chunks", [1, 2, 3])
def test_no_more_bulk_packets_in_flight_than_the_window(chunks):
    """While the receiver does not look, its whole window is sent, and not one packet more."""
    async def stores(node):
        am = Gam(node)
        await am.enable()
        await am.store_async(1, 64, 0x40000, 256 * 40, None)
        for _ in range(50):
            await am.poll()
            await node.port.delay(100)
        return am.peers[1].bulk.sent

    async def sleeps(node):
        await Gam(node).enable()

    sent, _ = Model(describe({"am.retry_timeout": LATE, **CHUNKS, "am.chunks": chunks})).run(
        [stores, sleeps], limit=LATE).results
    assert sent == 4 * chunks


def test_probe_finds_what_a_silent_program_lost():
    """A program that polls by itself, the time-out far: after am.keep_alive_polls empty polls a
    probe goes; its answer says that what was sent before it is lost."""
    async def asks(node):
        got = []
        am = Gam(node, [lambda *_: None, lambda *_: got.append(1)])
        await am.enable()
        await am.request(1, 0)
        polls = 0
        while not got:
            await am.poll()
            polls += 1
        cycle = node.port.cycle
        await am.disable()
        return am.counters, cycle, polls

    model = Model(describe({"am.retry_timeout": 1_000_000, "am.keep_alive_polls": 60}))
    model.nics[0].lose = Loser({wire.K_REQUEST}, 0)
    (mine, cycle, polls), _ = model.run(
        [asks, lambda node: serve(node, Gam(node, [lambda am, source: am.reply(1)]))],
        limit=5_000_000).results
    # The second probe follows what was sent again.
    assert mine["probes"] == 2 and mine["resent"] == 1 and mine["timeouts"] == 0
    assert 60 < polls < 150 and cycle < 50_000


def test_peer_that_acknowledges_and_falls_silent_is_gone():
    """Nothing is open to it, but its reply never comes: probes go, am.retries of them in vain."""
    acknowledged = []

    def lose(data):
        if kind_of(data) == wire.K_ACK and not acknowledged:
            acknowledged.append(data)
            return False
        return True

    async def asks(node):
        am = Gam(node, [lambda *_: None])
        await am.enable()
        await am.request(1, 0)
        with pytest.raises(PeerGone, match="node 1 is gone"):
            await am.wait(lambda: False)
        return am.counters, node.port.cycle

    async def answers(node):
        am = Gam(node, [lambda *_: None])
        await am.enable()
        with pytest.raises(PeerGone):
            await am.wait(lambda: False)

    model = Model(describe({"am.retry_timeout": 2000, "am.retries": 3}))
    model.nics[1].lose = lose
    (counters, cycle), _ = model.run([asks, answers], limit=1_000_000).results
    assert acknowledged
    assert counters["probes"] == counters["timeouts"] == 5
    assert cycle < 80_000


def test_an_answer_without_room_stays_owed(monkeypatch):
    """The probe's answer finds no room, and a request that carries the acknowledgements goes
    before there is some: the answer still comes, long before the next time-out."""
    refused, got = [], []
    control = Sending.control

    async def full(sending, peer, word, low=0):
        if sending.node.number == 1 and word & wire.ANSWER and not refused:
            refused.append(word)
            return False
        return await control(sending, peer, word, low)

    monkeypatch.setattr(Sending, "control", full)

    async def asks(node):
        am = Gam(node, [lambda *_: got.append(node.number)])
        await am.enable()
        await am.request(1, 0)
        await am.wait(lambda: am.peers[1].credits == 75)
        cycle = node.port.cycle
        await am.disable()
        return am.counters, cycle

    async def answers(node):
        am = Gam(node, [lambda *_: got.append(node.number)])
        await am.enable()
        while not refused:
            await node.port.delay(100)
            await am.poll()
        await am.request(0, 0)
        await am.disable()

    model = Model(describe({"am.retry_timeout": LATE}))
    model.nics[0].lose = Loser({wire.K_REQUEST}, 0)
    (counters, cycle), _ = model.run([asks, answers], limit=40 * LATE).results
    assert sorted(got) == [0, 1] and refused
    assert counters["timeouts"] == counters["resent"] == 1
    assert LATE < cycle < 1.5 * LATE


@pytest.mark.parametrize("dead", [False, True])
def test_a_stream_to_one_peer_hides_no_loss_on_the_way_to_another(dead):
    """The last bulk packet to node 2 is lost, or all are, while bulk packets to node 1 never end:
    a time-out finds out, though the NIC is never without work."""
    timeout, found = 5000, []

    async def streams(node):
        am = Gam(node, [lambda *_: None])
        source, ended = node.allocate(9000), [0]

        def end(am, argument):
            ended[0] += 1

        await am.enable()
        await am.store_async(2, source, source, 3000, None, 0,
                             lambda am, argument: found.append(node.port.cycle))
        begun = 0
        try:
            while not found:
                assert node.port.cycle < 400 * timeout, "the loss was never found"
                if begun - ended[0] < 6:
                    await am.store_async(1, source, source, 9000, None, 0, end)
                    begun += 1
                else:
                    await am.poll()
        except PeerGone as gone:
            assert dead and gone.peer == 2
            found.append(node.port.cycle)
        await am.disable()
        return am.counters["resent"]

    async def receives(node):
        am = Gam(node, [lambda *_: None])
        node.allocate(9000)
        try:
            await serve(node, am)
        except PeerGone as gone:
            assert dead and node.number == 2 and gone.peer == 0

    stored = Loser({wire.K_STORE}, 2)

    def lose(data):
        if HEADER.get(int.from_bytes(data[:8], "little"), "destination") != 2:
            return False
        return dead or stored(data)

    model = Model(describe({"fabric.nodes": 3, "am.retry_timeout": timeout, "am.retries": 4}))
    model.nics[0].lose = lose
    results = model.run([streams, receives, receives], limit=1000 * timeout).results
    if dead:
        assert timeout < found[0] < 400 * timeout
    else:
        assert results[0] == 1
        assert timeout < found[0] < 8 * timeout
