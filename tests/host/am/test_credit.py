"""Credits that acknowledgements return (am.credit = ack): packets, order, faults, no deadlock."""

import pytest
from nicbed.host.am import Gam, PeerGone, wire

from tests.host.am.test_recovery import Loser, kind_of
from tests.labs.rows import more
from tests.models.target import Model
from tests.programs import am as scenarios
from tests.programs.am import FAULTY, describe, run_on_model
from tests.programs.splitc import scenario

ACK = {"am.credit": "ack"}
FAULTS = {"faults.drop": 0.05, "faults.corrupt": 0.03, "faults.duplicate": 0.05,
          "faults.delay": 0.02}


class Counter:
    """Loses nothing, and counts packets by kind."""

    def __init__(self):
        self.seen = {}

    def __call__(self, data):
        kind = kind_of(data)
        self.seen[kind] = self.seen.get(kind, 0) + 1
        return False


def counted(programs, settings, nodes=2):
    """The packets of each node by kind, and the results."""
    model = Model(describe({"fabric.nodes": nodes, **settings}))
    counters = [Counter() for _ in range(nodes)]
    for nic, counter in zip(model.nics, counters, strict=True):
        nic.lose = counter
    runtime = model.run(programs, limit=10_000_000)
    return [counter.seen for counter in counters], runtime.results


def one_way(count):
    """Node 0 sends ``count`` requests that nobody replies to."""
    got = []

    async def sends(node):
        am = Gam(node, [lambda am, source, number: got.append(number)])
        await am.enable()
        for number in range(count):
            await am.request(1, 0, number)
        await am.disable()
        return am.counters

    async def takes(node):
        am = Gam(node, [lambda am, source, number: got.append(number)])
        await am.enable()
        await am.disable()
        return am.counters

    return [sends, takes], got


def test_a_request_without_reply_is_one_packet():
    """Explicit acknowledgements come at a quarter of the window, 19; with replies as credits there
    is a null reply for each request."""
    programs, got = one_way(190)
    (mine, other), _ = counted(programs, ACK)
    assert got == list(range(190))
    assert mine[wire.K_REQUEST] == 190
    assert other.get(wire.K_NULL, 0) == 1, "it answers the end of requests, and nothing else"
    assert 10 <= other[wire.K_ACK] <= 12
    programs, got = one_way(190)
    (mine, other), _ = counted(programs, {})
    assert other[wire.K_NULL] == 190


def test_requests_with_replies_need_no_acknowledgements():
    [(_, other), found] = counted(scenarios.in_order(300).programs, ACK)
    assert other[wire.K_REQUEST] == other[wire.K_REPLY] == 300
    assert other.get(wire.K_ACK, 0) < 300 // 19
    assert all(counters["refused"] == counters["nacks"] == 0 for *_, counters in found)


@pytest.mark.parametrize("reply", [True, False])
@pytest.mark.parametrize("window", [1, 2, 75, 120])
def test_every_handler_once_in_order(window, reply):
    run_on_model(scenarios.in_order(400, reply=reply, window=window, settings=ACK))


def test_many_nodes_that_nobody_replies_to():
    """All windows are full both ways."""
    run_on_model(scenarios.in_order(150, nodes=5, reply=False, settings=ACK))


def test_small_rings_and_fifos_push_back():
    small = {"nic.receive_ring": 4, "nic.send_ring": 4, "nic.mtu": 64, "nic.send_fifo": 128,
             "nic.receive_fifo": 128}
    for reply in (True, False):
        run_on_model(scenarios.in_order(200, nodes=3, reply=reply, work=2000, structure=small,
                                        settings=ACK))
    run_on_model(scenarios.mixed(20, structure=small, settings=ACK))


def test_bulk_and_mixtures():
    for asynchronous in (True, False):
        run_on_model(scenarios.bulk(asynchronous=asynchronous, settings=ACK))
    run_on_model(scenarios.mixed(nodes=3, settings=ACK))


