"""Jobs for nodes with several NICs, of layers that take interrupts or run firmware: each CPU drives
the NICs that interrupt it, each by a layer of its own."""

import random
from collections.abc import Awaitable, Callable
from typing import Any

from nicbed.host.fm.fm import Fm
from nicbed.host.processor import FirmwareCrash, NicProcessor
from nicbed.host.via.kernel import Kernel
from nicbed.testbench.lab import Lab

from tests.programs.firmware import FIRMWARE
from tests.programs.gm import Station, class_of
from tests.programs.target_jobs import as_rows
from tests.programs.vipl import SUCCESS, Side, connect

__all__ = ["PROGRAMS", "answered_meanwhile", "crash", "layers", "profiles", "program"]

LONGEST = 48

Party = Callable[[Any, list[Any], int], Awaitable[Any]]
"""A layer's part of a program, on ``nics`` of a CPU; what it saw."""


def _data(source: int, index: int) -> bytes:
    draw = random.Random(f"{source} {index}")
    return draw.randbytes(draw.randrange(1, LONGEST + 1))


def _opposite(here: Any) -> int:
    """The NIC of the same number on the next node."""
    return (here.number + here.nics) % here.nodes


async def over_via(cpu: Any, nics: list[Any], count: int) -> list[Any]:
    """To and fro on a VI for each NIC, blocking; those that come last are waited for first."""
    sides = []
    for here in nics:
        sides.append(await Side(here).open())
        sides[-1].other = _opposite(here)
    for side in sides:
        for index in range(count):
            await side.receive(side.segment(4096 + 64 * index, LONGEST))
        await connect(side.vipl, side.nic, side.vi, side.other, client=cpu.number == 0)
    seen = []
    for index in range(count):
        async def send(side: Side, index: int = index) -> None:
            data = _data(side.node.number, index)
            side.process.write(side.va, data)
            await side.send(side.segment(0, len(data)))

        async def take(side: Side, index: int = index) -> None:
            result, _ = await side.vipl.VipRecvWait(side.vi, None)
            assert result is SUCCESS, result
            data = _data(side.other, index)
            assert side.process.read(side.va + 4096 + 64 * index, len(data)) == data
            seen.append((side.node.number, index))

        if cpu.number:
            for side in reversed(sides):
                await take(side)
        for side in sides:
            await send(side)
        if not cpu.number:
            for side in reversed(sides):
                await take(side)
        for side in sides:
            result, _ = await side.vipl.VipSendWait(side.vi, None)
            assert result is SUCCESS, result
    return [seen, [here.service(Kernel).interrupts for here in nics]]


async def over_gm(cpu: Any, nics: list[Any], count: int) -> list[Any]:
    """Messages each way on a port for each NIC; whoever waits blocks."""
    stations = []
    for here in nics:
        station = await Station(here).open()
        station.gm.spin = 0
        await station.provide(class_of(LONGEST), count=4)
        stations.append(station)
    # The other side's ports open when they like, and a message to a closed port fails.
    await cpu.port.delay(400_000)
    for index in range(count):
        for station in stations:
            await station.send(_data(station.node.number, index), _opposite(station.node),
                               size=class_of(LONGEST))
    for station in reversed(stations):
        await station.until(lambda station=station: len(station.got) == count)
        await station.idle()
    return [[(got.node, got.data) for got in station.got] for station in stations]


async def over_fm(cpu: Any, nics: list[Any], count: int) -> list[Any]:
    """Messages of all NICs to all NICs, extracted from all in turn."""
    seen: list[Any] = []

    def party(here: Any) -> Fm:
        def on_frame(fm: Fm, source: int, at: int, size: int) -> None:
            seen.append((here.number, source, fm.memory.read(at, size)))
        return Fm(here, [on_frame])

    fms = [party(here) for here in nics]
    buffer = cpu.allocate(LONGEST)
    for fm in fms:
        await fm.FM_initialize()
    # What a node without firmware gets is lost.
    await cpu.port.delay(400_000)
    for index in range(count):
        for fm in fms:
            data = _data(fm.node.number, index)
            await cpu.store(buffer, data)
            for to in range(fm.node.nodes):
                if to != fm.node.number:
                    await fm.FM_send(to, 0, buffer, len(data))
    while len(seen) < count * sum(fm.node.nodes - 1 for fm in fms):
        for fm in fms:
            await fm.FM_extract()
    # The others may still have packets on the way to this node that came back.
    await cpu.port.delay(400_000)
    for fm in fms:
        await fm.FM_extract()
    return seen


async def answered_meanwhile(cpu: Any) -> None:
    """Node 1 waits on its NIC 1 for a message that node 0 sends when it has an answer from NIC 0,
    whose message node 1 has to notice by an interrupt."""
    one, other = sides = [await Side(cpu.nic(nic)).open() for nic in range(2)]
    for side in sides:
        side.other = _opposite(side.node)
        await side.receive(side.segment(4096, 8))
        await connect(side.vipl, side.nic, side.vi, side.other, client=cpu.number == 0)

    async def wait(side: Side) -> None:
        result, _ = await side.vipl.VipRecvWait(side.vi, None)
        assert result is SUCCESS

    async def answer(*_: Any) -> None:
        await one.send(one.segment(0, 8))

    if cpu.number:
        assert await one.vipl.VipRecvNotify(one.vi, None, answer) is SUCCESS
        await wait(other)
    else:
        await one.send(one.segment(0, 8))
        await wait(one)
        await other.send(other.segment(0, 8))
        await other.vipl.VipSendWait(other.vi, None)


PROGRAMS: dict[str, Party] = {"via": over_via, "gm": over_gm, "fm": over_fm}


def program(layer: str, count: int) -> Any:
    """The program of each CPU."""
    async def run(cpu: Any) -> list[Any]:
        nics = [cpu.nic(nic) for nic in range(cpu.nics) if nic % cpu.cpus == cpu.cpu]
        return [await PROGRAMS[layer](cpu, nics, count) if nics else None, await cpu.port.flush()]
    return run


async def profiles(lab: Lab) -> list[dict[int, int]]:
    """Cycles by program counter of each NIC, of a run of Fast Messages on NIC 1 of each node."""
    async def run(cpu: Any) -> None:
        await Fm(cpu.nic(1)).FM_initialize()
        await cpu.port.flush()

    return (await lab.run([run] * lab.description.fabric.nodes, profile=True)).profiles


async def crash(lab: Lab, node: int, nic: int) -> tuple[int, int | None, str]:
    """The firmware of this NIC returns from main. Node and NIC, and the firmware that is named."""
    async def run(cpu: Any) -> None:
        if cpu.number == node:
            for number in range(cpu.nics):
                # On the others it waits for a packet.
                await cpu.nic(number).service(NicProcessor).start(
                    FIRMWARE / "crashes", {"how": 100 if number == nic else 0})

    try:
        await lab.run([run] * lab.description.fabric.nodes)
    except FirmwareCrash as error:
        return error.node, error.nic, str(error).rpartition(" ")[2]
    raise AssertionError("no crash")


async def layers(lab: Lab, layer: str, count: int = 3, **options: Any) -> dict[str, Any]:
    """All of a run of ``layer`` on all NICs."""
    description = lab.description
    programs = [program(layer, count)] * description.node.cpus
    return as_rows(await lab.run([programs] * description.fabric.nodes, **options))
