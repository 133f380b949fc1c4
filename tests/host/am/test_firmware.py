"""Active Messages over firmware, on the functional target: the real images, instruction by
instruction."""

import pytest
from nicbed.host.am import Gam
from nicbed.testbench.backends.model.processor import ModelProcessor

from tests.labs.rows import more
from tests.models.target import Model
from tests.programs import am as scenarios
from tests.programs import junk_slots
from tests.programs.am import FAULTY, Scenario, describe

CORE = {"nic.processor": "picorv32"}
UNCACHED = {"processor.host_access": "uncached"}
WAYS = {
    "doorbell queue": ({**CORE}, {}),
    "doorbell words": ({**CORE}, {"processor.doorbells": "words"}),
    "coherent": ({**CORE, "nic.attachment": "memory_bus"}, {}),
    "lanai": ({**CORE}, {"am.firmware": "lanai"}),
    "elan": ({**CORE, **UNCACHED}, {"am.firmware": "elan"}),
    "tb2": ({**CORE}, {"am.firmware": "tb2", "am.bulk": "copy"}),
    "unet": ({**CORE}, {"am.carrier": "unet"}),
    "unet, direct": ({**CORE, "nic.attachment": "memory_bus"},
                     {"am.carrier": "unet", "unet.buffers": "direct"}),
}
FIRMWARES = pytest.mark.parametrize("way", ["doorbell queue", "lanai", "elan", "tb2"])
PATIENT = {"timeout": 250_000}
"""No time-out is shorter than what full queues may take."""


def run(scenario: Scenario, way: str = "doorbell queue") -> Model:
    structure, settings = WAYS[way]
    model = Model(describe(scenario.structure, structure, scenario.settings, settings))
    scenario.check(model.run(scenario.programs, limit=1 << 30).results)
    return model


def processors(model: Model) -> list[ModelProcessor]:
    return [nic.processor for nic in model.nics if nic.processor is not None]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("scenario", [
    scenarios.echo_words(), scenarios.in_order(60), scenarios.in_order(30, words=4, window=2),
    scenarios.bulk((0, 1, 8, 1021, 1024, 1027, 5003)), scenarios.mixed(6), scenarios.itself()],
    ids=["words", "in order", "window 2", "bulk", "mixed", "itself"])
def test_scenarios(scenario, way):
    run(scenario, way)


@pytest.mark.parametrize("size, count", [more(0, 60), (2500, 60)])
@pytest.mark.parametrize("way", WAYS)
def test_each_of_many_senders_gets_its_share(way, size, count):
    run(scenarios.shares(3, count, size), way)


@pytest.mark.parametrize("call, way", [
    *((call, "doorbell queue") for call in ("request", "store", "disable")),
    *(more(call, way) for call in ("request", "store", "disable")
      for way in ("lanai", "elan", "tb2"))])
def test_a_lost_peer_is_an_error(call, way):
    run(scenarios.peer_gone(call, **PATIENT), way)


@FIRMWARES
def test_three_nodes(way):
    run(scenarios.in_order(20, nodes=3), way)


@FIRMWARES
@pytest.mark.parametrize("structure", [
    {"nic.receive_ring": 4, "nic.mtu": 64, "nic.send_fifo": 128, "nic.receive_fifo": 128},
    more({"processor.doorbell_queue": 4}), {"nic.mtu": 64, "processor.memory": 16384}])
def test_little_room(structure, way):
    run(scenarios.in_order(40, work=2000, structure=structure), way)
    run(scenarios.mixed(5, structure=structure), way)


RATES = {
    "drop": {"faults.drop": 0.05}, "corrupt": {"faults.corrupt": 0.05},
    "duplicate": {"faults.duplicate": 0.1},
    "all": {"faults.drop": 0.03, "faults.corrupt": 0.03, "faults.duplicate": 0.05,
            "faults.delay": 0.02},
}


@FIRMWARES
@pytest.mark.parametrize("rate", ["all", *(more(rate) for rate in RATES if rate != "all")])
def test_nothing_is_lost(rate, way):
    run(scenarios.in_order(80, settings={**FAULTY, **RATES[rate]}), way)
    run(scenarios.bulk((0, 100, 3000), settings={**FAULTY, **RATES[rate]}), way)


def rounds(count: int) -> Scenario:
    """Requests and replies in turn; of the first node's, the instructions of all but some."""
    found: list[list[int]] = []

    def program(model: list[Model]):
        async def asks(node):
            got = []
            am = Gam(node, [lambda am, source, number: am.reply(1, number),
                            lambda am, source, number: got.append(number)])
            await am.enable()
            if node.number == 0:
                for number in range(count + 10):
                    if number in (10, count + 9):
                        found.append([one.core.executed for one in processors(model[0])])
                    await am.request(1, 0, number)
                    await am.wait(lambda number=number: len(got) > number)
            await am.disable()
            return got
        return asks

    return found, program


@pytest.mark.parametrize("core, most", [("picorv32", 120), ("vexriscv", 120), ("serv", 120)])
def test_instructions_a_message(core, most):
    """A node's processor sends one packet and receives one in each round, and falls asleep between
    the two."""
    count = 50
    found, program = rounds(count)
    place: list[Model] = []
    place.append(Model(describe({"nic.processor": core})))
    place[0].run([program(place)] * 2, limit=1 << 26)
    begin, end = found
    for before, after in zip(begin, end, strict=True):
        assert (after - before) / (2 * (count - 1)) < most


def test_the_same_packets_on_all_cores():
    """With a time-out that none of them reaches: SERV is slow enough to be asked by a probe."""
    logs = []
    for core in ("picorv32", "vexriscv", "serv"):
        model = Model(describe({"nic.processor": core}, {"am.retry_timeout": 1_000_000}))
        scenario = scenarios.echo_words()
        scenario.check(model.run(scenario.programs, limit=1 << 27).results)
        logs.append([sorted(one.log) for one in processors(model)])
    assert logs[0] == logs[1] == logs[2]
    assert all(len(packets) >= 10 for packets in logs[0])


@pytest.mark.parametrize("firmware", ["am", "lanai", "elan", "tb2"])
@pytest.mark.parametrize("seed", [1, 2])
def test_nonsense_is_counted_and_dropped(seed, firmware):
    model = Model(describe(CORE, UNCACHED))
    junk_slots.check(model.run(junk_slots.programs(firmware, 150, seed), limit=1 << 26).results)
