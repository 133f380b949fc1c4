"""Which operations of Active Messages are in one block."""

from collections.abc import Sequence
from typing import Any

import pytest
from nicbed.host.am import Gam
from nicbed.layouts.operations import BLOCK, Op

from tests.models.target import Model
from tests.programs.am import describe

OPERATION = 15


class Blocks(Model):
    """Notes the operations of each block, by port."""

    def __init__(self) -> None:
        super().__init__(describe({}))
        self.blocks: list[tuple[int, list[int]]] = []

    def was_given(self, port: int, entries: Sequence[tuple[Any, ...]]) -> None:
        super().was_given(port, entries)
        self.blocks.append((port, [entry[0] & OPERATION for entry in entries]))


def blocks_of_packets(before_request: int, before_reply: int) -> list[list[int]]:
    """The blocks with a request and its reply; so many operations are put before each."""
    done = []

    def put(node: Any, count: int) -> None:
        for number in range(count):
            node.port.put_touch(8 * number, 8)

    def ask(am: Gam, source: int) -> Any:
        model.blocks[:] = [block for block in model.blocks if block[0] == source]
        put(am.node, before_reply)
        return am.reply(1)

    def answer(am: Gam, source: int) -> None:
        done.append(source)

    async def program(node: Any) -> None:
        am = Gam(node, [ask, answer])
        await am.enable()
        if node.number == 0:
            await node.port.flush()
            model.blocks.clear()
            put(node, before_request)
            await am.request(1, ask)
            await am.wait(lambda: done)
        await am.disable()

    model = Blocks()
    model.run([program] * 2, limit=1_000_000)
    return [next(ops for port, ops in model.blocks if port == node and Op.PIO_WRITE in ops)
            for node in (0, 1)]


@pytest.mark.parametrize("before", range(BLOCK + 1))
def test_a_request_and_its_check_go_to_the_target_together(before):
    """One wait is for both, also where the packet alone would have had the block's last place."""
    found, _ = blocks_of_packets(before, 0)
    assert found[-2:] == [Op.PIO_WRITE, Op.POLL]
    assert len(found) == (before if before <= BLOCK - 2 else 0) + 2


@pytest.mark.parametrize("before", range(BLOCK + 1))
def test_a_reply_takes_the_last_place(before):
    """Nothing must be in its block."""
    _, found = blocks_of_packets(0, before)
    assert found.index(Op.PIO_WRITE) == (before if before <= BLOCK - 1 else 0)
