"""A synthetic VIA machine of two nodes with known parameters, for estimators, truth and reports.

It makes what the benchmarks' host programs hand over: clock readings, marks and events.
"""

from dataclasses import dataclass, field

from nicbed.layouts.trace import TICKS, Activity, Block, Event, Kind, Mark


@dataclass
class Machine:
    """Cycles: a send of n bytes costs ``send`` + n * ``copy``, its flight ``flight`` + n / 2, the
    call that finds it ``find``, a call that finds nothing ``look``, the server's ``turn`` from
    finding to echoing, and the link takes max(``service``, n / 2) a message. A message is taken
    ``phase`` cycles after it landed if somebody waits for it; a finished send is reaped for
    ``reap``. ``window`` sends at most are unfinished."""

    send: int = 20
    copy: int = 0
    flight: int = 100
    find: int = 16
    look: int = 6
    turn: int = 3
    phase: int = 2
    service: int = 30
    reap: int = 8
    window: int = 8
    interrupt: int = 300
    marks: list[Mark] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    def _span(self, begin: int, end: int, node: int, activity: Activity, number: int) -> None:
        for at, kind in ((begin, Kind.BEGIN), (end, Kind.END)):
            self.marks.append(Mark(at * TICKS, node, 0, activity, kind, number))

    def _taken(self) -> dict:
        found = {"marks": sorted(self.marks, key=lambda mark: mark[:2]),
                 "events": sorted(self.events)}
        self.marks, self.events = [], []
        return found

    def trips(self, size: int, count: int = 4, delay: int = 0, extra: int = 0) -> dict:
        """``count`` round trips with ``delay`` at the client; ``extra`` cycles more on each way."""
        time, times, o_s = 1000, [], self.send + size * self.copy
        wire = self.flight + size // 2 + extra
        for trip in range(count):
            start = time
            self._span(time, time + o_s, 0, Activity.POST_SEND, 2 * trip + 1)
            landed = time + o_s + wire
            self.events.append(Event(landed, 1, Block.COMPLETION, Kind.END, 2 * trip + 1, 0))
            at = landed + self.phase
            self._span(at - self.look - 1, at - 1, 1, Activity.EMPTY_CHECK, 0)
            self._span(at, at + self.find, 1, Activity.RECEIVE_COMPLETE, 2 * trip + 1)
            at += self.find + self.turn
            self._span(at, at + o_s, 1, Activity.POST_SEND, 2 * trip + 2)
            back = at + o_s + wire
            self.events.append(Event(back, 0, Block.COMPLETION, Kind.END, 2 * trip + 2, 0))
            time = max(back + self.phase, start + o_s + delay)
            if time > start + o_s + delay:
                self._span(time - self.look, time, 0, Activity.EMPTY_CHECK, 0)
            self._span(time, time + self.find, 0, Activity.RECEIVE_COMPLETE, 2 * trip + 2)
            time += self.find
            times.append((time - start) * TICKS)
        return {"trips": times, "begin": 1000 * TICKS, "end": time * TICKS, "delay": delay,
                **self._taken()}

    def stream(self, size: int, count: int = 384, delay: int = 0) -> dict:
        """``count`` sends in a row; each waits until fewer than ``window`` are unfinished."""
        o_s, time, link = self.send + size * self.copy, 1000, 0
        done: list[int] = []
        issued, handled = [], []
        reaped = 0
        for index in range(count):
            while index - reaped >= self.window:
                time = max(time, done[reaped])
                self._span(time, time + self.reap, 0, Activity.SEND_COMPLETE, reaped + 1)
                time += self.reap
                reaped += 1
            self._span(time, time + o_s, 0, Activity.POST_SEND, index + 1)
            time += o_s
            begin = max(time, link)
            link = begin + max(self.service, size // 2)
            for block in (Block.SEND_LINK,):
                self.events += [Event(begin, 0, block, Kind.BEGIN, index + 1, 0),
                                Event(link, 0, block, Kind.END, index + 1, 0)]
            self.events.append(Event(link + self.flight, 1, Block.COMPLETION, Kind.END,
                                     index + 1, 0))
            done.append(link)
            self._span(time, time + delay, 0, Activity.COMPUTE, index)
            time += delay
            issued.append((time - 1000) * TICKS)
            handled.append(reaped)
        return {"begin": 1000 * TICKS, "delay": delay, "issued": issued, "handled": handled,
                "done": (link + 2 * self.flight - 1000) * TICKS, "size": size, **self._taken()}

    def counting(self, messages: int, count: int = 1000, each: int = 8) -> dict:
        """A loop of ``count`` counts of ``each`` cycles, alone and while messages interrupt."""
        ticks = count * each * TICKS
        time, counted, begin = 1000, 0, 1000
        taken = 0
        while time + each <= begin + count * each:
            if taken < messages and time - begin >= (taken + 1) * count * each // (messages + 1):
                time += self.interrupt
                taken += 1
                continue
            self._span(time, time + each, 1, Activity.COMPUTE, 0)
            time += each
            counted += 1
        alone = {"count": count, "ticks": ticks, "begin": 0, "end": ticks, "marks": [
            Mark(at, 1, 0, Activity.COMPUTE, kind, 0)
            for at, kind in ((0, Kind.BEGIN), (ticks, Kind.END))]}
        return {"alone": alone,
                "disturbed": {"count": counted, "ticks": (time - begin) * TICKS,
                              "messages": messages, "begin": begin * TICKS, "end": time * TICKS,
                              **self._taken()}}

    def logp(self, sizes: list[int], delays: list[int]) -> dict:
        """All runs of logp."""
        found = {}
        for size in sizes:
            trips = self.trips(size)
            rtt = max(trips["trips"]) // TICKS
            # A delay begins when the send's call is over.
            found[size] = {"trips": trips, "delayed": self.trips(size, delay=2 * rtt),
                           "stream": self.stream(size)}
        return {"sizes": found, "curves": [self.stream(min(sizes), delay=delay)
                                           for delay in delays],
                "counting": self.counting(10)}
