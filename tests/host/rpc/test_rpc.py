"""RPC: calls and results, under faults; interrupts that break computation; errors, costs."""

import random

import pytest
from nicbed.host.port.costs import Costs
from nicbed.host.rpc import Rpc, RpcError, costs
from nicbed.layouts.description import Description
from nicbed.testbench.descriptions import load as descriptions
from nicbed.testbench.errors import UserError

from tests.programs.am import FAULTY, Scenario, describe, run_on_model

FAULTS = {**FAULTY, "faults.drop": 0.04, "faults.corrupt": 0.02, "faults.duplicate": 0.04,
          "faults.delay": 0.02}


def run(main, procedures=(), nodes=2, **settings):
    """``main(rpc)`` on all of ``nodes``, each with ``procedures``."""

    async def program(node):
        rpc = Rpc(node, procedures)
        await rpc.enable()
        found = await main(rpc)
        await rpc.disable()
        return found

    return run_on_model(Scenario([program] * nodes, lambda results: None,
                                 {"fabric.nodes": nodes}, settings))


def mixed(rpc, source, *words):
    """A procedure whose result tells caller, server and words apart."""
    return source, rpc.node.number, sum(words) & 0xFFFFFFFF


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("settings", [{}, FAULTS, {"am.credit": "ack"}],
                         ids=["default", "faults", "credits by ack"])
def test_each_call_gets_its_result_once(seed, settings):
    """Random calls of three nodes among one another, from loops, computation and waits."""
    async def main(rpc):
        me, plan, got, wanted = rpc.node.number, random.Random(seed), [], []
        plan.seed(seed * 10 + me)
        for number in range(40):
            server = plan.choice([node for node in range(3) if node != me])
            words = [plan.getrandbits(32) for _ in range(plan.randrange(4))]
            wanted.append((number, me, server, sum(words) & 0xFFFFFFFF))
            await rpc.call(server, 1, *words, then=lambda *result, number=number:
                           got.append((number, *result)))
            if plan.random() < 0.3:
                await rpc.compute(plan.randrange(20_000))
            if plan.random() < 0.2:
                await rpc.wait(lambda: not rpc.open)
        await rpc.wait(lambda: not rpc.open)
        return sorted(got) == wanted

    extra = {**settings, "faults.seed": seed} if settings is FAULTS else settings
    assert run(main, [lambda rpc, source: None, mixed], 3, **extra).results == [True] * 3


def test_computation_is_broken_by_interrupts_and_is_as_long_as_asked():
    """Node 1 computes, and answers meanwhile; what it spends on messages comes on top."""
    calls, length = 5, 200_000
    spent = []

    async def main(rpc):
        begin = await rpc.port.flush()
        if rpc.node.number == 1:
            await rpc.compute(length)
            spent.append(await rpc.port.flush() - begin)
            return None
        answered = []
        for number in range(calls):
            await rpc.call(1, 0, then=lambda: answered.append(1))
            await rpc.wait(lambda number=number: len(answered) > number)
        return await rpc.port.flush() - begin

    trips = run(main, [lambda rpc, source: ()]).results[0]
    assert trips < length / 2
    once = sum(Costs(Description()).cycles(path) for path in (
        costs.INPUT, costs.TAKE, costs.DECODE, costs.CALL, costs.OUTPUT))
    cpu = Description()
    each = once * float(cpu.nic.clock_mhz / cpu.cpu.clock_mhz)
    assert calls * each < spent[0] - length < calls * (each + 250)


