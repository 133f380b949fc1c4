"""What the network has lost is named at the limit: nobody sends it again."""

from typing import Any

import pytest
from nicbed.host.fm import Fm
from nicbed.host.runtime import Stuck

from tests.models.target import Model
from tests.programs.am import describe

COUNT = 200


async def sends(node: Any) -> None:
    fm = Fm(node, [lambda *_: None])
    await fm.FM_initialize()
    for number in range(COUNT):
        await fm.FM_send_4(1, 3, number, 0, 0, 0)
    await fm.FM_finalize()


async def takes(node: Any) -> None:
    got: list[int] = []
    fm = Fm(node, [lambda *_: None] * 3 + [lambda fm, source, number, *_: got.append(number)])
    await fm.FM_initialize()
    await fm.extract_until(lambda: len(got) == COUNT)
    await fm.FM_finalize()


def stopped(knobs: dict[str, Any], lose: dict[int, Any], late: int = 0) -> list[str]:
    """The diagnosis of a run that does not end; ``lose``: by node, which packets vanish; node 1
    takes none before cycle ``late``."""
    async def comes(node: Any) -> None:
        await node.port.delay(late)
        await node.port.flush()
        await takes(node)

    model = Model(describe({"nic.processor": "picorv32"}, knobs))
    for node, choose in lose.items():
        model.nics[node].lose = choose
    with pytest.raises(Stuck) as error:
        model.run([sends, comes if late else takes], limit=3_000_000)
    return str(error.value).splitlines()


def nth(*which: int) -> Any:
    """Those of the packets that a node sends."""
    count = -1

    def lose(data: bytes) -> bool:
        nonlocal count
        count += 1
        return count in which
    return lose


RARE = {"faults.drop": 1e-9}
"""Chance loses none of the few packets here, but some may be."""


def test_a_lost_message_is_named() -> None:
    *_, line = stopped(RARE, {0: nth(7)})
    assert line.startswith("  the network lost 1 packet of Fast Messages, which send nothing "
                           "again (faults.drop = 1e-09): the first is a message for handler 3 from "
                           "node 0 to node 1, sent at cycle ")


def test_a_lost_answer_is_named() -> None:
    *_, line = stopped(RARE, {1: lambda data: True})
    assert "an answer to messages that were accepted from node 1 to node 0, sent at" in line


@pytest.mark.parametrize("fault", ["drop", "corrupt"])
def test_what_chance_loses_is_counted(fault: str) -> None:
    *_, line = stopped({f"faults.{fault}": 0.2}, {})
    assert f"(faults.{fault} = 0.2): the first is " in line
    assert 1 < int(line.split()[3]) < COUNT


def test_what_lies_untaken_is_not_lost() -> None:
    assert not any("lost" in line for line in stopped(RARE, {}, late=2_900_000_000))


def test_nothing_is_noted_where_nothing_is_lost() -> None:
    assert not any("lost" in line for line in stopped({}, {0: nth(7)}))
