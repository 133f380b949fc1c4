"""Split-C's calls: what each promises, which messages it takes, what it refuses and costs."""

import inspect
import struct
from dataclasses import replace

import pytest
from nicbed.host.port.costs import Path
from nicbed.host.splitc import GlobalPointer, SplitC, SplitCError
from nicbed.host.splitc import costs as paths
from nicbed.host.splitc.pointers import size_of, to_value, to_words
from nicbed.layouts.description import Description

from tests.models.target import Model
from tests.programs.am import run_on_model
from tests.programs.splitc import scenario


def run(main, nodes=3, **given):
    return run_on_model(scenario(main, nodes=nodes, **given))


@pytest.mark.parametrize(("code", "values"), [
    ("i", (-1, 0, 1 << 30)), ("I", (0, 0xFFFF_FFFF)), ("q", (-1, 1 << 62)), ("Q", (1 << 63,)),
    ("f", (0.5, -2.0)), ("d", (0.1, 1e300))])
def test_values_are_words(code, values):
    for value in values:
        words = to_words(code, value)
        assert 4 * len(words) == size_of(code) and all(0 <= word < 1 << 32 for word in words)
        assert to_value(code, words) == value


@pytest.mark.parametrize(("code", "value"), [("i", 1 << 31), ("I", -1), ("q", 1.5), ("Q", "x"),
                                             ("f", 1e300)])
def test_no_values_are_refused(code, value):
    with pytest.raises(ValueError, match="is no value of type"):
        to_words(code, value)