@pytest.mark.parametrize("waits", [True, False])
def test_a_call_before_a_late_clear_interrupts_again(waits):
    """The interrupt is cleared by a posted write, on a bus that is slow to take it, and two nodes
    call. If the second call raised no interrupt, the server would handle it after a time-out, or
    when it has computed."""
    calls, long = 20, 3_000_000

    async def main(rpc):
        draw = random.Random(100 + rpc.node.number)
        if rpc.node.number == 1:
            if not waits:
                await rpc.compute(long // 2)
            return 0
        trips = []
        for _ in range(calls):
            await rpc.port.delay(draw.randrange(3000))
            begin = await rpc.port.flush()
            await rpc.call(1, 0)
            await rpc.wait(lambda: not rpc.open)
            trips.append(await rpc.port.flush() - begin)
        return max(trips)

    trips = run(main, [lambda rpc, source: ()], 3, **{
        "bus.pio_write": 20, "cpu.path_scale": 0, "am.retry_timeout": long}).results
    assert max(trips) < 100_000


def test_a_late_clear_of_a_nic_whose_layer_does_not_sleep():
    """One CPU has two NICs and waits in the layer of the first. Both calls come to the second,
    whose clear is posted in the handler of its interrupt."""
    long = 3_000_000

    def trips(gap):
        served = []

        def note(rpc, source):
            served.append(source)

        async def server(node):
            layers = [Rpc(node.nic(number), [note]) for number in range(2)]
            for layer in layers:
                await layer.enable()
            await layers[0].wait(lambda: len(served) == 2)
            await node.port.delay(20_000)  # until the results have left
            await node.port.flush()

        async def client(node):
            layer = Rpc(node.nic(1), [note])
            await layer.enable()
            await node.port.delay(20_000 - await node.port.flush() + gap * (node.number == 2))
            begin = await node.port.flush()
            await layer.call(1, 0)  # NIC 1 of node 0
            await layer.wait(lambda: not layer.open)
            return await node.port.flush() - begin

        scenario = Scenario([server, client, client], lambda results: None, {
            "fabric.nodes": 3, "node.nics": 2, "bus.pio_write": 20, "cpu.path_scale": 0,
            "am.retry_timeout": long}, {})
        return run_on_model(scenario).results[1:]

    assert max(max(trips(gap)) for gap in range(0, 400, 10)) < 100_000


def test_without_messages_it_is_exact():
    async def main(rpc):
        begin = await rpc.port.flush()
        await rpc.compute(12_345)
        return await rpc.port.flush() - begin

    first, second = run(main).results
    assert 12_345 <= first < 12_345 + 100 and 12_345 <= second < 12_345 + 100


@pytest.mark.parametrize(("act", "message"), [
    (lambda rpc: rpc.call(1, 256), "call: procedure 256: must be 0 to 255"),
    (lambda rpc: rpc.call(1, 0, 1, 2, 3, 4), "call: 4 words: must be at most 3")])
def test_misuse_is_refused(act, message):
    async def main(rpc):
        with pytest.raises(RpcError, match=message):
            await act(rpc)

    run(main)


@pytest.mark.parametrize(("procedures", "message"), [
    ([], "node 0 called procedure 0 of node 1, which has 0"),
    ([lambda rpc, source: (1, 2, 3, 4)], "a result of 4 words: must be at most 3")])
def test_a_server_says_what_is_wrong(procedures, message):
    async def main(rpc):
        if rpc.node.number == 0:
            await rpc.call(1, 0)
            await rpc.wait(lambda: not rpc.open)

    with pytest.raises(RpcError, match=message):
        run(main, procedures)


def test_too_many_procedures():
    async def program(node):
        with pytest.raises(RpcError, match="257 procedures: there may be 256"):
            Rpc(node, [None] * 257)

    run_on_model(Scenario([program] * 2, lambda results: None))


def test_a_nic_without_the_rings_interrupt_is_refused():
    with pytest.raises(UserError, match="layer rpc takes interrupts of the NIC's receive ring"):
        descriptions.for_layer(descriptions.load("default", ["nic.processor=serv"]), "rpc")
    with pytest.raises(UserError, match="nic.send_ring = 0: layer rpc needs a send ring"):
        descriptions.for_layer(descriptions.load("default", ["nic.send_ring=0"]), "rpc")


def test_the_kernel_is_in_both_ways():
    """Hundreds of instructions in the library, more than a thousand in the kernel, with its
    entries and interrupts apart."""
    free = Costs(describe({"cpu.trap": 0, "cpu.interrupt": 0}))
    full = Costs(Description())
    for path in (costs.CALL, costs.DECODE):
        assert 100 < free.cycles(path) < 1000
    assert 1000 < free.cycles(costs.OUTPUT) + free.cycles(costs.TAKE) < 5000
    assert full.cycles(costs.OUTPUT) - free.cycles(costs.OUTPUT) == Description().cpu.trap
    assert full.cycles(costs.INPUT) - free.cycles(costs.INPUT) == Description().cpu.interrupt
