"""Runs host programs as coroutines, whenever the target needs them."""

from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any

from ..layouts.description import Description
from ..layouts.fabric import graph_of
from ..layouts.processor import CRASH, CrashReason
from ..layouts.trace import Mark
from .background import backgrounds
from .port.backend import Mailbox, Memory
from .port.costs import Costs
from .port.ends import Ends
from .port.host import Host
from .port.marking import MarkingPort
from .port.node import Node, Program, Programs
from .port.port import Port
from .port.running import Running
from .port.services import Explains, Services, ToldOfEnds
from .port.serving import Server
from .port.watch import Stuck, Watch
from .processor.crash import FirmwareCrash

__all__ = ["Runtime", "Stuck"]


class Runtime:
    """Programs on a target.

    Parameters
    ----------
    description
        The description from which the target was built and configured.
    mailbox, memories
        The back end's mailbox (blocks and answers), and each node's memory.
    programs
        One entry for each node: a program, a program for each of its CPUs, or None. What layers
        run in the background (:mod:`.background`), such as a message processor, is added to CPUs
        that have none; it runs until all programs have ended.
    tracing
        Whether marks are kept. Changes no cycle.

    Attributes
    ----------
    done
        Whether all programs have ended or the run has failed.
    failed
        The exception of a program, :class:`Stuck`, or :class:`FirmwareCrash`.
    nodes
        Each node as its first CPU sees it.
    watch
        Knows whose programs run, to say so of one that spends no target time.
    servers
        One function per port, which resumes its program. A back end that has the last answers at
        hand may call these directly, in the order of the ports. It calls :meth:`attention` instead
        at the first attention, at the limit, after a crash, and after a call whose result is
        negative, because the run may end there.
    """

    def __init__(self, description: Description, mailbox: Mailbox, memories: Sequence[Memory],
                 programs: Programs, *, tracing: bool = True) -> None:
        nodes, cpus = description.fabric.nodes, description.node.cpus
        if len(programs) != nodes:
            raise ValueError(f"{len(programs)} programs for {nodes} nodes (fabric.nodes): give one "
                             "a node, None where there is nothing to run")
        ports = nodes * cpus
        if mailbox.ports != ports or len(memories) != nodes:
            raise ValueError(f"the target has {mailbox.ports} ports and {len(memories)} memories, "
                             f"not {ports} and {nodes} (fabric.nodes, node.cpus)")
        each = [program for number, entry in enumerate(programs)
                for program in _one_a_cpu(number, entry, cpus)]
        self._several = [isinstance(entry, Sequence) for entry in programs]
        costs = Costs(description)
        fabric = graph_of(description)
        self.mailbox = mailbox
        self._cpus = cpus
        kind = MarkingPort if tracing else Port
        self.ports = [kind(number, number // cpus, costs, number % cpus, mailbox.block(number),
                           mailbox.answers(number)) for number in range(ports)]
        running = {number for number, program in enumerate(each) if program is not None}
        running_port = Running()
        self.watch = Watch()
        self.watch.names.update((number, self.name(number)) for number in range(ports))
        self._services = Services(Ends(), running_port, self.watch)
        hosts = [Host(number, description, memory, fabric,
                      self.ports[number * cpus:(number + 1) * cpus], self._services, running)
                 for number, memory in enumerate(memories)]
        views = [Node(host, cpu) for host in hosts for cpu in host.cpus]
        self.nodes = views[::cpus]
        self._background = [False] * ports
        for cpu, program in backgrounds(description):
            for index in (node * cpus + cpu for node in hosts[0].active):
                if each[index] is None:
                    each[index] = program
                    self._background[index] = True
        self._results: list[Any] = [None] * ports
        self.failed: BaseException | None = None
        self.done = False
        self._running = sum(program is not None and not background
                            for program, background in zip(each, self._background, strict=True))
        coroutines = {}
        for index in sorted(range(ports), key=self._background.__getitem__, reverse=True):
            program = each[index]
            coroutines[index] = None if program is None else program(views[index])
        self.servers = [
            Server(index, self.name(index), port, coroutines[index], running_port, self._ended,
                   self._raised, hosts[index // cpus].cpus[index % cpus].ends)
            for index, port in enumerate(self.ports)]
        self._by_bit = {1 << server.index: server for server in self.servers}
        """By a port's bit in what the mailbox says."""
        self._look, self._give = mailbox.look, mailbox.give

    @property
    def wakes(self) -> int:
        """Tells how often a program was woken by its port."""
        return sum(server.wakes for server in self.servers)

    @property
    def results(self) -> list[Any]:
        """Return values, one entry for each node: of its program, or a list with that of each CPU's
        program if it was given a sequence of programs."""
        found, cpus = self._results, self._cpus
        return [found[at:at + cpus] if several else found[at]
                for at, several in zip(range(0, len(found), cpus), self._several, strict=True)]

    def name(self, index: int) -> str:
        """Port ``index`` in words: its node, and its CPU if the node has several."""
        node, cpu = divmod(index, self._cpus)
        return f"node {node}" if self._cpus == 1 else f"node {node} CPU {cpu}"

    @property
    def marks(self) -> list[Mark]:
        """Marks of all programs, ordered by time; marks of the same instant by node, CPU, and in
        the order of their creation. Of a run that failed, those that the target has timed."""
        found = [Mark(ticks, port.node, port.cpu, activity, kind, number)
                 for port in self.ports for ticks, activity, kind, number in (
                     port.log if self.failed is None else _timed(port.log))]
        found.sort(key=itemgetter(0, 1, 2))
        return found

    def attention(self) -> bool:
        """Serve every port that needs its program, in the order of nodes and CPUs. Called by the
        back end at each attention, within the time step. Return whether there is more to come."""
        if self.done:
            return False
        # Kept in attributes and called often: by `self._look()` Python would look for a method
        # first, which takes longer.
        look, give = self._look, self._give
        now, needs, expired = look()
        while needs:
            lowest = needs & -needs
            needs ^= lowest
            server = self._by_bit[lowest]
            count = server.serve(now, *server.port.last_answer(now))
            if not count:
                return False
            give(server.index, abs(count))
        if expired:
            report, pc, cause = self.mailbox.crash()
            if CRASH.unpack(report)["valid"]:
                self._fail(self._crash(CRASH.unpack(report), now, pc, cause))
            else:
                self._fail(Stuck(self.diagnosis(now)))
        elif not self._running and all(server.stopped or background for server, background in zip(
                self.servers, self._background, strict=True)):
            self.done = True
            for server in self.servers:
                server.close()
        return not self.done

    def _ended(self, index: int, result: Any) -> bool:
        """The program of port ``index`` has ended: tell those who want to know. False if that ends
        the run."""
        self._results[index] = result
        self._running -= 1
        for told in self._services:
            if isinstance(told, ToldOfEnds):
                try:
                    told.program_ended(divmod(index, self._cpus))
                except Exception as error:
                    self._fail(error)
                    return False
        return True

    def _raised(self, index: int, error: BaseException) -> None:
        """The program of port ``index``, or the port, has raised ``error``."""
        port = self.ports[index]
        when = (f"after cycle {port.cycle}, with blocks queued" if port.queued else
                f"at cycle {port.cycle}")
        error.add_note(f"raised by the program of {self.name(index)} {when}")
        self._fail(error)

    def _crash(self, report: dict[str, int], now: int, pc: int, cause: int) -> FirmwareCrash:
        nics = self.nodes[0].nics
        node, nic = divmod(report["address"], nics)
        return FirmwareCrash(node, nic if nics > 1 else None, now, CrashReason(report["reason"]),
                             pc, cause, self.nodes[node].images.get(nic))

    @property
    def images(self) -> list[Any]:
        """The image that the processor of each NIC runs, by wire address; None for none."""
        return [node.images.get(nic) for node in self.nodes for nic in range(node.nics)]

    def diagnosis(self, now: int) -> str:
        """Description of which node, and CPU, waits for what, since when."""
        lines = [f"stopped at cycle {now}, the limit (--limit raises it, or limit= where lab.run "
                 "has one), with programs still running:"]
        lines += [f"  {self.name(server.index)} {server.port.describe(now)}"
                  for server in self.servers if server.coroutine is not None]
        lines += [f"  {line}" for service in self._services
                  if isinstance(service, Explains) for line in service.diagnosis(now)]
        return "\n".join(lines)

    def _fail(self, error: BaseException) -> None:
        self.failed = error
        self.done = True
        for server in self.servers:
            try:
                server.close()
            except Exception as other:
                error.add_note(f"and {server.name}'s program, being closed, raised {other!r}")


def _timed(log: Sequence[Any]) -> Iterator[Any]:
    """The entries of a port's ``log`` up to the first that waited for its time, which is 0."""
    last = 0
    for entry in log:
        if entry[0] < last:
            return
        last = entry[0]
        yield entry


def _one_a_cpu(node: int, entry: Program | Sequence[Program | None] | None, cpus: int
               ) -> list[Program | None]:
    """The programs of a node's CPUs."""
    if not isinstance(entry, Sequence):
        return [entry, *(None,) * (cpus - 1)]
    if len(entry) != cpus:
        raise ValueError(f"node {node} has {cpus} CPU{'s' if cpus > 1 else ''} (node.cpus), and "
                         f"was given {len(entry)} programs: give one a CPU, None where there is "
                         "nothing to run")
    return list(entry)