@pytest.mark.parametrize("seed", [1, more(2)])
@pytest.mark.parametrize("reply", [True, False])
def test_faults(seed, reply):
    faults = {**ACK, **FAULTY, **FAULTS, "faults.seed": seed}
    run_on_model(scenarios.in_order(300, reply=reply, settings=faults))
    run_on_model(scenarios.in_order(150, window=3, reply=reply, settings=faults))


@pytest.mark.parametrize("seed", [1, 2])
def test_faults_bulk(seed):
    faults = {**ACK, **FAULTY, **FAULTS, "faults.seed": seed}
    run_on_model(scenarios.bulk(settings=faults))
    run_on_model(scenarios.mixed(30, nodes=3, settings=faults))


def test_acknowledged_requests_whose_replies_were_lost_do_not_overrun_the_reply_window():
    """All replies are lost for a while, but not the acknowledgements beside them: the replier
    drops the requests beyond its reply window, and takes them when they come again."""
    got, answered = [], []

    def ask(am, source, number):
        got.append(number)
        return am.reply(1, number)

    async def asks(node):
        am = Gam(node, [ask, lambda am, source, number: answered.append(number)])
        await am.enable()
        for number in range(60):
            await am.request(1, 0, number)
        await am.disable()
        return am.counters

    async def answers(node):
        am = Gam(node, [ask, lambda *_: None])
        await am.enable()
        await am.disable()
        return am.counters

    model = Model(describe({**ACK, "am.retry_timeout": 3000, "am.retries": 60,
                            "am.request_window": 4, "am.reply_window": 5}))
    model.nics[1].lose = Loser({wire.K_REPLY}, *range(40))
    runtime = model.run([asks, answers], limit=10_000_000)
    assert got == answered == list(range(60))
    assert runtime.results[1]["refused"] > 0


@pytest.mark.parametrize("call", ["request", "wait", "store", "get", "disable"])
def test_lost_peer_is_an_error_not_a_hang(call):
    lost = scenarios.peer_gone(call)
    lost.settings |= ACK
    run_on_model(lost)


@pytest.mark.parametrize("call", ["request", "store"])
def test_who_waits_for_a_peer_that_acknowledged_and_ended_is_told(call):
    """And who waits for one that lives is not, however long."""
    def programs(ends):
        got = []

        async def leaves(node):
            am = Gam(node, [lambda am, source, *args: got.append(args)])
            await am.enable()
            await am.wait(lambda: got)
            if not ends:
                await node.port.delay(5000)
                await am.request(0, 1)
                await am.disable()
            else:
                await am.request(0, 0)      # with an acknowledgement

        async def waits(node):
            done = []
            am = Gam(node, [lambda am, source: None, lambda am, source: done.append(source)])
            await am.enable()
            if call == "request":
                await am.request(1, 0)
            else:
                await am.store(1, 64, 64, 100, 0)
            await am.wait(lambda: done)
            await am.disable()
            return await node.port.flush()
        return [waits, leaves]

    settings = describe({**ACK, "am.retries": 3, "am.retry_timeout": 500})
    assert Model(settings).run(programs(False), limit=100_000).results[0] > 5000
    with pytest.raises(PeerGone, match="node 1 is gone"):
        Model(settings).run(programs(True), limit=100_000)


def test_split_c_stores_cost_one_packet():
    """Besides acknowledgements, one for 19 stores, and the packets of the collective calls."""
    async def main(sc):
        array = await sc.all_spread_malloc(2, "q")
        await sc.barrier()
        for value in range(stores):
            await sc.store(array[1 - sc.MYPROC], value)
        await sc.all_store_sync()
        return None

    packets = {}
    for stores in (0, 190):
        case = scenario(main, nodes=2)
        seen, _ = counted(case.programs, ACK)
        packets[stores] = [sum(one.values()) for one in seen]
    for none, many in zip(packets[0], packets[190], strict=True):
        assert many - none <= 190 + 190 / 19 + 4
