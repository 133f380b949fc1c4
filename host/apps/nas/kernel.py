"""The base of every kernel: a problem of a class, its processes, its messages, its verification."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from .process import Process

__all__ = ["BY_DATA", "Kernel", "Messages", "Value", "allreduce", "alltoall", "log2",
           "power_of_two", "times"]

BY_DATA = -1
"""In place of a length that the data decide."""

Messages = Counter[tuple[str, int]]
"""Messages of a process, by the call that sends them, and their bytes."""


class Value(NamedTuple):
    """A figure that verifies a run: what came out, what must, and the largest relative error."""

    name: str
    found: float
    wanted: float
    tolerance: float

    @property
    def error(self) -> float:
        """The relative error; absolute if the wanted value is 0."""
        return abs(self.found - self.wanted) / (abs(self.wanted) or 1.0)

    @property
    def ok(self) -> bool:
        """Tells whether the error is within the tolerance; a figure that is none is not."""
        return self.error <= self.tolerance


class Kernel(ABC):
    """A kernel of class ``size`` on ``procs`` processes.

    Attributes
    ----------
    name, title
        As NPB names it.
    iterations
        Timed ones of the whole run.
    least
        Iterations that tell what the others take.
    by_data
        Whether the data decide what messages there are, so that they are always computed.
    by_data_bytes
        Of a message whose length the data decide, on average.
    computed
        Keys that all processes rank in an iteration even if computation is charged alone.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    classes: ClassVar[Mapping[str, Any]]
    least: ClassVar[int] = 2
    by_data: ClassVar[bool] = False
    by_data_bytes: int = 0
    computed: int = 0
    iterations: int = 1

    def __init__(self, size: str, procs: int) -> None:
        self.size = size
        self.procs = procs
        why = self.refuses(size, procs)
        if why:
            raise ValueError(f"{self.name} of class {size} on {procs} processes: {why}")

    @classmethod
    @abstractmethod
    def refuses(cls, size: str, procs: int) -> str:
        """Says what is wrong with so many processes, or nothing."""

    @abstractmethod
    def memory(self) -> int:
        """Bytes of a process's memory, at most, for what it sends and receives."""

    @abstractmethod
    async def run(self, process: Process) -> Any:
        """One process; its part of the answer."""

    @abstractmethod
    def verify(self, answers: Sequence[Any]) -> list[Value]:
        """Returns what the processes' answers give, beside the published values."""

    @abstractmethod
    def messages(self, rank: int, iterations: int) -> Messages:
        """Messages of process ``rank`` in the timed part with so many iterations."""

    def volume(self, iterations: int) -> tuple[int, int]:
        """Returns how many messages all processes send in the timed part with so many iterations,
        and their bytes."""
        sent = sum((self.messages(rank, iterations) for rank in range(self.procs)), Counter())
        return sent.total(), sum(
            count * (self.by_data_bytes if length == BY_DATA else length)
            for (_, length), count in sent.items())

    def lengths(self, rank: int) -> Counter[int]:
        """Returns how many messages process ``rank`` sends in one iteration, by their bytes; where
        the data decide those, by twice the average."""
        found: Counter[int] = Counter()
        for (_, length), count in self.messages(rank, 1).items():
            found[2 * self.by_data_bytes if length == BY_DATA else length] += count
        return found


def power_of_two(procs: int) -> str:
    """Refuses what is none."""
    return "" if procs & procs - 1 == 0 else "must be a power of two"


def log2(number: int) -> int:
    """Of a power of two."""
    return number.bit_length() - 1


def allreduce(length: int, procs: int) -> Messages:
    """An Allreduce of ``length`` bytes by recursive doubling, on a power of two."""
    return Counter({("Allreduce", length): log2(procs)})


def alltoall(call: str, length: int, procs: int) -> Messages:
    """An exchange of ``length`` bytes with each other process."""
    return Counter({(call, length): procs - 1})


def times(messages: Messages, count: int) -> Messages:
    """``count`` times the same."""
    return Counter({kind: number * count for kind, number in messages.items() if number * count})
