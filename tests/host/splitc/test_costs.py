"""What Split-C costs: named items that add up, in all and in each activity of a message."""

import pytest
from nicbed.host.am import costs as am
from nicbed.host.port.costs import Costs
from nicbed.host.splitc import GlobalPointer, SplitC, costs
from nicbed.layouts.trace import TICKS, Activity
from nicbed.testbench.truth.spans import spans

from tests.models.spent import cpu_cycles
from tests.models.target import Model
from tests.programs.am import describe, run_on_model
from tests.programs.splitc import random_program

ODD = {"nic.clock_mhz": 33, "cpu.clock_mhz": 450}
TOUCH = 2
"""Cycles that a touched line takes on the model."""
CALLS = {
    "read": (lambda sc, there: sc.read(there), 1, [costs.SERVE], 2,
             [costs.COUNTED], [costs.REMOTE]),
    "write": (lambda sc, there: sc.write(there, 7), 3, [costs.SERVE], 0,
              [costs.COUNTED], [costs.REMOTE]),
    "get": (lambda sc, there: sc.get(4096, there), 2, [costs.SERVE], 3,
            [costs.SERVE, costs.COUNTED], [costs.REMOTE]),
    "put": (lambda sc, there: sc.put(there, 7), 3, [costs.SERVE], 0,
            [costs.COUNTED], [costs.REMOTE]),
    "store": (lambda sc, there: sc.store(there, 7), 3, [costs.SERVE, costs.COUNTED], None,
              [], [costs.REMOTE]),
}


@pytest.mark.parametrize("settings", [{}, ODD])
@pytest.mark.parametrize("name", CALLS)
def test_o_s_and_o_r_are_their_items_and_operations(name, settings):
    """The request, its handling, the reply and its handling: Active Messages' own paths and those
    that Split-C adds, exactly."""
    call, words, serves, answers, finishes, before = CALLS[name]
    description = describe(settings)
    charged = Costs(description)
    begun = []

    async def asks(node):
        sc = SplitC(node)
        place = node.allocate(8)
        await sc.enable()
        await node.port.flush()
        begun.append(node.port.mark(Activity.COMPUTE, 0, 0))
        node.port.mark(Activity.COMPUTE, 1, 0)
        await call(sc, GlobalPointer(1, place))
        await sc.sync()
        await sc.am.wait(lambda: sc.am.peers[1].credits == description.am.request_window)

    async def serves_it(node):
        sc = SplitC(node)
        node.allocate(8)
        await sc.enable()
        await sc.am.wait(lambda: sc.am.peers[0].expected[0])

    runtime = Model(description).run([asks, serves_it], limit=1_000_000)
    found = spans(runtime.marks)

    def only(node, activity):
        chosen = [span for span in found if span.node == node and span.activity == activity]
        assert len(chosen) == 1
        return chosen[0]

    def ticks(*parts):
        return charged.ticks(sum(charged.cycles(part) for part in parts))

    def beats(count):
        return (4 if count > 2 else 3) * TICKS

    def line(count):
        return TOUCH * TICKS if count > 2 else 0

    check = charged.ticks(charged.price["poll_check"]) + TICKS
    send = only(0, Activity.REQUEST_SEND)
    assert abs(send.begin - begun[0][0] - ticks(*before)) < 1
    assert abs(send.own - ticks(am.REQUEST[words]) - beats(words)) < 1
    handle = only(1, Activity.REQUEST_HANDLE)
    assert abs(handle.own - check - ticks(am.REQUEST_HANDLE[words], *serves) - line(words)
               - TOUCH * TICKS) < 2
    reply = only(1, Activity.REPLY_SEND)
    finish = only(0, Activity.REPLY_HANDLE)
    if answers is None:
        assert abs(reply.own - ticks(am.NULL_REPLY) - 3 * TICKS) < 1
        assert abs(finish.own - check - ticks(am.NULL_HANDLE)) < 2
    else:
        touched = TOUCH * TICKS if costs.SERVE in finishes else 0
        assert abs(reply.own - ticks(am.REPLY[answers]) - beats(answers)) < 1
        assert abs(finish.own - check - ticks(am.REPLY_HANDLE[answers], *finishes)
                   - line(answers) - touched) < 2


@pytest.mark.parametrize("settings", [{}, ODD])
def test_the_tally_is_what_was_charged(settings):
    """Its items, those of all paths among them, at their prices."""
    runtime = run_on_model(random_program(3, 3, rounds=2, settings=settings))
    for port in runtime.ports:
        assert cpu_cycles(port) == sum(port.costs.price[item] * count
                                      for item, count in port.tally().items())
