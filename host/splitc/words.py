"""Accesses to words: read and write, get and put, store.

Each access elsewhere is a request of Active Messages. There is a handler for values of one word and
one for values of two, so that no message carries its size.
"""

from collections.abc import Callable
from typing import Any

from .costs import Prices
from .counting import Counting
from .pointers import GlobalPointer, to_value, to_words
from .process import Process, SplitCError

__all__ = ["Words"]


class Words:
    """Reads and writes values of 4 and 8 bytes."""

    __slots__ = ("_process", "_counting", "_answer", "_handlers", "_c_local", "_c_remote",
                 "_c_awaited", "_c_serve", "_c_counted")

    def __init__(self, process: Process, counting: Counting) -> None:
        self._process = process
        self._counting = counting
        self._answer: tuple[int, ...] | None = None
        """The words that a blocking access waits for; () is the answer of a write."""
        register = process.am.register
        prices = process.node.service(Prices)
        self._c_local = prices.local
        self._c_remote = prices.remote
        self._c_awaited = prices.awaited
        self._c_serve = prices.serve
        self._c_counted = prices.counted
        self._handlers = {"answer": register(self._answered), "done": register(self._done),
                          "get answer": register(self._got)}
        for size in (4, 8):
            self._handlers |= {
                f"read {size}": register(self._reads(size)),
                f"get {size}": register(self._gets(size))}
        for kind, serve in {"write": self._write, "put": self._put, "store": self._store}.items():
            self._handlers[kind] = register(serve)

    # Calls

    async def read(self, source: GlobalPointer) -> int | float:
        """The value at ``source``."""
        size = self._size(source)
        if self._process.is_local(source, size):
            return to_value(source.type, await self._load_local("read", source, size))
        words = await self._ask("read", source.process, self._handlers[f"read {size}"], size,
                                source.address)
        return to_value(source.type, words)

    async def write(self, target: GlobalPointer, value: int | float) -> None:
        """Write ``value``; return when it is there."""
        words = to_words(target.type, value)
        if self._process.is_local(target, 4 * len(words)):
            await self._store_local("write", target, words)
            return
        await self._ask("write", target.process, self._handlers["write"], 4 * len(words),
                        target.address, *words)

    async def get(self, local: int, source: GlobalPointer) -> None:
        """Begin to copy the value at ``source`` to the address ``local`` of this process."""
        size = self._size(source)
        self._process.check(local, size)
        if self._process.is_local(source, size):
            words = await self._load_local("get", source, size)
            await self._put_words(local, words)
            return
        self._counting.open += 1
        await self._request("get", source.process, self._handlers[f"get {size}"], size,
                            source.address, local)

    async def put(self, target: GlobalPointer, value: int | float) -> None:
        """Begin to write ``value``."""
        words = to_words(target.type, value)
        if self._process.is_local(target, 4 * len(words)):
            await self._store_local("put", target, words)
            return
        self._counting.open += 1
        await self._request("put", target.process, self._handlers["put"], 4 * len(words),
                            target.address, *words)

    async def store(self, target: GlobalPointer, value: int | float) -> None:
        """Send ``value``; only the receiver learns of its arrival."""
        words = to_words(target.type, value)
        size = 4 * len(words)
        self._counting.sent += size
        if self._process.is_local(target, size):
            self._counting.received += size
            await self._store_local("store", target, words)
            return
        await self._request("store", target.process, self._handlers["store"], size, target.address,
                            *words)

    # Handlers

    def _reads(self, size: int) -> Callable[..., Any]:
        async def read(am: Any, source: int, address: int) -> None:
            await am.reply(self._handlers["answer"], *await self._words_at(address, size))
        return read

    def _gets(self, size: int) -> Callable[..., Any]:
        async def get(am: Any, source: int, address: int, local: int) -> None:
            words = await self._words_at(address, size)
            await am.reply(self._handlers["get answer"], local, *words)
        return get

    async def _write(self, am: Any, source: int, address: int, *words: int) -> None:
        await self._put_words(address, words)
        await am.reply(self._handlers["answer"])

    async def _put(self, am: Any, source: int, address: int, *words: int) -> None:
        await self._put_words(address, words)
        await am.reply(self._handlers["done"])

    async def _store(self, am: Any, source: int, address: int, *words: int) -> None:
        await self._put_words(address, words)
        self._process.port.spend(self._c_counted)
        self._counting.received += 4 * len(words)

    def _answered(self, am: Any, source: int, *words: int) -> None:
        self._process.port.spend(self._c_counted)
        self._answer = words

    async def _got(self, am: Any, source: int, local: int, *words: int) -> None:
        await self._put_words(local, words)
        self._done(am, source)

    def _done(self, am: Any, source: int) -> None:
        self._process.port.spend(self._c_counted)
        self._counting.open -= 1

    # Helpers

    def _size(self, place: GlobalPointer) -> int:
        if not place.type:
            raise SplitCError(f"{place} holds bytes: only the bulk calls access them")
        return place.size

    async def _request(self, kind: str, dest: int, handler: int, length: int, *words: int) -> None:
        process = self._process
        process.port.spend(self._c_remote)
        process.statistics.sent(kind, length, dest)
        await process.am.request(dest, handler, *words)

    async def _ask(self, kind: str, dest: int, handler: int, length: int, *words: int
                   ) -> tuple[int, ...]:
        """Request, and wait for the answer."""
        process = self._process
        self._answer = None
        await self._request(kind, dest, handler, length, *words)
        process.port.waiting_for(f"the answer of process {dest} to a {kind}")
        await process.am.wait(lambda: self._answer is not None)
        process.port.waiting_for("")
        process.port.spend(self._c_awaited)
        answer = self._answer
        assert answer is not None
        return answer

    async def _load_local(self, kind: str, place: GlobalPointer, size: int) -> tuple[int, ...]:
        self._process.port.spend(self._c_local)
        self._process.statistics.stayed(kind)
        return await self._words_at(place.address, size)

    async def _store_local(self, kind: str, place: GlobalPointer, words: tuple[int, ...]) -> None:
        self._process.port.spend(self._c_local)
        self._process.statistics.stayed(kind)
        await self._put_words(place.address, words)

    async def _words_at(self, address: int, size: int) -> tuple[int, ...]:
        process = self._process
        process.port.spend(self._c_serve)
        await process.port.touch(address, size)
        data = process.memory.read(address, size)
        return tuple(int.from_bytes(data[at:at + 4], "little") for at in range(0, size, 4))

    async def _put_words(self, address: int, words: tuple[int, ...]) -> None:
        process = self._process
        process.port.spend(self._c_serve)
        await process.port.touch(address, 4 * len(words), store=True)
        process.memory.write(address, b"".join(word.to_bytes(4, "little") for word in words))
