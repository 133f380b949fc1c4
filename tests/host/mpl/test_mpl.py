"""MPL: matching against a model, under faults; unexpected messages, wildcards, errors, costs."""

import inspect

import pytest
from nicbed.host.mpl import DONTCARE, Mpl, MplError, Status, costs
from nicbed.host.port.costs import Costs, Path

from tests.models.spent import cpu_cycles
from tests.models.target import Model
from tests.programs.am import FAULTY, describe, pattern, run_on_model
from tests.programs.mpl import ACK, SIZES, random_messages, scenario

FAULTS = {**FAULTY, "faults.drop": 0.04, "faults.corrupt": 0.02, "faults.duplicate": 0.04,
          "faults.delay": 0.02}


def run(main, nodes=2, **settings):
    return run_on_model(scenario(main, nodes, settings=settings))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("settings", [{}, ACK, {"mpl.eager_bytes": 16}],
                         ids=["default", "ack", "short eager messages"])
def test_random_messages(seed, settings):
    run_on_model(random_messages(seed, settings=settings))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("settings", [{}, ACK], ids=["default", "ack"])
def test_random_messages_under_faults(seed, settings):
    run_on_model(random_messages(seed, 30, settings={**FAULTS, **settings, "faults.seed": seed}))


@pytest.mark.parametrize("size", SIZES)
def test_blocking_both_ways(size):
    """Data arrives whole, nothing beside it is written, and the source may be reused at once."""
    async def main(mpl):
        node, peer = mpl.node, 1 - mpl.node.number
        source, target = node.allocate(size + 8), node.allocate(size + 8)
        for turn in range(4):
            node.memory.write(target, b"\xaa" * (size + 8))
            node.memory.write(source, pattern(size, turn))
            if node.number == 0:
                await mpl.mp_bsend(source, size, peer, turn)
                node.memory.write(source, bytes(size))
            status = await mpl.mp_brecv(target, size, peer, turn)
            assert status == Status(peer, turn, size)
            assert node.memory.read(target, size + 8) == pattern(size, turn) + b"\xaa" * 8
            if node.number == 1:
                await mpl.mp_bsend(source, size, peer, turn)
                node.memory.write(source, bytes(size))

    run(main)


def test_unexpected_messages_are_kept_and_taken_by_type_and_by_age():
    async def main(mpl):
        node = mpl.node
        place = node.allocate(4096)
        if node.number:
            handles = []
            for number in range(12):
                node.memory.write(place + 256 * number, pattern(200, number))
                handles.append(await mpl.mp_send(place + 256 * number, 200, 0, number % 3))
            for handle in handles:
                await mpl.mp_wait(handle)
            return None
        while len(mpl._matching.unexpected) < 12:
            await mpl.am.poll()
        seen = []
        for type in (2, 1, DONTCARE, 0, DONTCARE, DONTCARE, 2, DONTCARE, 1, 0, DONTCARE, 2):
            status = await mpl.mp_brecv(place, 200, DONTCARE, type)
            data = node.memory.read(place, 200)
            number = next(one for one in range(12) if data == pattern(200, one))
            assert status == Status(1, number % 3, 200)
            seen.append(number)
        return seen

    assert run(main).results[0] == [2, 1, 0, 3, 4, 5, 8, 6, 7, 9, 10, 11]


def test_any_source():
    async def main(mpl):
        place = mpl.node.allocate(64)
        if mpl.node.number:
            await mpl.mp_bsend(place, 20, 0, mpl.node.number)
            return None
        return sorted([await mpl.mp_brecv(place, 64) for _ in range(3)])

    assert run(main, nodes=4).results[0] == [Status(node, node, 20) for node in (1, 2, 3)]


