"""Services: one of a kind for each owner, made when it is first asked for."""

from typing import NamedTuple

from nicbed.host.port.services import Services
from nicbed.layouts.description import Description

from tests.models.target import Model


def test_the_first_that_asks_has_it_made() -> None:
    class One:
        pass

    services = Services()
    found = services.find(One, One)
    assert services.find(One, lambda: One()) is found and Services().find(One, One) is not found
    assert Services(found).find(One, One) is found


def test_going_through_them_one_may_make_more() -> None:
    services = Services(1, "two")
    seen = []
    for one in services:
        services.find(float, lambda: 3.0)
        seen.append(one)
    assert seen == [1, "two"] and [*services] == [1, "two", 3.0]


class Agent:
    """A service of any scope."""

    def __init__(self, node=None):
        self.node = node


class Found(NamedTuple):
    own: Agent
    kernel: Agent
    node: Agent
    run: Agent


def found_by(view) -> Found:
    return Found(view.service(Agent), view.kernel(Agent), view.shared_service(Agent),
                 view.run_service(Agent))


def run(program, **node) -> list[list]:
    """The results of ``program`` on two CPUs of two nodes."""
    description = Description.model_validate({"node": {"cpus": 2, **node}})
    return Model(description).run([[program] * 2] * 2).results


def test_each_cpu_and_each_of_several_nics_has_its_own() -> None:
    """So it has the kernel's part of a layer. The rest is the node's, or the run's."""
    async def program(cpu):
        views = found_by(cpu), found_by(cpu.nic(1))
        assert views == (found_by(cpu), found_by(cpu.nic(1)))
        return views

    nodes = run(program, nics=2)
    every = [view for cpus in nodes for views in cpus for view in views]
    assert all(view.own is view.kernel for view in every)
    assert len({view.own for view in every}) == 8 and len({view.run for view in every}) == 1
    assert [len({view.node for views in cpus for view in views}) for cpus in nodes] == [1, 1]
    assert len({view.node for view in every}) == 2
    assert [view.own.node.place for view in nodes[1][0]] == ["node 1", "node 1, NIC 1"]


def test_a_shared_kernel_is_one_however_it_is_entered() -> None:
    """Also by a view of the only NIC, which may be the one that shares it."""
    async def program(cpu):
        cpu.nic(0).share_nic()
        cpu.share_nic()
        return found_by(cpu), found_by(cpu.nic(0))

    for number, cpus in enumerate(run(program)):
        kernels = {view.kernel for views in cpus for view in views}
        assert len(kernels) == 1 and len({view.own for views in cpus for view in views}) == 2
        node = kernels.pop().node
        assert (node.number, node.cpu, node.cpus) == (number, -1, 2) and node.host.kernel is node
