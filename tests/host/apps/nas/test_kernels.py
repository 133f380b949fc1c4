"""The NAS kernels without a target: each verifies against the published values, and sends what the
specification's table says."""

from collections import Counter
from functools import cache

import numpy as np
import pytest
from nicbed.host.apps.nas.kernel import BY_DATA, Value
from nicbed.host.apps.nas.kernels import KERNELS, get
from nicbed.host.apps.nas.process import Process
from nicbed.host.mpi import SUM

from tests.labs.rows import more
from tests.models.mpi_world import Comm, Stuck, World

SLOW = {"W": ["ep", "is", "cg", "mg", "ft", "bt", "sp", "lu"], "A": ["is", "cg", "ft"]}
"""Classes beyond S that a full run tries."""


def run(name, size="S", procs=4, comm=Comm, **how):
    """The kernel, its processes' answers, and what each sent in its timed part."""
    kernel = get(name)(size, procs)
    world = World(procs, comm)
    sent = [Counter() for _ in range(procs)]

    async def program(mpi):
        process = Process(mpi, **how)
        answer = await kernel.run(process)
        for one, count in process.sent.items():
            sent[process.rank][one.call.name, one.length] += count
        return answer

    return kernel, world.run(program), sent, world


@cache
def whole(name):
    """The run of class S on 4 processes."""
    return run(name)


@pytest.mark.parametrize("name", KERNELS)
def test_class_s_verifies(name):
    kernel, answers, _, _ = whole(name)
    values = kernel.verify(answers)
    assert values and all(value.ok for value in values), values
    assert all(value.tolerance <= 1e-8 for value in values)


@pytest.mark.parametrize("name, size", [more(name, size) for size, names in SLOW.items()
                                        for name in names])
def test_larger_classes_verify(name, size):
    kernel, answers, _, _ = run(name, size)
    assert all(value.ok for value in kernel.verify(answers)), kernel.verify(answers)


OTHERS = {"is": (1, 8), "cg": (1, 2, 8), "mg": (1, 2, 8), "ft": (1, 8), "lu": (1,), "sp": (1,),
          "bt": (1,)}


@pytest.mark.parametrize("name, procs", [
    *[(name, procs) for name, several in OTHERS.items() for procs in several],
    more("lu", 8), more("sp", 9), more("bt", 9)])
def test_other_numbers_of_processes(name, procs):
    kernel, answers, sent, _ = run(name, procs=procs)
    assert all(value.ok for value in kernel.verify(answers)), kernel.verify(answers)
    same(kernel, sent)


def same(kernel, sent):
    for rank, counts in enumerate(sent):
        wanted = +kernel.messages(rank, kernel.iterations)
        by_data = {call for call, length in wanted if length == BY_DATA}
        had = Counter()
        for (call, length), count in counts.items():
            had[call, BY_DATA if call in by_data else length] += count
        assert had == wanted, rank


@pytest.mark.parametrize("name", KERNELS)
def test_messages_are_those_that_the_kernel_says(name):
    kernel, _, sent, _ = whole(name)
    same(kernel, sent)


# The table of the specification, for 4 processes and class S: calls and bytes of each process

def test_messages_of_ep():
    _, _, sent, _ = whole("ep")
    assert sent == [Counter({("Allreduce", 8): 2 * 2, ("Allreduce", 80): 2})] * 4


def test_messages_of_is():
    _, _, sent, _ = whole("is")
    for counts in sent:
        assert counts["Allreduce", 4 * (512 + 5)] == 10 * 2
        assert counts["Alltoall", 4] == 10 * 3
        lengths = Counter({length: count for (call, length), count in counts.items()
                           if call == "Alltoallv"})
        assert lengths.total() == 10 * 3
        assert all(abs(length - 4 * 2 ** 16 / 16) < 1000 for length in lengths)
        assert counts.total() == 10 * (2 + 3 + 3)


