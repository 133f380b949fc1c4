"""Layers on the NICs of a node that has several: which NIC, whose, and who the peers are."""

from typing import Any

import pytest
from nicbed.host.am import Gam
from nicbed.host.gm.driver import Driver
from nicbed.host.kernel.interrupts import Handler, Interrupts
from nicbed.host.kernel.lock import kernel_lock
from nicbed.host.port.costs import Costs
from nicbed.host.port.cpu import ALL
from nicbed.host.port.diagnosis import place
from nicbed.host.port.host import Host
from nicbed.host.port.node import Node
from nicbed.host.port.port import Port
from nicbed.host.port.running import Running
from nicbed.host.port.services import Services
from nicbed.host.processor import FirmwareCrash
from nicbed.host.rpc import Rpc
from nicbed.host.runtime import Stuck
from nicbed.host.via.kernel import Kernel
from nicbed.layouts.description import Description
from nicbed.layouts.fabric import graph_of
from nicbed.layouts.operations import NIC_BASE, NIC_BYTES
from nicbed.layouts.processor import CrashReason
from nicbed.layouts.registers import address

from tests.models.target import Model
from tests.programs.am import describe as describe_knobs
from tests.programs.nics_layers import answered_meanwhile, program
from tests.programs.vipl import SMALL

CORE = {"nic.processor": "picorv32"}


class Memory:
    size = 1 << 16

    def reader(self, form: Any) -> Any:
        return lambda address: form.unpack(bytes(form.size))

    def writer(self, form: Any) -> Any:
        return lambda address, *values: None


def describe(nics: int, cpus: int = 2, nodes: int = 3) -> Description:
    return Description.model_validate({"node": {"nics": nics, "cpus": cpus},
                                       "fabric": {"nodes": nodes}})


def views(description: Description, number: int = 1, running: set[int] | None = None
          ) -> list[Node]:
    """Node ``number`` as each of its CPUs sees it."""
    cpus = description.node.cpus
    ports = [Port(number * cpus + cpu, number, Costs(description), cpu) for cpu in range(cpus)]
    host = Host(number, description, Memory(), graph_of(description), ports, Services(), running)
    return [Node(host, cpu) for cpu in host.cpus]


def test_a_nic_s_node_has_wire_addresses() -> None:
    description = describe(3)
    graph = graph_of(description)
    assert len(graph.places) == 9
    _, second = views(description)
    here = second.nic(2)
    assert (here.number, here.nodes, here.cpu, here.cpus) == (5, 9, 1, 2)
    assert [here.route(to) for to in range(9) if to != 5] == [
        graph.route(5, to) for to in range(9) if to != 5]
    assert here.nic_offset == 2 * NIC_BYTES and second.nic(0).nic_offset == 0
    assert here.port is second.port and here.memory is second.memory
    # What is allocated by one is not allocated by another, and trace numbers are the CPU's.
    assert len({here.allocate(8), second.allocate(8), second.nic(1).allocate(8)}) == 3
    assert len({here.trace_number(), second.trace_number(), second.nic(1).trace_number()}) == 3
    assert here.shared("words", 8) == second.shared("words", 8)
    assert here.nic(1).number == 4


def test_peers_are_the_nics_whose_cpus_run_programs() -> None:
    """NIC k is CPU k modulo node.cpus's."""
    description = describe(3)
    first, _ = views(description, running={0, 1, 2, 5})
    assert first.nic(0).active == (0, 1, 2, 3, 5, 7)
    assert first.nic(1).active == (0, 1, 2, 3, 4, 5, 7)
    assert first.nic(0, peers=[8, 0]).active == (0, 3, 8)
    with pytest.raises(ValueError, match="there is no wire address 9: 3 nodes with 3 NICs each "
                                         "have 0 to 8"):
        first.nic(0, peers=[9])
    for number in (-1, 3):
        with pytest.raises(ValueError, match=rf"node 1 has 3 NICs \(node.nics\): there is no NIC "
                                             rf"{number}"):
            first.nic(number)


def test_one_cpu_has_a_nic_to_itself() -> None:
    first, second = views(describe(2))
    Gam(first.nic(0))
    Gam(second.nic(1))
    Gam(first.nic(0))
    with pytest.raises(RuntimeError, match="Active Messages on CPU 0 of node 1, NIC 1: CPU 1 "
                                           r"drives this NIC \(Active Messages\)"):
        Gam(first.nic(1))
    with pytest.raises(RuntimeError, match=r"Active Messages on node 1, which has 2 NICs "
                                           r"\(node.nics\): make it on one of them, node.nic\(k\)"):
        Gam(first)


def test_a_layer_with_interrupts_runs_where_its_nic_interrupts() -> None:
    first, second = views(describe(3))
    for layer, on in (("VIA", Kernel), ("RPC", Rpc), ("GM", Driver)):
        with pytest.raises(RuntimeError, match=f"{layer} on CPU 0 of node 1, NIC 1: it takes "
                                               "interrupts, and this NIC interrupts CPU 1"):
            on(first.nic(1))
        with pytest.raises(RuntimeError, match=f"{layer} on CPU 1 of node 1, NIC 2: it takes "
                                               "interrupts, and this NIC interrupts CPU 0"):
            on(second.nic(2))
        with pytest.raises(RuntimeError, match=rf"{layer} on node 1, which has 3 NICs"):
            on(first)
    Kernel(second.nic(1))
    only = views(describe(3, cpus=1))[0]
    for nic in range(3):
        Kernel(only.nic(nic))


