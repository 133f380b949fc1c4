"""A running simulator for experiments: runs programs and returns cycles, results and events."""

import sys
from asyncio import CancelledError
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..host.port.node import Programs
from ..host.runtime import Runtime, Stuck
from ..layouts.description import Description, Kind, knobs
from ..layouts.timing import timing_values
from ..layouts.trace import Event, Mark
from .backends.backend import Backend
from .backends.switches import Switches
from .run.recording import Recording
from .run.sent_again import Account, Resent, sent_again
from .run.watchdog import watching

__all__ = ["LIMIT", "Lab", "Run", "apply_settings"]

LIMIT = 200_000_000
"""Cycles after which a run is stopped, unless the lab or the run has another limit."""
OFTEN = 1024
"""Most attentions between two reports of progress."""


@dataclass
class Run:
    """The outcome of one run.

    Attributes
    ----------
    cycles
        Target cycles from reset to the end of the last program.
    results
        Return value of each node's program; a list for a node that was given a program for each
        CPU.
    events
        The target's events, sorted; empty unless traced.
    marks
        Marks of the host programs, by time.
    wakes
        How often a host program was woken.
    counters
        Work of each CPU, node by node: counts of cost items.
    profiles
        Cycles of each NIC's processor by program counter, NICs by wire address; empty unless
        profiled.
    firmware
        The image that each NIC's processor ran; None for none.
    again
        Packets that were sent again, by sender. On a board, packets of a VI engine are counted only
        if the run is traced.
    """

    cycles: int
    results: list[Any]
    events: list[Event] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    wakes: int = 0
    counters: list[dict[str, int]] = field(default_factory=list)
    profiles: list[dict[int, int]] = field(default_factory=list)
    firmware: list[Any] = field(default_factory=list)
    again: Counter[Resent] = field(default_factory=Counter)


def apply_settings(description: Description, settings: Mapping[str, Any]) -> Description:
    """``description`` with knobs overridden by dotted name.

    Raises
    ------
    ValueError
        A knob does not exist, its value is out of range, or it is a structure knob, which a running
        simulator cannot change.
    """
    changed = description.with_(settings)
    for knob in knobs(changed):
        if knob.name in settings and knob.kind is Kind.STRUCTURE and (
                knob.of(changed) != knob.of(description)):
            raise ValueError(f"settings: {knob.name} is structure: a change needs a simulator of "
                             "its own, so give it in the description")
    return changed


