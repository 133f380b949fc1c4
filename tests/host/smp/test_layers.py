"""Several layers on one CPU: all are served, whichever the CPU waits for."""

from typing import Any

import pytest
from nicbed.host.am import Gam
from nicbed.host.am.window import PeerGone
from nicbed.host.smp import Layers

from tests.models.target import Model
from tests.programs.am import describe

NODES, NICS = 2, 2


def exchange(together: bool) -> Any:
    """Each NIC requests of all others. The handlers answer."""
    async def program(cpu: Any) -> list[Any]:
        seen: list[Any] = []

        def layer(nic: int) -> Gam:
            async def on_request(am: Any, source: int, word: int) -> None:
                seen.append((am.node.number, source, word))
                await am.reply(1, word)

            def on_reply(am: Any, source: int, word: int) -> None:
                seen.append((am.node.number, source, ~word))
            return Gam(cpu.nic(nic), [on_request, on_reply])

        layers = Layers(cpu, *(layer(nic) for nic in range(cpu.nics)))
        await layers.enable()
        for gam in layers:
            for to in range(gam.node.nodes):
                if to != gam.node.number:
                    await gam.request(to, 0, gam.node.number)
        await layers.wait(lambda: len(seen) == 2 * len(layers) * (NODES * NICS - 1))
        if together:
            await layers.disable()
        else:
            for gam in layers:
                await gam.disable()
        assert together and not any(gam.enabled for gam in layers)
        return sorted(seen)
    return program


def run(together: bool, **knobs: Any) -> list[Any]:
    model = Model(describe({}, {"node.nics": NICS, **knobs}))
    return model.run([exchange(together)] * NODES, limit=3_000_000).results


@pytest.mark.parametrize("knobs", [{}, {"faults.drop": 0.05, "am.retry_timeout": 3000},
                                   {"nic.processor": "picorv32"}, {"am.credit": "ack"}])
def test_all_are_served_and_end(knobs: dict[str, Any]) -> None:
    addresses = range(NODES * NICS)
    found = run(True, **knobs)
    for node, seen in enumerate(found):
        mine = [address for address in addresses if address // NICS == node]
        assert seen == sorted([(here, other, word) for here in mine for other in addresses
                               if other != here for word in (other, ~here)])


def test_one_after_the_other_they_wait_until_a_peer_counts_as_gone() -> None:
    with pytest.raises(PeerGone, match="node . is gone"):
        run(False)


def test_a_peer_that_has_ended_is_told_in_a_wait_for_its_reply() -> None:
    """Acknowledgements return credits: it owes nothing, and its reply never comes."""
    async def asks(cpu: Any) -> None:
        def on_reply(am: Any, source: int, word: int) -> None:
            raise AssertionError

        layers = Layers(cpu, *(Gam(cpu.nic(nic), [on_reply]) for nic in range(cpu.nics)))
        await layers.enable()
        await layers[0].request(NICS, 0, 1)
        await layers.wait(lambda: False)

    async def ends(cpu: Any) -> None:
        seen: list[int] = []
        gam = Gam(cpu.nic(0), [lambda am, source, word: seen.append(word)])
        await gam.enable()
        while not seen:
            await gam.poll()
        await cpu.port.delay(1000)
        await gam.poll()

    model = Model(describe({}, {"node.nics": NICS, "am.credit": "ack", "am.retry_timeout": 1000,
                               "am.retries": 3}))
    with pytest.raises(PeerGone, match="node 2 is gone: node 0 heard"):
        model.run([asks, ends], limit=3_000_000)


def test_there_must_be_a_layer() -> None:
    with pytest.raises(ValueError, match="there must be a layer to poll"):
        Layers(None)  # type: ignore[arg-type]
