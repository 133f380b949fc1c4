"""The promises of MPL as programs and checks that run on any target."""

import random
from collections import deque
from typing import Any

from nicbed.host.mpl import DONTCARE, Mpl, Status

from tests.programs.am import Scenario, pattern

SIZES = (0, 1, 4, 8, 9, 63, 64, 500, 1024, 1025, 5000)
ACK = {"am.credit": "ack"}


def scenario(main: Any, nodes: int = 2, check: Any = lambda results: None,
             settings: dict[str, Any] | None = None) -> Scenario:
    """``main(mpl)`` on all of ``nodes``."""

    async def program(node):
        mpl = Mpl(node)
        await mpl.enable()
        found = await main(mpl)
        await mpl.disable()
        return found

    return Scenario([program] * nodes, check, {"fabric.nodes": nodes}, settings or {})


class Model:
    """Matching as MPL promises it, of the messages in the order in which they are sent to a node by
    one other: the oldest that a receive takes."""

    def __init__(self) -> None:
        self.waiting: dict[int, deque[tuple[int, int]]] = {}

    def sent(self, source: int, type: int, size: int) -> None:
        self.waiting.setdefault(source, deque()).append((type, size))

    def takes(self, source: int, type: int) -> tuple[int, int]:
        """Type and size of the oldest message of ``source`` of ``type``, or of any."""
        queue = self.waiting[source]
        found = next(one for one in queue if type in (DONTCARE, one[0]))
        queue.remove(found)
        return found


def random_messages(seed: int, count: int = 40, nodes: int = 3, *,
                    settings: dict[str, Any] | None = None) -> Scenario:
    """Every node sends ``count`` messages of random size and type to random nodes, itself included,
    and receives all that come to it: by source and type, by source, by type, or any, posted before
    or after they arrive. What each receive got is checked against the model of matching."""
    plan = random.Random(seed)
    sends = [[(plan.randrange(nodes), plan.randrange(3), plan.choice(SIZES), plan.random() < 0.5)
              for _ in range(count)] for _ in range(nodes)]

    async def main(mpl: Mpl) -> int:
        node = mpl.node
        me, draw = node.number, random.Random(seed * 100 + node.number)
        largest = max(SIZES)
        coming = {source: [(type, size, number) for number, (dest, type, size, _) in
                           enumerate(sends[source]) if dest == me] for source in range(nodes)}
        left = sum(map(len, coming.values()))
        source_buffers, open_sends, open_receives = [], [], deque()
        model = Model()
        for source, several in coming.items():
            for type, size, _ in several:
                model.sent(source, type, size)
        for number, (_, _, size, _) in enumerate(sends[me]):
            place = node.allocate(largest)
            node.memory.write(place, pattern(size, me * 64 + number))
            source_buffers.append(place)
        buffers = [node.allocate(largest + 8) for _ in range(left)]
        to_do = [("send", number) for number in range(count)]
        receives = [("receive", number) for number in range(left)]
        while to_do or receives:
            chosen = to_do if to_do and (not receives or draw.random() < 0.5) else receives
            action, number = chosen.pop(0)
            if action == "send":
                dest, type, size, blocking = sends[me][number]
                # A blocking send of a long message waits for its receive; only others may come
                # before those that this node has still to post.
                blocking = blocking and size <= 8
                if blocking:
                    await mpl.mp_bsend(source_buffers[number], size, dest, type)
                else:
                    open_sends.append(await mpl.mp_send(source_buffers[number], size, dest, type))
            else:
                candidates = [source for source in range(nodes) if model.waiting.get(source)]
                source = draw.choice(candidates)
                type = (draw.choice([one[0] for one in model.waiting[source]])
                        if draw.random() < 0.6 else DONTCARE)
                wanted = model.takes(source, type)
                place = buffers[number]
                node.memory.write(place, b"\xaa" * (largest + 8))
                handle = await mpl.mp_recv(place, largest, source, type)
                open_receives.append((handle, source, wanted, place))
            if open_receives and draw.random() < 0.2:
                await mpl.mp_status(open_receives[0][0])
        got = []
        for handle, source, (type, size), place in open_receives:
            status = await mpl.mp_wait(handle)
            assert status == Status(source, type, size)
            data = node.memory.read(place, largest + 8)
            assert data[size:] == b"\xaa" * (largest + 8 - size)
            got.append((source, type, data[:size]))
        for handle in open_sends:
            await mpl.mp_wait(handle)
        # By source and type, messages are received in the order in which they were sent.
        for source, several in coming.items():
            for type in range(3):
                assert ([data for one, kind, data in got if (one, kind) == (source, type)]
                        == [pattern(size, source * 64 + number)
                            for kind, size, number in several if kind == type])
        return len(got)

    def check(results):
        assert sum(results) == nodes * count

    return scenario(main, nodes, check, settings)
