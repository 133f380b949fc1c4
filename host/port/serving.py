"""Serves one host port: takes its answers, resumes its program, and gives it the next block."""

from collections.abc import Callable, Coroutine
from typing import Any

from .port import Port
from .running import Running
from .words import UNUSUAL

__all__ = ["Server"]


class Server:
    """Serves ``port``, number ``index`` of all, which is that of ``name``. It shares the port's
    block: nothing is called so often.

    Parameters
    ----------
    coroutine
        Its program, which has not begun; None if there is none.
    running
        Is told when the program runs.
    ended
        Called with ``index`` and the program's result when it has ended; false if that ends the
        run.
    ends
        What runs behind the program, the last one first (:meth:`.Node.at_end`).
    failed
        Called with ``index`` and what the program or its port has raised: the run has failed.

    Attributes
    ----------
    coroutine
        The program, or what runs behind it, as long as it has not ended.
    stopped
        Whether the port has got the STOP behind its program's end.
    wakes
        How often the port asked for its program.
    """

    __slots__ = ("port", "index", "name", "coroutine", "stopped", "wakes", "_resume", "_running",
                 "_ends", "_over", "_result", "_ended", "_failed")

    def __init__(self, index: int, name: str, port: Port,
                 coroutine: Coroutine[Any, Any, Any] | None, running: Running,
                 ended: Callable[[int, Any], bool],
                 failed: Callable[[int, BaseException], None],
                 ends: list[Callable[[], Coroutine[Any, Any, None]]] | None = None) -> None:
        self.port = port
        self.name = name
        self.index = index
        self.coroutine = coroutine
        self.stopped = False
        self.wakes = 0
        self._resume = None if coroutine is None else coroutine.send
        self._running = running
        self._ends = [] if ends is None else ends
        self._over = False
        self._result: Any = None
        self._ended = ended
        self._failed = failed

    def serve(self, now: int, cycle: int, status: int, data: int) -> int:
        """At cycle ``now`` the port asks for a block; the answer to the last entry of the one that
        it had is ``cycle``, ``status`` and ``data`` (:meth:`.Port.last_answer`). Others are read
        from the port's memory where they count, too.

        Returns
        -------
        int
            Entries of the next block; negative if the program has ended, which may end the run. 0
            if the run has failed.
        """
        port = self.port
        port.given_at = now
        port.cycle = cycle
        port.status = status
        port.data = data
        try:
            if (port._block.marks or status & UNUSUAL) and port.given:
                port.look_back(now)
            # Of a block that follows another one, only the port knows.
            if not port._queue or not port.follow():
                self.wakes += 1
                resume = self._resume
                if resume is None:
                    self._stop()
                else:
                    self._running.port = port
                    try:
                        resume(None)
                    except StopIteration as end:
                        if not self._end(end.value):
                            return 0
                    else:
                        if port._queue:
                            port.line_up()
                        elif not port._block.count:
                            raise RuntimeError(self._nothing())
        except BaseException as error:
            self._failed(self.index, error)
            return 0
        block = port._block
        count = port.given = block.count
        block.count = 0
        return count if self._resume is not None else -count

    def _end(self, value: Any) -> bool:
        """The program, or what runs behind it, has returned ``value``; the program's counts. False:
        that ends the run."""
        port = self.port
        if not self._over:
            self._over, self._result = True, value
        while self._ends:
            self.coroutine = self._ends.pop()()
            self._resume = self.coroutine.send
            try:
                self._resume(None)
            except StopIteration:
                continue
            if port._queue:
                port.line_up()
            elif not port._block.count:
                raise RuntimeError(self._nothing())
            return True
        self.coroutine = self._resume = None
        self._stop()
        return self._ended(self.index, self._result)

    def _nothing(self) -> str:
        return (f"{self.name}'s program awaited something that is not an operation of its host "
                "port")

    def _stop(self) -> None:
        """Put the STOP, unless entries that the program left in its block must go first: their
        marks need the answers."""
        port = self.port
        if port._queue:
            port.line_up()
        elif not port._block.count:
            port.stop()
            self.stopped = True

    def close(self) -> None:
        """The run is over: end the program, and call nobody any more."""
        coroutine, self.coroutine, self._resume = self.coroutine, None, None
        self._ended, self._failed = _over, _over
        if coroutine is not None:
            self._running.port = self.port
            coroutine.close()


def _over(index: int, what: Any) -> bool:
    return False
