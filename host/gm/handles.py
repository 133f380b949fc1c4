"""An open port, as the library knows it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..kernel.process import Process
from ..processor import SendQueue

__all__ = ["Port", "Provided", "Sending"]


@dataclass(slots=True)
class Sending:
    """The send that a send token is out for."""

    callback: Callable[..., Any] | None
    context: Any
    trace: int


@dataclass(slots=True)
class Provided:
    """The buffer that a receive token is out for."""

    buffer: int
    size: int
    priority: int
    tag: int


@dataclass(slots=True, eq=False)
class Port:
    """Port ``number`` of a node, open for ``process``.

    Attributes
    ----------
    sends, receives
        Tokens that are out, by number.
    free_sends, free_receives
        Numbers of tokens that the program has.
    reserve
        Send tokens that gm_alloc_send_token has left.
    seen
        Events taken so far.
    awaited
        In words, what a call waits for.
    pages
        Registered pages, by number, and how often.
    """

    process: Process
    number: int
    name: str
    queue: SendQueue
    events: int
    table: int
    send_tokens: int
    receive_tokens: int
    sends: dict[int, Sending] = field(default_factory=dict)
    receives: dict[int, Provided] = field(default_factory=dict)
    free_sends: list[int] = field(default_factory=list)
    free_receives: list[int] = field(default_factory=list)
    reserve: int = 0
    seen: int = 0
    pages: dict[int, int] = field(default_factory=dict)
    open: bool = True
    awaited: str = field(init=False)

    def __post_init__(self) -> None:
        self.awaited = f"an event of port {self.number}"
        self.free_sends = list(reversed(range(self.send_tokens)))
        self.free_receives = list(reversed(range(self.receive_tokens)))
        self.reserve = self.send_tokens
