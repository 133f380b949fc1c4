"""What Active Messages cost: every path named and added up; each instant in one activity."""

import inspect

import pytest
from nicbed.host.am import Gam
from nicbed.host.am import costs as paths
from nicbed.host.port.costs import CPU_ITEMS, Costs
from nicbed.layouts.trace import TICKS, Activity, Kind

from tests.models.spent import cpu_cycles
from tests.models.target import Model
from tests.programs.am import answering, bulk, describe, in_order, mixed, run_on_model

ODD = {"nic.clock_mhz": 33, "cpu.clock_mhz": 450}


def run(*programs, settings=None, limit=1_000_000):
    return Model(describe(settings or {})).run(programs, limit=limit)


def spans_of(runtime, node):
    """[(activity, number, begin, end, own)] of ``node``, checked to nest."""
    found, stack, last = [], [], 0
    for ticks, activity, kind, number in runtime.ports[node].log:
        assert ticks >= last
        last = ticks
        if kind == Kind.BEGIN:
            stack.append([activity, number, ticks, 0])
        elif kind == Kind.AGAIN:
            assert activity == Activity.CONTROL
        else:
            opened, name, begin, inner = stack.pop()
            assert opened == activity and name in (number, 0), (opened, name, activity, number)
            if stack:
                stack[-1][3] += ticks - begin
            found.append((activity, number, begin, ticks, ticks - begin - inner))
    assert not stack
    return found


def only(spans, activity):
    chosen = [span for span in spans if span[0] == activity]
    assert len(chosen) == 1
    return chosen[0]


def exchange(words, *settings, wait=0):
    """A request of ``words`` from node 0 to node 1, ``wait`` cycles after the beginning, and its
    reply: the spans of both nodes, prices, and a function that gives the ticks of paths."""
    done = []

    async def asks(node):
        am = Gam(node, [lambda *_: None, lambda am, source, *args: done.append(args)])
        await am.enable()
        await node.port.delay(wait)
        await node.port.flush()
        await am.request(1, 0, *range(words))
        await am.wait(lambda: done)

    description = describe(*settings)
    runtime = Model(description).run([asks, answering(1)], limit=1 << 22)
    costs = Costs(description)
    return (spans_of(runtime, 0), spans_of(runtime, 1), costs,
            lambda *parts: costs.ticks(sum(costs.cycles(part) for part in parts)))


@pytest.mark.parametrize("settings", [{}, ODD])
@pytest.mark.parametrize("words", range(5))
def test_overheads_are_their_items_and_bus_operations(words, settings):
    """o_s and o_r of requests and replies: the named items and the operations, exactly."""
    asked, answered, costs, ticks = exchange(words, settings)
    check = costs.ticks(costs.price["poll_check"]) + TICKS
    beats = (4 if words > 2 else 3) * TICKS
    second_line = 2 * TICKS if words > 2 else 0
    o_s = only(asked, Activity.REQUEST_SEND)
    assert abs(o_s[4] - ticks(paths.REQUEST[words]) - beats) < 1
    handle = only(answered, Activity.REQUEST_HANDLE)
    assert abs(handle[4] - check - ticks(paths.REQUEST_HANDLE[words]) - second_line) < 2
    reply = only(answered, Activity.REPLY_SEND)
    assert abs(reply[4] - ticks(paths.REPLY[words]) - beats) < 1
    finish = only(asked, Activity.REPLY_HANDLE)
    assert abs(finish[4] - check - ticks(paths.REPLY_HANDLE[words]) - second_line) < 2
    # Round trip: its legs, one after another, to the tick.
    assert o_s[3] <= handle[2] <= reply[2] and reply[3] <= finish[2]
    legs = (o_s[3] - o_s[2], handle[2] - o_s[3], reply[2] - handle[2], reply[3] - reply[2],
            finish[2] - reply[3], finish[3] - finish[2])
    assert sum(legs) == finish[3] - o_s[2]


def test_the_tally_is_what_was_charged():
    """Its items, those of all paths among them, at their prices."""
    for scenario in (in_order(50), bulk((0, 10, 3000)), mixed(5)):
        runtime = run_on_model(scenario)
        for port in runtime.ports:
            assert cpu_cycles(port) == sum(port.costs.price[item] * count
                                          for item, count in port.tally().items())


@pytest.mark.parametrize("scenario", [
    in_order(100), in_order(100, settings={"faults.drop": 0.1, "am.retry_timeout": 3000}),
    in_order(150, window=4, reply=False), bulk((0, 100, 9000)), mixed(8, nodes=3)],
    ids=["requests", "faults", "small window", "bulk", "mixed"])
