"""Packets sent again, by peer and cause, as each layer counts them for whoever asks."""

from types import SimpleNamespace

import pytest
from nicbed.host.am import Gam
from nicbed.host.fm import Fm
from nicbed.host.port.sent_again import Cause, SentAgain
from nicbed.host.via.agent.channel import Channel
from nicbed.host.via.trap.kernel_trap import KernelTrap

from tests.labs.kernel_trap import QUICK, RD, run_pair
from tests.models.target import Model
from tests.programs import fm as fm_scenarios
from tests.programs.am import describe, in_order, run_on_model


def test_sums():
    again = SentAgain(SimpleNamespace(sent_again=[], mark=lambda *mark: None), "some layer",
                      0)
    assert again.by_peer() == {} and again.total() == 0
    for peer, cause in ((1, Cause.NACK), (1, Cause.NACK), (1, Cause.ANSWER), (2, Cause.RETURNED)):
        again.note(peer, cause)
    assert again.by_peer() == {1: 3, 2: 1} and again.total() == 4
    assert again.by_peer(Cause.NACK) == {1: 2} and again.total(Cause.NACK, Cause.RETURNED) == 3


@pytest.fixture
def made(monkeypatch):
    """Every object that counts, in the order in which they were made."""
    found = []
    for kind in (Gam, Fm, Channel, KernelTrap):
        def init(self, *args, before=kind.__init__, **named):
            before(self, *args, **named)
            found.append(self)
        monkeypatch.setattr(kind, "__init__", init)
    return found


def test_active_messages(made):
    run_on_model(in_order(200, settings={"faults.drop": 0.05}))
    for node, am in enumerate(made):
        assert am.again.total() == am.counters["resent"] > 0
        assert set(am.again.by_peer()) == {1 - node}
        assert am.again.total(Cause.NACK) > 0


def test_fast_messages(made):
    scenario = fm_scenarios.returns()
    model = Model(describe(scenario.structure, scenario.settings))
    scenario.check(model.run(scenario.programs, limit=1 << 28).results)
    assert sum(fm.again.total() for fm in made) > 0
    for fm in made:
        assert fm.again.total() == fm.again.total(Cause.RETURNED) == fm.counters["again"]


def test_kernel_trap(made):
    async def receiver(side):
        for index in range(30):
            await side.receive(64 * index, [side.at(8192, 100)])
        await side.connect(True)
        for _ in range(30):
            await side.received()
        await side.linger(50_000)

    async def sender(side):
        await side.connect(False)
        await side.linger(20_000)
        for index in range(30):
            await side.send(64 * index, [side.at(8192, 100)])
        await side.linger(50_000)

    run_pair(receiver, sender, reliability=RD, settings={**QUICK, "faults.drop": 0.1})
    traps = [each for each in made if isinstance(each, KernelTrap)]
    lanes = [each for each in made if isinstance(each, Channel)]
    assert sum(trap.again.total() for trap in traps) > 0
    assert all(trap.again.total() == trap.counters["resent"] for trap in traps)
    assert all(lane.again.total() == lane.resent for lane in lanes)
