"""A synthetic LogP machine of two nodes, for tests of estimators and truth.

Its parameters are known, it counts time in ticks, and it tells what a measuring program sees
(issue times, handled replies) apart from what the trace sees (marks, events).
"""

from dataclasses import dataclass, field

from nicbed.layouts.trace import TICKS, Activity, Block, Event, Kind, Mark


@dataclass
class Machine:
    """All times in cycles: a request costs ``send`` to issue and ``handle`` at the receiver, its
    reply ``reply`` and ``finish``; the link takes ``service`` a packet, then ``flight``; the check
    that ends each request takes ``poll``, and a spinning CPU looks every ``period``. With ``room``
    requests under way, one more is kept by the layer, in ``keep`` cycles. Without ``wire`` the
    nodes are CPUs of one, whose messages are no packets: they have no events. If the check is
    ``within`` a request, it comes before the send, of which half is a step; one that finds a
    message is free."""

    send: int = 20
    handle: int = 14
    reply: int = 12
    finish: int = 16
    poll: int = 4
    service: int = 10
    flight: int = 100
    period: int = 1
    window: int = 75
    room: int = 75
    keep: int = 16
    wire: bool = True
    within: bool = False
    marks: list[Mark] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    def _mark(self, time: int, node: int, activity: Activity, kind: Kind, number: int) -> None:
        self.marks.append(Mark(time * TICKS, node, 0, activity, kind, number))

    def _span(self, begin: int, end: int, node: int, activity: Activity, number: int) -> None:
        self._mark(begin, node, activity, Kind.BEGIN, number)
        self._mark(end, node, activity, Kind.END, number)

    def _ship(self, at: int, node: int, free: list[int], number: int) -> int:
        if not self.wire:
            return at + self.flight
        begin = max(at, free[node])
        free[node] = begin + self.service
        landed = begin + self.flight
        self.events += [Event(begin, node, Block.SEND_LINK, Kind.BEGIN, number, 0),
                        Event(begin + self.service, node, Block.SEND_LINK, Kind.END, number, 0),
                        Event(landed - 4, 1 - node, Block.RECEIVE_DMA, Kind.BEGIN, number, 0),
                        Event(landed, 1 - node, Block.RECEIVE_DMA, Kind.END, number, 0)]
        return landed

    def _look(self, since: int, landed: int) -> int:
        """When a CPU that spins from ``since`` on finds what lands at ``landed``."""
        if landed <= since:
            return since
        return since + -(-(landed - since) // self.period) * self.period

    def run(self, count: int, delay: int) -> tuple[list[int], list[int]]:
        """``count`` issues with ``delay`` cycles after each: issue ends (ticks), replies handled.

        Two links at most are busy; the receiver is found by events in order of time.
        """
        self.marks, self.events = [], []
        free = [0, 0]
        receiver = 0
        time = 0
        back: list[tuple[int, int]] = []  # (landed, number of the reply)
        issued, handled, done = [], [], 0

        def take(landed: int, number: int) -> None:
            nonlocal time, done
            time = self._look(time, landed)
            self._span(time, time + self.finish, 0, Activity.REPLY_HANDLE, number)
            time += self.finish
            done += 1

        for index in range(count):
            if index - done >= self.window:
                self._mark(time, 0, Activity.WINDOW_WAIT, Kind.BEGIN, 0)
                while index - done >= self.window:
                    take(*back.pop(0))
                self._mark(time, 0, Activity.WINDOW_WAIT, Kind.END, 0)
            number = 2 * index + 1
            send = self.send if index - done < self.room else self.keep
            if self.within:
                self._mark(time, 0, Activity.REQUEST_SEND, Kind.BEGIN, number)
                if back and back[0][0] <= time:
                    take(*back.pop(0))
                else:
                    self._span(time, time + self.poll, 0, Activity.EMPTY_POLL, 0)
                    time += self.poll
                self._span(time, time + send // 2, 0, Activity.FILL, number)
                self._mark(time + send, 0, Activity.REQUEST_SEND, Kind.END, number)
            else:
                self._span(time, time + send, 0, Activity.REQUEST_SEND, number)
            time += send
            landed = self._ship(time, 0, free, number)
            begin = self._look(receiver, landed)
            self._mark(begin, 1, Activity.REQUEST_HANDLE, Kind.BEGIN, number)
            left = begin + self.handle + self.reply
            self._span(begin + self.handle, left, 1, Activity.REPLY_SEND, number + 1)
            self._mark(left, 1, Activity.REQUEST_HANDLE, Kind.END, number)
            receiver = left
            back.append((self._ship(left, 1, free, number + 1), number + 1))
            found = number
            while not self.within and back and back[0][0] <= time:
                take(*back.pop(0))
                found = 0
            if not self.within:
                self._span(time, time + self.poll, 0, Activity.EMPTY_POLL, found)
                time += self.poll
            time += delay
            issued.append(time * TICKS)
            handled.append(done)
        while back:
            take(*back.pop(0))
        return issued, handled

    def round_trip(self) -> int:
        """Cycles of one request-reply, waiting for it with a spin."""
        self.run(1, 0)
        return max(mark.ticks for mark in self.marks) // TICKS
