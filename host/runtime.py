"""Runs host programs as coroutines, each time the target needs them."""

from collections.abc import Coroutine, Sequence
from typing import Any

from ..layouts.description import Description
from ..layouts.fabric import topology
from ..layouts.processor import CRASH, CrashReason
from ..layouts.trace import Mark
from .port.backend import Mailbox, Memory
from .port.costs import Costs
from .port.node import Node, Program
from .port.port import Port, QuietPort
from .processor.crash import FirmwareCrash

__all__ = ["Runtime", "Stuck"]


class Stuck(Exception):
    """The cycle limit was reached. The text says which node waits for what, since when."""


class Runtime:
    """Programs on a target.

    Parameters
    ----------
    description
        The description from which the target was built and configured.
    mailbox, memories
        The back end's mailbox (blocks and answers), and each node's memory.
    programs
        One program for each node; None for a node without one.
    tracing
        Whether marks are kept. Changes no cycle.

    Attributes
    ----------
    done
        Whether all programs have ended or the run has failed.
    failed
        The exception of a program, :class:`Stuck`, or :class:`FirmwareCrash`.
    results
        Return values of the programs.
    wakes
        How often a program was woken by its port.
    """

    def __init__(self, description: Description, mailbox: Mailbox, memories: Sequence[Memory],
                 programs: Sequence[Program | None], *, tracing: bool = True) -> None:
        nodes = description.fabric.nodes
        if len(programs) != nodes:
            raise ValueError(f"{len(programs)} programs for {nodes} nodes (fabric.nodes): give one "
                             "a node, None where there is nothing to run")
        if mailbox.ports != nodes or len(memories) != nodes:
            raise ValueError(f"the target has {mailbox.ports} ports and {len(memories)} memories, "
                             f"not {nodes} (fabric.nodes)")
        costs = Costs(description)
        fabric = topology(description)
        active = [number for number, program in enumerate(programs) if program is not None]
        self.mailbox = mailbox
        kind = Port if tracing else QuietPort
        self.ports = [kind(number, number, costs) for number in range(nodes)]
        self.nodes = [Node(number, description, port, memory, fabric, active)
                      for number, (port, memory) in enumerate(zip(self.ports, memories,
                                                                  strict=True))]
        self.results: list[Any] = [None] * nodes
        self.failed: BaseException | None = None
        self.done = False
        self.wakes = 0
        self._running = len(active)
        self._coroutines: list[Coroutine[Any, Any, Any] | None] = [
            None if program is None else program(node)
            for node, program in zip(self.nodes, programs, strict=True)]
        self._stopped = [False] * nodes

    @property
    def marks(self) -> list[Mark]:
        """Marks of all programs, ordered by time; marks of the same instant by node and in the
        order of their creation."""
        found = [Mark(ticks, port.node, 0, activity, kind, number)
                 for port in self.ports for ticks, activity, kind, number in port.log]
        found.sort(key=lambda mark: mark[:2])
        return found

    def attention(self) -> bool:
        """Serve every port that needs its program, in node order. Called by the back end at each
        attention, within the time step. Return whether there is more to come."""
        if self.done:
            return False
        mailbox = self.mailbox
        now, needs, expired = mailbox.look()
        while needs:
            index = (needs & -needs).bit_length() - 1
            needs &= needs - 1
            port = self.ports[index]
            port.accept(mailbox.answers(index), now)
            self.wakes += 1
            coroutine = self._coroutines[index]
            try:
                if coroutine is None:
                    self._stop(index)
                else:
                    coroutine.send(None)
                    if not port.count:
                        raise RuntimeError(
                            f"node {index}'s program awaited something that is not an "
                            "operation of its host port")
            except StopIteration as end:
                self.results[index] = end.value
                self._coroutines[index] = None
                self._running -= 1
                self._stop(index)
            except BaseException as error:
                error.add_note(f"raised by the program of node {index} at cycle {port.cycle}")
                self._fail(error)
                return False
            count = port.count
            port.given = count
            port.given_at = now
            port.count = 0
            mailbox.give(index, port.entries, count)
        if expired:
            report, pc, cause = mailbox.crash()
            if CRASH.unpack(report)["valid"]:
                self._fail(self._crash(CRASH.unpack(report), now, pc, cause))
            else:
                self._fail(Stuck(self.diagnosis(now)))
        elif not self._running and all(self._stopped):
            self.done = True
        return not self.done

    def _crash(self, report: dict[str, int], now: int, pc: int, cause: int) -> FirmwareCrash:
        node = report["node"]
        return FirmwareCrash(node, now, CrashReason(report["reason"]), pc, cause,
                             self.nodes[node].firmware)

    def diagnosis(self, now: int) -> str:
        """Description of which node waits for what, since when."""
        lines = [f"stopped at cycle {now}, the limit (--limit raises it, or limit= where lab.run "
                 "has one), with programs still running:"]
        for index, port in enumerate(self.ports):
            if self._coroutines[index] is None:
                continue
            lines.append(f"  node {index} {port.describe()}")
        return "\n".join(lines)

    def _stop(self, index: int) -> None:
        """Put the STOP, unless entries that the program left in its block must go first: their
        marks need the answers."""
        port = self.ports[index]
        if not port.count:
            port.stop()
            self._stopped[index] = True

    def _fail(self, error: BaseException) -> None:
        self.failed = error
        self.done = True
        for index, coroutine in enumerate(self._coroutines):
            if coroutine is not None:
                try:
                    coroutine.close()
                except Exception as other:
                    error.add_note(f"and node {index}'s program, being closed, raised {other!r}")
                self._coroutines[index] = None
