"""Active Messages by a message processor, a second CPU of each node: on the functional target and
in a simulator."""

import shutil
from typing import Any

import pytest
from nicbed.host.am import Gam
from nicbed.host.am import costs as paths
from nicbed.host.port.costs import Costs
from nicbed.layouts.trace import TICKS, Activity

from tests.host.am.test_costs import spans_of
from tests.host.am.test_firmware import RATES
from tests.host.am.test_target import RATES as HARD_RATES
from tests.host.am.test_target import faulty
from tests.host.am.test_target import run as run_on_target
from tests.models.spent import cpu_cycles
from tests.models.target import Model
from tests.programs import am as scenarios
from tests.programs.am import FAULTY, Scenario, answering, describe

WAY = {"node.cpus": 2, "nic.attachment": "local_bus", "via.design": "kernel",
       "am.message_processor": "cpu"}
icarus = pytest.mark.skipif(not shutil.which("iverilog"), reason="no Icarus: apt install iverilog")


def second(spans, activity):
    """The second of two: the first message finds a room that was read when the layer began."""
    chosen = [span for span in spans if span[0] == activity]
    assert len(chosen) == 2
    return chosen[1]


def run(scenario: Scenario, **settings: Any) -> Model:
    model = Model(describe(WAY, scenario.structure, scenario.settings, settings))
    scenario.check(model.run(scenario.programs, limit=10_000_000).results)
    assert not any(nic.registers["send_refused"] for nic in model.nics), "send window overrun"
    return model


@pytest.mark.parametrize("scenario", [
    scenarios.echo_words(), scenarios.in_order(400), scenarios.in_order(30, words=4, window=2),
    scenarios.in_order(20, nodes=3), scenarios.bulk((0, 1, 8, 1021, 1024, 1027, 5003)),
    scenarios.mixed(20), scenarios.itself(), scenarios.misuse(), scenarios.keep_alive()],
    ids=["words", "in order", "window 2", "three nodes", "bulk", "mixed", "itself", "misuse",
         "keep-alive"])
def test_scenarios(scenario):
    run(scenario)


@pytest.mark.parametrize("rate", RATES)
def test_nothing_is_lost(rate):
    run(scenarios.in_order(80, settings={**FAULTY, **RATES[rate]}))
    run(scenarios.bulk((0, 100, 3000), settings={**FAULTY, **RATES[rate]}))


@pytest.mark.parametrize("call", ["request", "store", "get", "disable"])
def test_a_lost_peer_is_an_error(call):
    run(scenarios.peer_gone(call))


@pytest.mark.parametrize("structure", [
    {"nic.receive_ring": 4, "nic.mtu": 64, "nic.send_fifo": 128, "nic.receive_fifo": 128,
     "nic.send_ring": 4}, {"cpu.line_bytes": 64}])
def test_little_room(structure):
    """Each of the loop's waits is met: for the send window, the send ring, and a free slot."""
    run(scenarios.in_order(100, work=2000, structure=structure))
    run(scenarios.mixed(10, structure=structure))


@pytest.mark.parametrize("work", [0, 3000])
def test_a_full_queue_holds_messages_back(work, monkeypatch):
    """With four lines the sender finds the next one taken, and waits for its flag."""
    monkeypatch.setattr("nicbed.host.am.message_queues.LINES", 4)
    monkeypatch.setattr("nicbed.host.am.message_processor.LINES", 4)
    slow = {"am.message_work": work, "am.retry_timeout": 1 << 24}
    run(scenarios.in_order(60), **slow)
    run(scenarios.mixed(4), **slow)


def test_the_loop_ends_with_the_programs():
    """A run ends in the cycle in which its last program ends, whatever the loops are doing."""
    ends = []

    async def program(node):
        await Gam(node, []).enable()
        await node.port.delay(500 * (node.number + 1))
        ends.append(await node.port.flush())
        return node.number

    model = Model(describe(WAY))
    runtime = model.run([program, program], limit=100_000)
    assert runtime.results == [0, 1] and max(ends) <= model.now <= max(ends) + 2


def test_a_layer_may_be_made_before_its_program_begins():
    def program(node):
        layer = Gam(node, [])

        async def main():
            await layer.enable()
            return node.number

        return main()

    assert Model(describe(WAY)).run([program, program], limit=100_000).results == [0, 1]


def test_no_layer_no_work():
    """The loop touches neither NIC nor memory until the layer is enabled."""

    async def program(node):
        return await node.port.pio_read(0x8000_0000)

    model = Model(describe(WAY))
    runtime = model.run([program, None], limit=100_000)
    assert runtime.results[0] == 0x6263696E and not runtime.ports[1].tally()["store"]


