"""A port that keeps marks."""

from collections.abc import Awaitable

from ...layouts.operations import BLOCK
from ...layouts.trace import BEGIN, END, TICKS
from .port import Mark, Port, Result
from .words import FRACTION
from .work import Charge

__all__ = ["MarkingPort"]


class MarkingPort(Port):
    """A port whose :attr:`log` has the marks that the program made. Its times are those of a port
    that keeps none."""

    __slots__ = ()

    def mark(self, activity: int, kind: int, number: int) -> Mark:
        mark = [0, activity, kind, number]
        block, pending = self._block, self._pending()
        if block.count:
            block.marks.append((mark, block.count, pending))
        else:
            mark[0] = self.ticks + pending
        self.log.append(mark)
        return mark

    def begin(self, activity: int, number: int, charge: Charge) -> Mark:
        mark = self.mark(activity, BEGIN, number)
        self.spend(charge)
        return mark

    def finish(self, begin: Mark, activity: int, number: int) -> None:
        begin[1], begin[3] = activity, number
        self.mark(activity, END, number)

    def span(self, activity: int, number: int, charge: Charge) -> None:
        self.mark(activity, BEGIN, number)
        self.spend(charge)
        self.mark(activity, END, number)

    def marked(self, activity: int, awaitable: Awaitable[Result]) -> Awaitable[Result]:
        return self._marked(activity, awaitable)

    async def _marked(self, activity: int, awaitable: Awaitable[Result]) -> Result:
        self.mark(activity, BEGIN, 0)
        result = await awaitable
        self.mark(activity, END, 0)
        return result

    def mark_check(self, ends: int, begins: int) -> Mark:
        cycles = self.status >> 8 & 0xFFFF
        fraction = (self.status >> FRACTION) - self._check[0] & TICKS - 1
        ticks = (self.cycle - cycles) * TICKS + fraction
        mark = [ticks, begins, BEGIN, 0]
        self.log += ([ticks, ends, END, 0], mark)
        return mark

    def put_check(self, activity: int, number: int, address: int, compare: int, mask: int) -> Mark:
        begin = self.mark(activity, BEGIN, number)
        super().put_check(activity, number, address, compare, mask)
        return begin

    def put_spin(self, activity: int, address: int, compare: int, mask: int, until: int,
                 entries: int) -> bool:
        if self._block.count + entries > BLOCK:
            return False
        self.mark(activity, BEGIN, 0)
        return super().put_spin(activity, address, compare, mask, until, entries)

    def put_copy(self, activity: int, source: int, destination: int, length: int) -> None:
        self.mark(activity, BEGIN, 0)
        super().put_copy(activity, source, destination, length)
        self.mark(activity, END, 0)