def test_messages_of_cg():
    """26 times a row sum and a transpose of 8·na/rows, and about 53 sums of 8 B."""
    _, _, sent, _ = whole("cg")
    assert sent == [Counter({("Send", 8 * 1400 // 2): 15 * 26 * 2, ("Send", 8): 15 * 52,
                             ("Send", 16): 15})] * 4


def test_messages_of_mg():
    """3·lt - 1 swaps of 6 faces an iteration, and one before; the largest across axis 2 has 4,352
    B."""
    _, _, sent, _ = whole("mg")
    for counts in sent:
        assert counts["Send", 4352] == 2 * (4 * 3 + 1)
        assert sum(count for (call, _), count in counts.items()
                   if call == "Send") == 6 * (4 * (3 * 5 - 1) + 1)
        assert counts["Allreduce", 8] == 2 * 2 * 2


def test_messages_of_ft():
    """Forward once, then back: Alltoall of 16·nx·ny·nz/P² to each; a Reduce of 16 B."""
    _, _, sent, _ = whole("ft")
    common = Counter({("Alltoall", 64 ** 3): 7 * 3})
    assert sent == [common, *[common + Counter({("Reduce", 16): 6})] * 3]


def test_messages_of_lu():
    """2·(n - 2) pencils of 40·rows and 2 faces of 80·n²/√P an iteration."""
    _, _, sent, _ = whole("lu")
    norms = {("Allreduce", 40): 2}
    assert sent == [Counter({("Send", 40 * 5): 50 * 2 * 10, ("Isend", 80 * 12 * 6): 50 * 2,
                             **norms})] * 4


def test_messages_of_sp():
    """6 faces of 80·m²(q - 1); along each axis q - 1 of 176·(m - 1)², and then of 80·(m - 1)²."""
    _, _, sent, _ = whole("sp")
    assert sent == [Counter({("Isend", 80 * 36): 100 * 6, ("Isend", 176 * 25): 100 * 3,
                             ("Isend", 80 * 25): 100 * 3})] * 4


def test_messages_of_bt():
    """Faces as SP; along each axis q - 1 of 240·(⌊n/q⌋ + 1)², and then of 40·(⌊n/q⌋ + 1)²."""
    _, _, sent, _ = whole("bt")
    assert sent == [Counter({("Isend", 80 * 36): 60 * 6, ("Isend", 240 * 49): 60 * 3,
                             ("Isend", 40 * 49): 60 * 3})] * 4


def test_pencils_of_lu_at_class_a():
    """31,000 a process of 1,240 B."""
    kernel = get("lu")("A", 4)
    assert [kernel.messages(rank, 250)["Send", 1240] for rank in range(4)] == [31000] * 4


# Class A, whose computation is charged alone

@pytest.mark.parametrize("procs", [4, 8])
@pytest.mark.parametrize("name", KERNELS)
def test_class_a_sends_what_the_kernel_says(name, procs):
    if get(name).refuses("A", procs):
        assert (name, procs) in (("sp", 8), ("bt", 8))
        return
    kernel, _, sent, _ = run(name, "A", procs, whole=False, most=1)
    for rank, counts in enumerate(sent):
        assert counts.total() == (+kernel.messages(rank, 1)).total()
    messages, length = kernel.volume(1)
    assert messages == sum(counts.total() for counts in sent)
    had = sum(bytes_each * count for counts in sent
              for (_, bytes_each), count in counts.items())
    # Of IS the data decide how much goes where.
    assert had == pytest.approx(length, rel=2e-3 if kernel.by_data else 0)
    for rank, counts in enumerate(sent):
        assert kernel.lengths(rank).total() == counts.total()
        assert max(kernel.lengths(rank)) >= max(bytes_each for _, bytes_each in counts)


# Charged computation

@pytest.mark.parametrize("name", [name for name in KERNELS if not get(name).by_data])
def test_without_arithmetic_the_messages_and_charges_are_the_same(name):
    _, done, with_it, one = whole(name)
    _, charged, without, other = run(name, whole=False)
    assert without == with_it and charged != done
    assert [mpi.charged for mpi in one.ranks] == [mpi.charged for mpi in other.ranks]


ITEMS = {"is": ("is_key", 10 * 2 ** 16), "ep": ("ep_pair", 2 ** 24),
         "ft": ("ft_point", 64 ** 3 * (4 + 6 * 3)),
         "lu": ("lu_point", 12 ** 3 * 50), "sp": ("sp_point", 12 ** 3 * 100),
         "bt": ("bt_point", 12 ** 3 * 60)}


@pytest.mark.parametrize("name", ITEMS)
def test_charges_are_by_the_number_of_data(name):
    """All processes together, in the timed part and IS's iteration before."""
    _, _, _, world = whole(name)
    item, count = ITEMS[name]
    # LU takes its first residual twice.
    untimed = {"is": 2 ** 16, "ft": 4 * 64 ** 3, "lu": int(1.6 * 12 ** 3), "sp": 12 ** 3,
               "bt": 12 ** 3}.get(name, 0)
    total = sum((mpi.charged for mpi in world.ranks), Counter())
    assert set(total) == {item} and count + untimed - 4 <= total[item] <= count + untimed


@pytest.mark.parametrize("name", ["cg", "mg", "is", "ft", "lu", "sp", "bt"])
def test_a_shorter_run_has_as_many_messages_an_iteration(name):
    kernel, _, sent, _ = run(name, most=2)
    for rank, counts in enumerate(sent):
        assert counts.total() == (+kernel.messages(rank, 2)).total()


# What verification finds

class Wrong(Comm):
    """Rank 0 gets a wrong element in each 300th message and each sum, and keys that are all
    alike."""

    got = 0

    def spoil(self, buffer, every=1):
        self.got += 1
        if self.rank == 0 and self.got % every == 0:
            buffer.reshape(-1)[-1] += 1

    async def take(self, buffer, key):
        await super().take(buffer, key)
        self.spoil(buffer, 300)

    async def Allreduce(self, sendbuf, recvbuf, op=SUM):
        await super().Allreduce(sendbuf, recvbuf, op)
        if recvbuf.dtype != np.int32:
            self.spoil(recvbuf)

    async def Alltoall(self, sendbuf, recvbuf):
        await super().Alltoall(sendbuf, recvbuf)
        if recvbuf.dtype == np.complex128:
            self.spoil(recvbuf)

    async def Alltoallv(self, sendbuf, recvbuf):
        await super().Alltoallv(sendbuf, recvbuf)
        recvbuf[0][:] = recvbuf[0][0]


@pytest.mark.parametrize("name", KERNELS)
def test_wrong_data_fail_verification(name):
    kernel, answers, _, _ = run(name, comm=Wrong)
    assert not all(value.ok for value in kernel.verify(answers))


def test_a_figure_that_is_none_is_not_verified():
    assert not Value("norm", float("nan"), 1.0, 1e-8).ok
    assert Value("norm", 1 + 1e-9, 1.0, 1e-8).ok and not Value("norm", 1 + 2e-8, 1.0, 1e-8).ok
    assert Value("rank", 0.0, 0.0, 0.0).ok and not Value("rank", 1.0, 0.0, 0.0).ok


@pytest.mark.parametrize("name, procs, why", [
    ("is", 3, "must be a power of two"), ("ep", 6, "must be a power of two"),
    ("cg", 256, "16 columns of processes must divide 1400"), ("mg", 16, "at most 8"),
    ("ft", 128, "at most 64"), ("lu", 16, "at most 9"), ("sp", 8, "must be a square"),
    ("bt", 16, "at most 9")])
def test_numbers_of_processes_that_do_not_fit(name, procs, why):
    with pytest.raises(ValueError, match=f"{name.upper()} of class S on {procs} processes: {why}"):
        get(name)("S", procs)


def test_a_world_in_which_nobody_can_go_on_says_so():
    async def program(mpi):
        await mpi.COMM_WORLD.Recv(np.zeros(1), 1 - mpi.COMM_WORLD.rank)

    with pytest.raises(Stuck, match="wait for messages"):
        World(2).run(program)