def test_a_program_on_its_cpu_is_refused():
    async def program(cpu):
        if not cpu.cpu:
            await Gam(cpu, []).enable()

    with pytest.raises(RuntimeError, match=r"its CPU 1 is the message processor \(am\.message_p"):
        Model(describe(WAY)).run([[program, program], None], limit=100_000)


@pytest.mark.parametrize("settings, text", [
    ({"node.cpus": 1}, "needs at least two CPUs a node"),
    ({"nic.processor": "picorv32"}, "a NIC without a processor")])
def test_what_it_needs(settings, text):
    with pytest.raises(ValueError, match=text):
        describe(WAY, settings)


@pytest.mark.parametrize("settings", [{}, {"nic.clock_mhz": 33, "cpu.clock_mhz": 450}])
@pytest.mark.parametrize("words", range(5))
def test_overheads_are_their_items_and_bus_operations(words, settings):
    """o_s and o_r of requests and replies: the named items and the operations, exactly. What the
    loop charges is its tally at its prices."""
    done = []

    async def asks(node):
        am = Gam(node, [lambda *_: None, lambda am, source, *args: done.append(args)])
        await am.enable()
        for count in (1, 2):
            await node.port.delay(2000)
            await node.port.flush()
            await am.request(1, 0, *range(words))
            await am.wait(lambda count=count: len(done) == count)

    description = describe(WAY, settings)
    runtime = Model(description).run([asks, answering(2, after=1000)], limit=1_000_000)
    costs = Costs(description)
    asked, answered = spans_of(runtime, 0), spans_of(runtime, 2)

    def ticks(*parts):
        return costs.ticks(sum(costs.cycles(part) for part in parts))

    check = costs.ticks(costs.price["poll_check"]) + TICKS
    line = 2 * TICKS  # of the model: a load or a store of a line
    second_line = line if words > 2 else 0
    room = ticks(paths.SPACE) + line
    o_s = second(asked, Activity.REQUEST_SEND)
    assert abs(o_s[4] - room - ticks(paths.REQUEST[words], paths.STORED_SLOT) - line) < 2
    handle = second(answered, Activity.REQUEST_HANDLE)
    # The flag of the line for the reply is read, and the slot's flag is cleared.
    assert abs(handle[4] - check - second_line - room - line
               - ticks(paths.REQUEST_HANDLE[words], paths.FREED)) < 2
    reply = second(answered, Activity.REPLY_SEND)
    assert abs(reply[4] - ticks(paths.REPLY[words], paths.STORED_SLOT) - line) < 1
    finish = second(asked, Activity.REPLY_HANDLE)
    assert abs(finish[4] - check - second_line - line
               - ticks(paths.REPLY_HANDLE[words], paths.FREED)) < 2
    for port in (runtime.ports[1], runtime.ports[3]):
        beats = 4 if words > 2 else 3
        assert port.paths() == {"message_start": 1, "message_out": 2, "message_room": 1,
                                "message_in": 2, "message_word": 2 * beats}
        assert port.tally()["message_work"] == 4
        assert cpu_cycles(port) == sum(port.costs.price[item] * count
                                      for item, count in port.tally().items())


def test_message_work_delays_each_message_twice():
    """Once at each end, each way."""
    def trip(work):
        async def asks(node):
            got = []
            am = Gam(node, [lambda am, source: am.reply(1), lambda am, source: got.append(1)])
            await am.enable()
            begin = await node.port.flush()
            for number in range(20 * (1 - node.number)):
                await am.request(1, 0)
                await am.wait(lambda number=number: len(got) > number)
            end = node.port.cycle
            await am.disable()
            return end - begin

        return Model(describe(WAY, {"am.message_work": work, "cpu.clock_mhz": 66})).run(
            [asks, asks], limit=1_000_000).results[0]

    assert abs(trip(100) - trip(0) - 20 * 4 * 100) < 20 * 40


@pytest.mark.full
def test_in_a_simulator():
    """Nothing is lost, with and without faults; the queues wrap several times."""
    bulk = ("bulk", {"settings": {**FAULTY, **HARD_RATES["all"]}})
    run_on_target(describe(WAY), [
        ("echo_words", {}), ("itself", {}), ("keep_alive", {}), ("bulk", {}),
        ("in_order", {"count": 260}), ("mixed", {"rounds": 10}), ("peer_gone", {"call": "store"}),
        *faulty(120, ["drop", "all"]), bulk])


@pytest.mark.full
@icarus
def test_same_cycles_on_icarus():
    jobs = [("echo_words", {}), ("bulk", {"sizes": (0, 1, 1027)}),
            ("in_order", {"count": 20, "settings": {**FAULTY, **HARD_RATES["all"]}})]
    assert run_on_target(describe(WAY), jobs) == run_on_target(describe(WAY), jobs, "icarus")
