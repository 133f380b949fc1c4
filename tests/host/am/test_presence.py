"""A peer is gone when its program has ended, or when the network loses what it listens for; one
that computes is waited for."""

from typing import Any

import pytest
from nicbed.host.am import Gam, PeerGone
from nicbed.host.runtime import Stuck
from nicbed.host.smp import Layers

from tests.models.target import Model
from tests.programs.am import describe

LONG = 100_000_000
COUNT = 100


def layer(node: Any, got: list[int]) -> Gam:
    async def ask(am: Gam, source: int, word: int) -> None:
        await am.reply(1, word)

    def answer(am: Gam, source: int, word: int) -> None:
        got.append(word)

    return Gam(node, [ask, answer])


async def asks(node: Any, to: int = 1, count: int = COUNT) -> tuple[int, dict[str, int]]:
    got: list[int] = []
    am = layer(node, got)
    await am.enable()
    for word in range(count):
        await am.request(to, 0, word)
    await am.wait(lambda: len(got) == count)
    assert got == list(range(count))
    cycle = node.port.cycle
    await am.disable()
    return cycle, am.counters


def computes(before: int = 0, cycles: int = LONG) -> Any:
    """Enables the layer after ``before`` cycles, and computes for so many more."""
    async def program(node: Any) -> None:
        await node.port.delay(before)
        am = layer(node, [])
        await am.enable()
        await node.port.delay(cycles)
        await am.disable()
    return program


QUICK = {"am.retry_timeout": 2000, "am.retries": 3}


FIRMWARE = {**QUICK, "nic.processor": "picorv32"}


@pytest.mark.parametrize("part", [0, 0.5])
@pytest.mark.parametrize(("knobs", "cycles"), [
    ({}, LONG), ({"am.credit": "ack"}, LONG), ({"faults.drop": 0.2}, LONG),
    ({"nic.processor": "picorv32"}, LONG),
    # What never rests takes long to simulate.
    ({**QUICK, "am.message_processor": "cpu", "node.cpus": 2}, 300_000),
    ({**FIRMWARE, "am.firmware": "lanai"}, 300_000),
    ({**FIRMWARE, "am.firmware": "tb2", "am.bulk": "copy"}, 300_000)])
def test_a_peer_that_computes_is_waited_for(knobs: dict[str, Any], cycles: int, part: float
                                            ) -> None:
    """Before it enables the layer, or after."""
    before = int(part * cycles)
    cycle, counters = Model(describe({}, knobs)).run(
        [asks, computes(before, cycles - before)], limit=2 * LONG).results[0]
    assert cycles < cycle < cycles + 3_000_000
    assert counters["timeouts"] > knobs.get("am.retries", 12)
    if "faults.drop" not in knobs:
        assert counters["probes"] < 20 and counters["resent"] == 0


def test_a_peer_that_computes_is_waited_for_over_firmware_that_acknowledges() -> None:
    knobs = {**FIRMWARE, "am.firmware": "elan", "processor.host_access": "uncached"}
    cycle, counters = Model(describe({}, knobs)).run([asks, computes(0, 300_000)],
                                                     limit=LONG).results[0]
    assert 300_000 < cycle < 1_000_000 and counters["timeouts"] > 3


def test_at_the_limit_it_is_named() -> None:
    with pytest.raises(Stuck) as error:
        Model(describe({})).run([asks, computes()], limit=LONG // 2)
    _, zero, one, line = str(error.value).splitlines()
    assert "node 0 waits for credits from node 1" in zero
    assert one.startswith("  node 1 has computed since cycle 1")
    assert one.endswith(", and then waits for am_disable of node 0")
    assert line == ("  node 1 has not looked for Active Messages since cycle 0, and node 0 awaits "
                    "an answer from it")


def test_at_the_limit_one_that_never_enables_it_is_named() -> None:
    async def other(node: Any) -> None:
        while True:
            await node.port.delay(1000)

    with pytest.raises(Stuck) as error:
        Model(describe({})).run([asks, other], limit=LONG // 2)
    assert str(error.value).endswith("node 1 has not enabled Active Messages, and node 0 awaits an "
                                     "answer from it")


@pytest.mark.parametrize("enables", [False, True])
@pytest.mark.parametrize("cycles", [0, LONG // 4])
def test_a_peer_is_gone_when_its_program_has_ended(cycles: int, enables: bool) -> None:
    async def ends(node: Any) -> None:
        if enables:
            await layer(node, []).enable()
        await node.port.delay(cycles)
        await node.port.flush()

    async def first(node: Any) -> int:
        with pytest.raises(PeerGone, match="node 1 is gone"):
            await asks(node)
        return node.port.cycle

    gone = Model(describe({})).run([first, ends], limit=LONG).results[0]
    assert cycles < gone < cycles + 3_000_000


def test_a_peer_is_gone_that_has_left_the_layer_and_computes() -> None:
    """It could leave, as it does not know of this node."""
    async def leaves(node: Any) -> None:
        am = layer(node.nic(0, [1]), [])
        await am.enable()
        await am.disable()
        await node.port.delay(LONG)
        await node.port.flush()

    async def first(node: Any) -> int:
        with pytest.raises(PeerGone, match="node 1 is gone"):
            await asks(node)
        return node.port.cycle

    assert Model(describe({})).run([first, leaves], limit=2 * LONG).results[0] < 3_000_000


def test_a_peer_whose_answers_are_lost_is_gone_while_it_listens() -> None:
    """And not while it computes."""
    def lose(data: bytes) -> bool:
        return True

    async def first(node: Any) -> int:
        with pytest.raises(PeerGone):
            await asks(node)
        return node.port.cycle

    async def second(node: Any) -> None:
        am = layer(node, [])
        await am.enable()
        await node.port.delay(LONG // 4)
        with pytest.raises(PeerGone):
            await am.request(0, 0, 1)
            await am.wait(lambda: False)

    model = Model(describe({"am.retries": 5}))
    model.nics[1].lose = lose
    gone = model.run([first, second], limit=LONG).results[0]
    assert LONG // 4 < gone < LONG // 4 + 3_000_000


def test_a_peer_that_polls_now_and_then_is_never_gone() -> None:
    """Each poll answers."""
    async def second(node: Any) -> int:
        am = layer(node, [])
        await am.enable()
        for _ in range(4):
            await node.port.delay(LONG // 8)
            await am.poll()
        await am.disable()
        return am.counters["timeouts"]

    async def first(node: Any) -> None:
        got: list[int] = []
        am = layer(node, got)
        await am.enable()
        for word in range(5):
            await am.request(1, 0, word)
            await am.wait(lambda word=word: len(got) > word)
        await am.disable()

    Model(describe({})).run([first, second], limit=LONG)


def test_a_layer_that_another_one_of_its_program_waits_beside_is_waited_for() -> None:
    """Two NICs; the peer serves both, and computes between."""
    async def first(cpu: Any) -> int:
        return (await asks(cpu.nic(0, [0, 2]), 2))[0]

    async def second(cpu: Any) -> None:
        layers = Layers(cpu, layer(cpu.nic(0, [0, 2]), []), layer(cpu.nic(1, [1, 3]), []))
        await layers.enable()
        await cpu.port.delay(LONG // 4)
        await layers[0].disable()

    found = Model(describe({}, {"node.nics": 2})).run([first, second], limit=LONG).results[0]
    assert found > LONG // 4