def test_a_short_message_is_one_packet():
    """Beside acknowledgements: 100 messages of a word, and nothing comes back."""
    async def main(mpl):
        place = mpl.node.allocate(8)
        for number in range(100):
            if mpl.node.number == 0:
                await mpl.mp_bsend(place, 4, 1, number)
            else:
                await mpl.mp_brecv(place, 4, 0, number)

    case = scenario(main, settings=ACK)
    model = Model(describe(case.structure, case.settings))
    model.run(case.programs, limit=case.limit)
    sent = [nic.registers["packets_sent"] for nic in model.nics]
    assert 100 <= sent[0] <= 106 and sent[1] <= 14


@pytest.mark.parametrize(("act", "message"), [
    (lambda mpl: mpl.mp_bsend(0, 4, 2, 0), "mp_send: node 2: there are nodes 0 to 1"),
    (lambda mpl: mpl.mp_bsend(0, 4, 1, 1 << 24), "mp_send: type 16777216: must be 0 to 16777215"),
    (lambda mpl: mpl.mp_bsend(-8, 4, 1, 0), "mp_send: 4 bytes at -0x8 are not in the"),
    (lambda mpl: mpl.mp_brecv(0, 1 << 40), "mp_recv: 1099511627776 bytes at 0x0 are not in"),
    (lambda mpl: mpl.mp_brecv(0, 4, -2), "mp_recv: node -2: there are nodes 0 to 1, and DONTCARE"),
    (lambda mpl: mpl.mp_brecv(0, 4, 1, -2), "mp_recv: type -2: must be 0 to 16777215"),
    (lambda mpl: mpl.mp_wait(77), "message 77: there is none, or it was waited for")])
def test_misuse_is_refused(act, message):
    async def main(mpl):
        with pytest.raises(MplError, match=message):
            await act(mpl)

    run(main)


def test_a_message_longer_than_its_receive_is_an_error():
    async def sends(node):
        mpl = Mpl(node)
        await mpl.enable()
        await mpl.mp_send(0, 9, 0, 5)

    async def receives(node):
        mpl = Mpl(node)
        await mpl.enable()
        with pytest.raises(MplError, match="node 1 sent node 0 9 bytes of type 5, and the receive "
                                           "has room for 8"):
            await mpl.mp_brecv(4096, 8)

    Model(describe()).run([receives, sends], limit=1_000_000)


def test_a_receive_that_nobody_waited_for_is_an_error():
    async def main(mpl):
        handle = await mpl.mp_recv(4096, 8)
        with pytest.raises(MplError, match="disable: 1 receives of node . were not waited for"):
            await mpl.disable()
        await mpl.mp_bsend(0, 4, mpl.node.number, 1)
        await mpl.mp_wait(handle)

    run(main)


def test_every_path_has_the_factor_of_mpl_and_is_charged():
    """A round of all ways charges every path; cpu.path_scale does not change them. All counts
    at their prices are what each port charged."""
    async def main(mpl):
        place = mpl.node.allocate(8192)
        peer = 1 - mpl.node.number
        mpl.mp_environ()
        for size in (4, 100, 4000):
            handles = [await mpl.mp_send(place, size, peer, 1) for _ in range(4)]
            await mpl.mp_status(handles[0])
            for _ in range(4):
                await mpl.mp_brecv(place, size, peer)
            for handle in handles:
                await mpl.mp_wait(handle)
        return mpl.port.paths()

    paths = [value for _, value in inspect.getmembers(costs) if isinstance(value, Path)]
    runtime = run(main, **{"mpl.path_scale": 3, "cpu.path_scale": 2})
    for charged in runtime.results:
        assert {path.name for path in paths} <= set(charged)
    prices = Costs(describe({"mpl.path_scale": 3, "cpu.path_scale": 2}))
    for port in runtime.ports:
        whole = sum(charge.count * prices.cycles(path, 3 if path in paths else None)
                    for charge in port._charges for path in charge.paths)
        whole += sum(prices.price[item] * count for item, count in port._items.items())
        whole += port.tally()["poll_check"] * prices.price["poll_check"]
        assert cpu_cycles(port) == whole
