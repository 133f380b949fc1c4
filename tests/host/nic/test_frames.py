"""Frames by the rings and windows of the NIC, against what was sent."""

import random

import pytest
from nicbed.host.nic.kinds import Frames, Queues, Rings, VirtualInterfaces, Windows
from nicbed.host.nic.offers import kinds
from nicbed.layouts.description import Description

from tests.models.target import Model

LIMIT = 2_000_000


def describe(**sections):
    return Description.model_validate({"via": {"design": "kernel"}, **sections})


def exchange(description, lengths, hold=0, pause=0):
    """Node 0 sends a frame of each of ``lengths`` to node 1, which holds up to ``hold`` and
    then releases them in another order, and computes for ``pause`` cycles before it begins."""
    plan = random.Random(5)
    data = [plan.randbytes(length) for length in lengths]

    async def source(node):
        frames = node.nic_driver(Frames)
        await frames.open()
        await node.port.delay(1000)
        places = [node.allocate(max(1, length)) for length in lengths]
        for at, one in zip(places, data, strict=True):
            node.memory.write(at, one)
        for at, length in zip(places, lengths, strict=True):
            await frames.send(1, at, length)
        await frames.drain()
        await frames.close()
        return frames

    async def sink(node):
        frames = node.nic_driver(Frames)
        await frames.open()
        await node.port.delay(pause)
        found, held = [], []
        while len(found) < len(lengths):
            frame = await frames.poll()
            if frame is None:
                await frames.wait()
                continue
            assert frame.source == 0 and frame.trace
            found.append(node.memory.read(frame.address, frame.length))
            held.append(frame)
            if len(held) > hold:
                plan.shuffle(held)
                for frame in held:
                    await frames.release(frame)
                held.clear()
        assert await frames.poll() is None
        return found

    model = Model(description)
    found = model.run([source, sink], limit=LIMIT).results[1]
    assert sorted(found) == sorted(data)
    return model


@pytest.mark.parametrize("sections", [
    {}, {"nic": {"attachment": "local_bus"}}, {"nic": {"attachment": "memory_bus"}},
    {"nic": {"send_ring": 0}}, {"nic": {"send_ring": 4, "receive_ring": 4}}],
    ids=["io bus", "local bus", "memory bus", "no send ring", "short rings"])
def test_every_length_arrives(sections):
    plan = random.Random(2)
    lengths = [1, 7, 8, 9, 23, 24, 25, 32, 33, 1000, 1023, 1024]
    exchange(describe(**sections), lengths + [plan.randint(1, 1024) for _ in range(40)])


@pytest.mark.parametrize("hold", [0, 1, 3])
def test_frames_are_released_in_any_order(hold):
    """With a ring of four slots, of which up to three are held."""
    exchange(describe(nic={"receive_ring": 4}), [8 + one for one in range(60)], hold)


def test_a_sender_waits_for_a_receiver_that_does_not_look():
    """Nothing is dropped, nor refused: 300 frames are more than rings and FIFOs hold."""
    model = exchange(describe(nic={"send_ring": 8, "receive_ring": 8}), [16, 200] * 150,
                     pause=50_000)
    assert not any(nic.registers[name] for nic in model.nics
                   for name in ("send_refused", "doorbells_refused"))


def test_a_lost_frame_stays_lost_and_is_no_other():
    """Every second frame is lost. The NIC that dropped them counts what came with a bad CRC."""
    async def source(node):
        frames = node.nic_driver(Frames)
        await frames.open()
        await node.port.delay(1000)
        place = node.allocate(64)
        for number in range(20):
            await node.store(place, bytes([number] * 64))
            await frames.send(1, place, 64)
            await frames.drain()

    async def sink(node):
        frames, found = node.nic_driver(Frames), []
        await frames.open()
        await node.port.delay(100_000)
        while (frame := await frames.poll()) is not None:
            found.append(node.memory.read(frame.address, 1)[0])
            await frames.release(frame)
        return found

    model, seen = Model(describe()), []
    model.nics[0].lose = lambda data: seen.append(1) or len(seen) % 2 == 0
    assert model.run([source, sink], limit=LIMIT).results[1] == [*range(0, 20, 2)]


@pytest.mark.parametrize("length", [0, -1, 1025])
def test_lengths_that_no_frame_has(length):
    async def program(node):
        frames = node.nic_driver(Frames)
        await frames.open()
        await frames.send(1, node.allocate(8), length)

    with pytest.raises(ValueError, match=rf"1 to 1024 bytes \(nic\.mtu\), not {length}"):
        Model(describe()).run([program, None], limit=1000)


def test_one_driver_a_nic():
    async def program(node):
        assert node.nic(0).nic_driver(Frames) is node.nic(0).nic_driver(Frames)
        assert node.nic(0).nic_driver(Frames) is not node.nic(1).nic_driver(Frames)
        return node.nic(1).nic_driver(Frames).node.number

    assert Model(describe(node={"nics": 2})).run([program, program],
                                                 limit=1000).results == [1, 3]


def test_drivers_of_a_nic():
    processor = {"nic": {"processor": "picorv32"}}
    assert kinds(describe()) == (Rings, Windows, Frames)
    assert kinds(describe(nic={"send_ring": 0})) == (Windows, Frames)
    assert kinds(describe(**processor)) == (Queues,)
    assert kinds(Description()) == (VirtualInterfaces, Rings, Windows, Frames)

    async def program(node):
        node.nic_driver(Frames)

    with pytest.raises(RuntimeError, match="node 0: NIC design rings has no driver of kind Frames; "
                                           "it has Queues"):
        Model(describe(**processor)).run([program, None], limit=1000)