class Lab:
    """A simulator with the target of ``description`` in it.

    Attributes
    ----------
    description
        The description from which the target was built; ``settings`` of a run override it.
    sim
        The back end: one of ``backends.SIMS``.
    limit
        Cycles after which a run without a limit of its own is stopped.
    account
        Packets sent again in the lab's runs.
    forks
        Whether a run can go on in forks of the process (:mod:`.run.branches`): the target is in the
        process itself, as instances, and neither a time line is drawn nor a waveform recorded,
        which one process writes.
    """

    def __init__(self, description: Description, sim: str, backend: Backend,
                 progress: Callable[[str, int, int], None] = lambda *_: None,
                 limit: int | None = None, say: Callable[[str], None] = lambda _: None, *,
                 wave: bool = False, give_up: Callable[[Stuck], None] = lambda _: None) -> None:
        self.description = description
        self.sim = sim
        self.limit = LIMIT if limit is None else limit
        self.progress = progress
        """Called with the current step, how much of it is done, and the total."""
        self.say = say
        """Called with a line that the user has to see at once."""
        self._give_up = give_up
        self.account = Account()
        self.timeline: Any = None
        """A :class:`~nicbed.testbench.timeline.Timeline` that gets each run, or None."""
        self.wave = wave
        """Whether a waveform is recorded."""
        self._backend = backend

    @property
    def parties(self) -> int:
        """Number of programs that :meth:`run` takes: one entry a node."""
        return self.description.fabric.nodes

    @property
    def forks(self) -> bool:
        return (self.sim == "verilator" and self.timeline is None and not self.wave
                and sys.platform.startswith("linux"))

    async def run(self, programs: Programs, *,
                  settings: Mapping[str, Any] | None = None, trace: bool = False,
                  profile: bool = False, skip: bool = True, marks: bool = True,
                  limit: int | None = None,
                  progress: Callable[[int], None] | None = None,
                  record: Path | None = None) -> Run:
        """Reset the target, clear the memories and run ``programs``, one entry for each node: a
        program (CPU 0 runs it), a sequence of programs, one for each CPU, or None.

        Parameters
        ----------
        settings
            Timing and cost knobs by dotted name, in place of the description's. Rebuilds nothing.
        trace
            Collect events. Changes no cycle.
        profile
            Count the cycles of NIC processors by program counter. Changes no cycle. Verilator only.
        skip
            Skip quiescent time. Changes no cycle.
        marks
            Keep the marks of host programs, as everything but ``nicbed speed`` does. Changes no
            cycle.
        limit
            Cycles after which the run fails with a diagnosis (default: the lab's).
        progress
            Called now and then with the cycle reached.
        record
            File to which the inputs of the target are recorded, in the form of :class:`Recording`.

        Raises
        ------
        Exception
            The exception of a program; ``Stuck`` at the limit.
        """
        description = apply_settings(self.description, settings or {})
        backend = self._backend
        drawn = self.timeline is not None
        await backend.reset(Switches(timing_values(description), trace or drawn, profile, skip,
                                     self.limit if limit is None else limit, description))
        recording = Recording(backend.mailbox, backend.memories) if record else backend
        runtime = Runtime(description, recording.mailbox, recording.memories, programs,
                          tracing=marks or drawn)
        direct = backend.direct and not record
        attention = _attention(runtime, backend.mailbox, progress, 1 if direct else OFTEN)
        if isinstance(recording, Recording):
            attention = _recorded(attention, recording)
        with (watching(runtime, backend.mailbox, self.say, self._give_up),
              suppress(CancelledError)):
            # Cancelled: the simulator ended, because a port waits and was given nothing.
            if direct:
                await backend.serve(attention, [server.serve for server in runtime.servers],
                                    OFTEN if progress else 0)
            else:
                await backend.serve(attention)
        if isinstance(recording, Recording) and record:
            recording.save(record)
        cycles = backend.mailbox.cycle()
        events = await backend.events() if drawn or runtime.done else []
        if drawn:  # a run that failed, too
            self.timeline.add(description, cycles, sorted(events), runtime.marks)
        if runtime.failed is not None:
            raise runtime.failed
        if not runtime.done:
            raise RuntimeError(f"attention at cycle {cycles} was not answered")
        again = sent_again(runtime.ports, events)
        self.account.note(description, again)
        return Run(cycles, runtime.results, sorted(events) if trace else [],
                   runtime.marks if marks else [], runtime.wakes,
                   [dict(port.tally()) for port in runtime.ports],
                   [backend.profile(address) if profile else {}
                    for address in range(len(runtime.images))],
                   runtime.images, again)

    def timed(self, on: bool) -> float:
        """Count the CPU time of attention (all Python of a run) from now on, or stop counting;
        return the seconds counted so far. Verilator only."""
        mailbox: Any = self._backend.mailbox
        return mailbox.timed(on)


def _recorded(attention: Callable[[], bool], recording: Recording) -> Callable[[], bool]:
    def noting() -> bool:
        more = attention()
        recording.end_attention()
        return more
    return noting


def _attention(runtime: Any, mailbox: Any, progress: Callable[[int], None] | None, often: int
               ) -> Callable[[], bool]:
    """Called by a back end at attentions; False ends the run. ``progress`` is told at one call in
    ``often``."""
    serve: Callable[[], bool] = runtime.attention
    if progress is None:
        return serve
    count = 0

    def reporting() -> bool:
        nonlocal count
        more = serve()
        count += 1
        if count % often == 0:
            progress(mailbox.cycle())
        return more

    return reporting
