"""Active Messages under load, on the model target: without a loss nothing is sent again, however
short the time-out, and the run takes what the receiver takes."""

import pytest
from nicbed.host.am import Gam

from tests.models.target import Model
from tests.programs.am import describe, in_order, run_on_model

PATIENT = 10_000_000
"""A time-out, in cycles, that never passes here."""


def many_to_one(senders: int, count: int, timeout: int, window: int = 75) -> tuple[int, int, int]:
    """``senders`` nodes send ``count`` requests each to node 0: the cycle in which all were
    answered, packets sent again, time-outs."""
    got, ended, layers = [], [], []

    def ask(am, source, number):
        got.append((source, number))

    def layer(node):
        layers.append(Gam(node, [ask]))
        return layers[-1]

    async def sends(node):
        am = layer(node)
        await am.enable()
        for number in range(count):
            await am.request(0, ask, number)
        await am.wait(lambda: am.peers[0].credits == window)
        ended.append(node.port.cycle)
        await am.disable()

    async def receives(node):
        am = layer(node)
        await am.enable()
        await am.disable()

    model = Model(describe({"fabric.nodes": senders + 1, "am.request_window": window,
                            "am.reply_window": window + 1, "am.retry_timeout": timeout}))
    model.run([receives] + [sends] * senders, limit=20_000_000)
    assert sorted(got) == [(source, number) for source in range(1, senders + 1)
                           for number in range(count)]
    assert all(am.again.total() == am.counters["resent"] for am in layers)
    return (max(ended), sum(am.again.total() for am in layers),
            sum(am.counters["timeouts"] for am in layers))


@pytest.mark.parametrize(("senders", "window"), [
    (3, 75), (15, 75),
    *(pytest.param(senders, window, marks=pytest.mark.full)
      for senders in (1, 2, 5, 9, 12) for window in (4, 75, 120))])
def test_many_senders(senders, window):
    """Each time-out asks a question, which the receiver answers: with windows of a few packets
    that is an eighth of its time."""
    longest, again, timeouts = many_to_one(senders, 256, PATIENT, window)
    assert again == timeouts == 0
    for timeout in (1000, 20_000):
        cycles, again, _ = many_to_one(senders, 256, timeout, window)
        assert again == 0
        assert cycles < (1.15 if window == 4 else 1.1) * longest


def test_time_outs_far_below_a_round_trip():
    """They pass, and end in probes alone."""
    _, again, timeouts = many_to_one(6, 100, 100)
    assert again == 0 and timeouts > 6


@pytest.mark.parametrize("timeout", [300, 20_000])
def test_all_to_all(timeout):
    runtime = run_on_model(in_order(60, nodes=5, settings={"am.retry_timeout": timeout}))
    for *_, counters in runtime.results:
        assert counters["resent"] == counters["nacks"] == counters["duplicates"] == 0