def test_a_nic_has_its_own_services_firmware_and_addresses() -> None:
    first, second = views(describe(2))
    kernel = first.nic(0).service(Kernel)
    assert first.nic(0).service(Kernel) is kernel
    assert second.nic(1).service(Kernel) is not kernel
    first.nic(0).firmware = "one"
    second.nic(1).firmware = "other"
    assert (second.nic(0).firmware, first.nic(1).firmware) == ("one", "other")
    here = second.nic(1)
    assert here.register("control") == address("control") + NIC_BYTES
    assert here.nic_address(0x1000) == NIC_BASE + NIC_BYTES + 0x1000
    assert (here.place, first.place) == ("node 1, NIC 1", "node 1")
    only = views(Description(), 1)[0]
    assert only.nic(0).service(Kernel) is only.service(Kernel)
    only.nic(0).firmware = "its"
    assert only.firmware == "its" and only.nic(0).place == "node 1"


def test_cpus_that_share_the_nics_have_one_kernel_a_nic() -> None:
    """However it is entered, and with interrupts: NIC k's come to CPU k still."""
    class Agent:
        def __init__(self, node: Node) -> None:
            node.drive_nic("agent", interrupts=True)
            self.node = node

    first, second = views(describe(3))
    host = first.host
    # What Runtime.run has: the port of the CPU that runs.
    host.run_services.find(Running, Running).port = first.port
    second.share_nic()
    kernels = [[view.nic(nic).kernel(Agent) for nic in range(3)] for view in (first, second)]
    assert kernels[0] == kernels[1] and len(set(kernels[0])) == 3
    assert [one.node.nic_offset for one in kernels[0]] == [0, NIC_BYTES, 2 * NIC_BYTES]
    assert {one.node.cpu for one in kernels[0]} == {ALL}
    with pytest.raises(RuntimeError, match="GM on CPU 0 of node 1, NIC 0: its CPUs share this NIC"):
        Driver(first.nic(0))


def test_the_kernels_of_several_nics_have_locks_of_their_own() -> None:
    """A CPU in one does not keep another one out of the other."""
    async def program(cpu: Any) -> Any:
        cpu.share_nic()
        lock = kernel_lock(cpu.nic(cpu.cpu).kernel(Entered).node)
        async with lock.held():
            await cpu.port.delay(20_000)
        return await cpu.port.flush()

    description = describe(2, nodes=2)
    ends = Model(description).run([[program] * 2, None], limit=100_000).results[0]
    assert max(ends) < 30_000


class Entered:
    def __init__(self, node: Node) -> None:
        self.node = node


LAYERS = [("via", {"via.design": "engine"}), ("via", {"via.design": "kernel"}),
          ("via", {"via.design": "firmware", **CORE}), ("gm", CORE), ("fm", CORE)]


@pytest.mark.parametrize("cpus", [1, 2])
@pytest.mark.parametrize(("layer", "knobs"), LAYERS)
def test_layers_on_all_nics(layer: str, knobs: dict[str, Any], cpus: int) -> None:
    """With one CPU, that waits in one layer, interrupts of the other NIC are served, too."""
    model = Model(describe_knobs(SMALL, {"node.nics": 2, "node.cpus": cpus, **knobs}))
    model.run([[program(layer, 3)] * cpus] * 2, limit=4_000_000)


class Deaf(Interrupts):
    """Serves nobody else."""

    def others(self, handler: Handler) -> list[Handler]:
        return []


@pytest.mark.parametrize("design", ["engine", "kernel"])
def test_a_layer_that_waits_serves_the_others(design: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And without that they wait for ever."""
    description = describe_knobs(SMALL, {"node.nics": 2, "via.design": design})
    Model(description).run([answered_meanwhile] * 2, limit=1_000_000)
    monkeypatch.setattr("nicbed.host.port.cpu.Interrupts", Deaf)
    with pytest.raises(Stuck):
        Model(description).run([answered_meanwhile] * 2, limit=1_000_000)


def test_a_crash_names_node_and_nic() -> None:
    def text(nic: int | None) -> str:
        return str(FirmwareCrash(1, nic, 77, CrashReason.PANIC, 0x10, 7, None))
    assert text(None).startswith("the NIC processor of node 1 crashed at cycle 77: panic with ")
    assert text(2).startswith("the NIC processor of node 1, NIC 2, crashed at cycle 77: panic ")


def test_the_only_nic_is_the_node() -> None:
    """A program that names NIC 0 runs on nodes with one, in the same cycles."""
    def program(named: bool) -> Any:
        async def run(node: Any) -> Any:
            seen: list[Any] = []
            gam = Gam(node.nic(0) if named else node,
                      [lambda am, source, word: seen.append((source, word))])
            await gam.enable()
            await gam.request(1 - node.number, 0, 7 + node.number)
            await gam.wait(lambda: seen)
            await gam.disable()
            return seen, await node.port.flush()
        return run

    description = Description()
    named, plain = (Model(description).run([program(one)] * 2, limit=1_000_000).results
                    for one in (True, False))
    assert named == plain and [seen for seen, _ in named] == [[(1, 8)], [(0, 7)]]


def test_a_diagnosis_names_the_nic() -> None:
    assert place(address("send_space")) == "NIC register send_space"
    assert place(address("send_space") + 2 * NIC_BYTES) == "NIC 2 register send_space"
    assert place(NIC_BASE + NIC_BYTES + 0x1000) == "NIC 1 address 0x1000"
    assert place(0x1000) == "memory 0x1000"