def test_activities_nest_and_share_out_the_time(scenario):
    runtime = run_on_model(scenario)
    for node in range(len(runtime.ports)):
        spans = spans_of(runtime, node)
        assert all(own >= 0 for *_, own in spans)
        whole = spans and max(end for _, _, _, end, _ in spans)
        assert sum(own for *_, own in spans) <= whole
        # What no activity covers is the program itself, which does nothing here but small change
        # between calls: am_disable's bookkeeping.
        assert sum(own for *_, own in spans) > 0.95 * whole


def test_each_message_is_marked_once():
    runtime = run_on_model(in_order(80))
    for node in range(2):
        spans = spans_of(runtime, node)
        for activity in (Activity.REQUEST_SEND, Activity.REQUEST_HANDLE, Activity.REPLY_SEND,
                         Activity.REPLY_HANDLE):
            numbers = [span[1] for span in spans if span[0] == activity]
            assert len(numbers) == len(set(numbers)) == 80
    sent = {span[1] for span in spans_of(runtime, 0) if span[0] == Activity.REQUEST_SEND}
    handled = {span[1] for span in spans_of(runtime, 1) if span[0] == Activity.REQUEST_HANDLE}
    assert sent == handled


CALLS = {
    "register": lambda am, _: am.register(lambda *_: None),
    "poll": lambda am, _: am.poll(),
    "wait": lambda am, _: am.wait(lambda: True),
    "request": lambda am, other: am.request(other, 0),
    "store": lambda am, other: am.store(other, 64, 64, 4, 0),
    "store_async": lambda am, other: am.store_async(other, 64, 64, 4, 0),
    "get": lambda am, other: am.get(other, 64, 64, 4, 0),
    "procs": lambda am, _: am.procs(),
    "my_proc": lambda am, _: am.my_proc(),
    "max_size": lambda am, _: am.max_size(),
    "leave": lambda am, _: am.leave(),
    "recheck": lambda am, _: am.recheck(),
}


def test_every_public_call_costs_something():
    """No call is free; one that this test does not know fails it. What a wait expects to be told
    is no call of the layer: the target does nothing for it."""
    public = {name for name, member in inspect.getmembers(Gam, callable)
              if name[0] != "_"} - {"expect"}
    assert public == {*CALLS, "enable", "disable", "reply"}
    costs = {}

    async def program(node):
        port = node.port

        def spent():
            return cpu_cycles(port)

        def handler(am, source, *args):
            if len(args) == 0:
                before = spent()
                am.reply(1)
                costs["reply"] = spent() - before

        am = Gam(node, [handler, lambda am, source, *args: None])
        before = spent()
        await am.enable()
        costs["enable"] = spent() - before
        for name, call in CALLS.items():
            before = spent()
            result = call(am, 1 - node.number)
            if inspect.isawaitable(result):
                await result
            costs[name] = spent() - before
        before = spent()
        await am.disable()
        costs["disable"] = spent() - before

    run(program, program)
    assert set(costs) == public and all(cost > 0 for cost in costs.values()), costs


def test_slower_cpu_moves_overheads_alone():
    """Halving cpu.clock_mhz doubles the items' time, and leaves the operations'."""
    def overhead(settings):
        async def asks(node):
            am = Gam(node, [lambda *_: None])
            await am.enable()
            await node.port.flush()
            await am.request(1, 0, 1)

        async def answers(node):
            await Gam(node, [lambda *_: None]).enable()

        return only(spans_of(run(asks, answers, settings=settings), 0), Activity.REQUEST_SEND)[4]

    fast, slow = overhead({}), overhead({"cpu.clock_mhz": 100})
    assert abs((slow - 3 * TICKS) - 2 * (fast - 3 * TICKS)) <= 2
    scaled = overhead({"cpu.path_scale": "7/3"})
    exact = 3 * TICKS + (fast - 3 * TICKS) * 7 / 3
    assert abs(scaled - exact) <= TICKS  # of each path, to the nearest CPU cycle


def test_ideal_cpu_costs_nothing_and_works():
    free = {f"cpu.{item}": 0 for item in CPU_ITEMS}
    run_on_model(in_order(50, settings=free))


@pytest.mark.parametrize("wakes", [3.5])
def test_wake_ups_of_a_round_trip(wakes):
    trips = 200

    async def program(node):
        got = []
        am = Gam(node, [lambda am, source, n: am.reply(1, n), lambda am, source, n: got.append(n)])
        await am.enable()
        if node.number == 0:
            for number in range(trips):
                await am.request(1, 0, number)
                await am.wait(lambda number=number: len(got) > number)
        await am.disable()

    assert run(program, program).wakes < wakes * trips