def test_pointers_and_spread_arrays():
    assert GlobalPointer(2, 64, "i") + 3 == GlobalPointer(2, 76, "i")
    assert GlobalPointer(2, 64, "") + 3 == GlobalPointer(2, 67, "")

    async def main(sc):
        sc.node.allocate(100 * sc.MYPROC)  # the processes' memories are filled unevenly
        array = await sc.all_spread_malloc(11, "d")
        blocks = await sc.all_spread_malloc(5, 100)
        return array, blocks, [str(array[i]) for i in range(11)], sc.node.allocate(8)

    runtime = run(main)
    array, blocks, _, _ = runtime.results[0]
    assert [one[:3] for one in runtime.results] == [runtime.results[0][:3]] * 3
    assert array.address % 64 == 0 and len(array) == 11
    places = [(array[i].process, array[i].address) for i in range(11)]
    assert places == [(i % 3, array.address + 8 * (i // 3)) for i in range(11)]
    assert [list(array.indices(p)) for p in range(3)] == [[0, 3, 6, 9], [1, 4, 7, 10], [2, 5, 8]]
    assert array[3].type == "d" and blocks[0].type == "" and blocks.address >= array.address + 32
    assert all(one[3] >= blocks.address + 200 for one in runtime.results)
    with pytest.raises(IndexError, match="element 11: the spread array has 11"):
        array[11]


# What a call costs in messages of Active Messages: requests sent, and of these those with a reply
# that Split-C asked for. The rest get the layer's own.
CALLS = {
    "read": ("read", 8, lambda sc, there, local: sc.read(there)),
    "write": ("write", 8, lambda sc, there, local: sc.write(there, 5)),
    "get": ("get", 8, lambda sc, there, local: sc.get(local, there)),
    "put": ("put", 8, lambda sc, there, local: sc.put(there, 5)),
    "store": ("store", 8, lambda sc, there, local: sc.store(there, 5)),
    "bulk_read": ("bulk_read", 80, lambda sc, there, local: sc.bulk_read(local, there, 80)),
    "bulk_write": ("bulk_write", 80, lambda sc, there, local: sc.bulk_write(there, local, 80)),
    "bulk_get": ("bulk_get", 80, lambda sc, there, local: sc.bulk_get(local, there, 80)),
    "bulk_put": ("bulk_put", 80, lambda sc, there, local: sc.bulk_put(there, local, 80)),
    "bulk_store": ("bulk_store", 80, lambda sc, there, local: sc.bulk_store(there, local, 80)),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("other", [0, 1])
def test_a_call_is_one_message_or_none_if_local(name, other):
    kind, length, call = CALLS[name]

    async def main(sc):
        place = sc.node.allocate(80)
        local = sc.node.allocate(80)
        await sc.barrier()
        before = sc.am.peers[1].request.next + sc.am.peers[1].bulk.next if sc.MYPROC == 0 else 0
        if sc.MYPROC == 0:
            await call(sc, GlobalPointer(other, place), local)
        after = sc.am.peers[1].request.next + sc.am.peers[1].bulk.next if sc.MYPROC == 0 else 0
        await sc.sync()
        await sc.all_store_sync()
        return sc.statistics.plain().get(kind), after - before

    found, messages = run(main, 2).results[0]
    assert messages == other
    assert found == {"messages": other, "bytes": length * other, "local": 1 - other}


def test_blocking_calls_return_when_done_and_others_do_not():
    """Puts are at their place after sync, not before; a write is when it returns."""
    order = []

    async def main(sc):
        place = sc.node.allocate(16)
        await sc.barrier()
        there = GlobalPointer(1, place)
        if sc.MYPROC == 0:
            await sc.put(there, 1)
            order.append(("put", seen(1, place)))
            await sc.sync()
            order.append(("sync", seen(1, place)))
            await sc.write(there, 2)
            order.append(("write", seen(1, place)))
            await sc.store(there, 3)
            order.append(("store", seen(1, place)))
        else:
            await sc.node.port.delay(3000)
        await sc.all_store_sync()
        order.append(("all_store_sync", seen(1, place)))

    one = scenario(main, nodes=2)
    model = Model(Description())

    def seen(node, place):
        return struct.unpack("<q", model.memories[node].read(place, 8))[0]

    model.run(one.programs, limit=1_000_000)
    assert order == [("put", 0), ("sync", 1), ("write", 2), ("store", 2), ("all_store_sync", 3),
                     ("all_store_sync", 3)]


def test_store_sync_counts_bytes_from_all_and_those_of_the_process_itself():
    async def main(sc):
        place = sc.node.allocate(64)
        for turn in range(3):
            await sc.store(GlobalPointer(0, place + 8 * sc.MYPROC), turn + 1)
            if sc.MYPROC == 0:
                await sc.store_sync(8 * sc.PROCS)
                data = sc.node.memory.read(place, 8 * sc.PROCS)
                assert min(struct.unpack(f"<{sc.PROCS}q", data)) >= turn + 1
                await sc.store_sync(0)
        await sc.all_store_sync()

    run(main)


def test_a_store_ahead_is_counted_in_its_own_phase():
    """Process 0 leaves all_store_sync first and stores at once to process 7, which the result has
    not reached yet."""
    async def main(sc):
        place = sc.node.allocate(64)
        for turn in range(5):
            await sc.all_store_sync()
            if sc.MYPROC == 0:
                await sc.store(GlobalPointer(7, place), turn)
            if sc.MYPROC == 7:
                await sc.store_sync(8)

    run_on_model(replace(scenario(main, nodes=8), limit=1_000_000))


@pytest.mark.parametrize("nodes", [2, 3, 5, 8])
def test_collective_calls_and_their_messages(nodes):
    """Results at all processes, from every root; P - 1 messages a way."""
    async def main(sc):
        me = sc.MYPROC
        found = []
        counts = []

        def sent():
            kind = sc.statistics.plain().get("collective", {"messages": 0})
            counts.append(kind["messages"])

        sent()
        await sc.barrier()
        sent()
        found.append(await sc.reduce(me, max))
        sent()
        for root in range(sc.PROCS):
            found.append(await sc.broadcast(100 + me, root, "i"))
        sent()
        found.append(await sc.scan(0.5 + me, type="d"))
        sent()
        return found, counts

    results = run(main, nodes).results
    for me, (found, _) in enumerate(results):
        assert found == [nodes - 1, *range(100, 100 + nodes), sum(0.5 + k for k in range(me + 1))]
    each = [sum(counts[step + 1] - counts[step] for _, counts in results) for step in range(4)]
    doubled = sum(nodes - distance for distance in (1, 2, 4) if distance < nodes)
    assert each == [2 * (nodes - 1), 2 * (nodes - 1), nodes * (nodes - 1), doubled]


@pytest.mark.parametrize("nodes", [3, 6, 8])
def test_reduce_and_scan_keep_the_order(nodes):
    """Composition of maps x -> a x + b modulo a prime, packed into a value, does not commute."""
    prime = 10007

    def compose(left, right):
        (a, b), (c, d) = divmod(left, prime), divmod(right, prime)
        return a * c % prime * prime + (b * c + d) % prime

    async def main(sc):
        mine = (2 + sc.MYPROC) * prime + 5 * sc.MYPROC + 1
        return mine, await sc.reduce(mine, compose), await sc.scan(mine, compose)

    results = run(main, nodes).results
    whole = None
    for mine, _, scanned in results:
        whole = mine if whole is None else compose(whole, mine)
        assert scanned == whole
    assert [reduced for _, reduced, _ in results] == [whole] * nodes


def test_a_barrier_holds_all_back():
    late = []

    async def main(sc):
        await sc.node.port.delay(5000 * (sc.MYPROC == 2))
        if sc.MYPROC == 2:
            late.append(await sc.node.port.flush())
        await sc.barrier()
        return await sc.node.port.flush()

    results = run(main, 4).results
    assert min(results) > late[0] > 5000


def test_atomics_do_not_mix():
    """All processes take tickets of one counter, by a procedure that returns the old value."""
    count = {}

    async def take(sc, source, step):
        old = count.get(sc.MYPROC, 0)
        await sc.node.port.touch(64, 8, store=True)
        count[sc.MYPROC] = old + step
        return old

    async def main(sc):
        return [await sc.atomic(1, take, 2) for _ in range(10)]

    results = run(main, 3, procedures=[take]).results
    assert sorted(sum(results, [])) == list(range(0, 60, 2))
    assert all(mine == sorted(mine) for mine in results)


def answers_nothing(sc, source):
    return None


def answers_four(sc, source, *words):
    return words


def test_an_atomic_returns_what_its_procedure_returns():
    async def main(sc):
        found = []
        for other in range(2):
            found.append(await sc.atomic(other, answers_nothing))
            found.append(await sc.atomic(other, answers_four, 7))
            found.append(await sc.atomic(other, answers_four, 1, 2, 3, 4))
        return found

    assert run(main, 2, procedures=[answers_nothing, answers_four]).results == [
        [None, 7, (1, 2, 3, 4)] * 2] * 2


@pytest.mark.parametrize(("call", "text"), [
    (lambda sc, at: sc.read(GlobalPointer(3, at)), r"process 3: there are 0 to 1 \(PROCS\)"),
    (lambda sc, at: sc.read(GlobalPointer(1, 1 << 40)), "8 bytes at 0x10000000000 are not in"),
    (lambda sc, at: sc.read(GlobalPointer(1, at, "")), "of process 1 holds bytes: only the bulk"),
    (lambda sc, at: sc.get(-8, GlobalPointer(1, at)), "8 bytes at -0x8 are not in"),
    (lambda sc, at: sc.bulk_get(at, GlobalPointer(1, at), -1), "-1 bytes at"),
    (lambda sc, at: sc.bulk_put(GlobalPointer(1, at), 1 << 30, 8), "8 bytes at 0x40000000"),
    (lambda sc, at: sc.write(GlobalPointer(1, at, "i"), 1 << 31), "is no value of type 'i'"),
    (lambda sc, at: sc.write(GlobalPointer(1, at, "x"), 1), "i, I, f, q, Q, d, not 'x'"),
    (lambda sc, at: sc.store_sync(-1), "store_sync of -1 bytes: must not be negative"),
    (lambda sc, at: sc.broadcast(1, 2), r"process 2: there are 0 to 1 \(PROCS\)"),
    (lambda sc, at: sc.atomic(1, print), "'print' is no procedure of this process"),
    (lambda sc, at: sc.store_by(9, answers_four), r"process 9: there are 0 to 1 \(PROCS\)"),
    (lambda sc, at: sc.all_spread_malloc(-1, "d"), "a spread array of -1 elements"),
    (lambda sc, at: sc.all_spread_malloc(1, 0), "an element of 0 bytes: must be at least 1"),
])
def test_mistakes_are_told(call, text):
    async def main(sc):
        await call(sc, sc.node.allocate(64))

    with pytest.raises((SplitCError, ValueError), match=text):
        run(main, 2, procedures=[answers_four])


def test_tolocal_refuses_what_is_elsewhere():
    async def main(sc):
        assert sc.tolocal(GlobalPointer(sc.MYPROC, 640)) == 640
        sc.tolocal(GlobalPointer(1 - sc.MYPROC, 640))

    with pytest.raises(SplitCError, match="tolocal: 0x280 of process 1 is not local to process 0"):
        run(main, 2)


def test_a_process_on_every_node():
    async def program(node):
        SplitC(node)

    with pytest.raises(SplitCError, match="of 2 nodes 1 run a program"):
        Model(Description()).run([program, None], limit=100_000)


def test_each_call_spends_its_named_paths():
    """Paths of Split-C that a read elsewhere and a local one spend, here and there."""
    async def main(sc):
        place = sc.node.allocate(8)
        await sc.barrier()
        before = sc.node.port.paths()
        if sc.MYPROC == 0:
            await sc.read(GlobalPointer(1, place))
            await sc.read(GlobalPointer(0, place))
        found = sc.node.port.paths() - before
        await sc.barrier()
        after = sc.node.port.paths() - before
        return [{name: count for name, count in one.items() if name.startswith("splitc")
                 and name != "splitc_collective"} for one in (found, after)]

    (asks, _), (_, answers) = run(main, 2).results
    assert asks == {"splitc_remote": 1, "splitc_counted": 1, "splitc_awaited": 1,
                    "splitc_local": 1, "splitc_serve": 1}
    assert answers == {"splitc_serve": 1}


def test_each_path_has_a_name_of_its_own():
    found = {name: one for name, one in inspect.getmembers(paths) if isinstance(one, Path)}
    assert len({one.name for one in found.values()}) == len(found)
