"""What a message costs in Python does not depend on how many nodes there are."""

import pytest
from nicbed.host.am import Gam

from tests.models.calls import counted
from tests.programs.am import describe

FEW, MANY = 40, 120
COMPUTE = 6000
"""Cycles between requests: an acknowledgement that is owed falls due in between."""


def calls(nodes: int, count: int, compute: int) -> int:
    """Calls of the host's functions in a run in which node 0 sends ``count`` requests to node 1,
    which serves them in am_disable, as all others do."""
    def serve(am, source, number):
        return am.reply(1, number)

    def done(am, source, number):
        pass

    async def program(node):
        am = Gam(node, [serve, done])
        await am.enable()
        for number in range(count if node.number == 0 else 0):
            await am.request(1, 0, number)
            await node.port.delay(compute)
            await am.wait(lambda: am.peers[1].credits == 75)
        await am.disable()

    found, _ = counted(describe({"fabric.nodes": nodes, "fabric.topology": "fat_tree",
                                 "am.retry_timeout": 8000}), [program] * nodes)
    return sum(found.values())


@pytest.mark.parametrize("compute, bound", [(0, 27.2), (COMPUTE, 39.3)])
def test_calls_of_a_message(compute, bound):
    def more(nodes: int) -> float:
        few, many = (calls(nodes, count, compute) for count in (FEW, MANY))
        return (many - few) / (2 * (MANY - FEW))

    least, most = more(2), more(32)
    assert 0.95 * bound < least <= bound
    assert most == pytest.approx(least, abs=2)
