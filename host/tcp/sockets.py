"""Sockets: the calls of a process, as coroutines."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from ..kernel.process import Process
from ..kernel.timers import FAR
from ..port.node import Node
from ..port.port import Watch
from .errors import Errno, TcpError
from .protocol.connection import Connection, Ended
from .protocol.endpoints import Listener
from .stack import Stack

__all__ = ["Socket", "Tcp"]

Pieces = Sequence[tuple[int, int]]
"""Addresses of the process's memory, and bytes at each."""
PORTS = 1 << 16

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def _call(function: Callable[Concatenate["Socket", Arguments], Awaitable[Result]]
          ) -> Callable[Concatenate["Socket", Arguments], Awaitable[Result]]:
    """A call, which enters the kernel: it leaves it, with a result or by an error."""
    async def shared(self: "Socket", *args: Arguments.args, **named: Arguments.kwargs) -> Result:
        lock = self.tcp.stack.lock
        async with lock.guarded():
            result = await function(self, *args, **named)
            await lock.leave()
            return result

    @wraps(function)
    def called(self: "Socket", *args: Arguments.args, **named: Arguments.kwargs
               ) -> Awaitable[Result]:
        return (shared if self.tcp.stack.lock.shared else function)(self, *args, **named)
    return called


class Socket:
    """A socket of TCP: ``await tcp.socket()`` makes one, and so does :meth:`accept`.

    Data are in the process's memory: :meth:`send_from` and :meth:`recv_into` say where. With
    :meth:`send` and :meth:`recv` they are bytes of Python, which lie in a buffer of the process.

    Attributes
    ----------
    nodelay
        Send short segments at once (TCP_NODELAY).
    low
        Room from which on it counts as writable (SO_SNDLOWAT).
    """

    def __init__(self, tcp: "Tcp", connection: Connection | None = None) -> None:
        self.tcp = tcp
        self._stack = tcp.stack
        self._connection = connection
        self._listener: Listener | None = None
        self._bound: int | None = None
        self._closed = False
        self._nodelay = False
        self.low = 1

    def __repr__(self) -> str:
        return f"Socket({self._ends()})"

    @property
    def peer(self) -> tuple[int, int] | None:
        """Node and port of the other end."""
        found = self._connection
        return None if found is None else (found.peer, found.remote)

    @property
    def port(self) -> int | None:
        """The port of this end."""
        return self._bound if self._connection is None else self._connection.local

    @property
    def nodelay(self) -> bool:
        return self._nodelay

    @nodelay.setter
    def nodelay(self, value: bool) -> None:
        self._nodelay = value
        if self._connection is not None:
            self._connection.nodelay = value

    @property
    def readable(self) -> bool:
        """Tells whether :meth:`accept` or :meth:`recv` would return, or fail, at once."""
        if self._listener is not None:
            return bool(self._listener.ready)
        found = self._connection
        if found is None:
            return True
        incoming = found.incoming
        return bool(incoming.readable or incoming.finished or found.error or found.finished)

    @property
    def room(self) -> int:
        """Bytes that the send buffer takes."""
        return 0 if self._connection is None else self._connection.room

    @property
    def writable(self) -> bool:
        """Tells whether :meth:`send` would take ``low`` bytes, or fail, at once."""
        found = self._connection
        return found is None or not found.writable or found.room >= self.low

    # Opening

    @_call
    async def bind(self, port: int) -> None:
        """Take ``port``, 1 to 65535."""
        await self._enter("bind")
        if self._connection is not None or self._listener is not None or self._bound is not None \
                or not 0 < port < PORTS:
            raise self._error(Errno.EINVAL, f"bind to port {port}")
        endpoints = self._stack.endpoints
        if endpoints.taken(port):
            raise self._error(Errno.EADDRINUSE, f"bind to port {port}")
        self._bound = port
        endpoints.bound.add(port)

    @_call
    async def listen(self, backlog: int = 8) -> None:
        """Take calls at the port that it is bound to; up to ``backlog`` wait to be accepted."""
        await self._enter("listen")
        if self._connection is not None or self._listener is not None:
            raise self._error(Errno.EISCONN, "listen")
        if self._bound is None or backlog < 1:
            raise self._error(Errno.EINVAL, "listen")
        self._listener = self._stack.endpoints.listen(self._bound, backlog)

    @_call
    async def accept(self) -> "Socket":
        """The next connection to this listening socket; waits for one."""
        await self._enter("accept")
        listener = self._listener
        if listener is None:
            raise self._error(Errno.EINVAL, "accept")
        await self._stack.until(lambda: listener.ready,
                                f"a call, in accept at port {listener.port}")
        connection = listener.ready.popleft()
        self.tcp.has(connection)
        found = Socket(self.tcp, connection)
        self.tcp.sockets.append(found)
        return found

    @_call
    async def connect(self, node: int, port: int) -> None:
        """Connect to ``port`` of ``node``; waits for the answer."""
        where = f"connect to port {port} of node {node}"
        await self._enter("connect")
        stack = self._stack
        if self._connection is not None or self._listener is not None:
            raise self._error(Errno.EISCONN, where)
        if not 0 < port < PORTS:
            raise self._error(Errno.EINVAL, where)
        if not 0 <= node < stack.node.nodes or node == stack.node.number:
            raise self._error(Errno.EHOSTUNREACH, where)
        local = stack.endpoints.free_port() if self._bound is None else self._bound
        made = None if local is None else stack.endpoints.call(local, node, port, stack.port.cycle)
        if made is None:
            raise self._error(Errno.EADDRNOTAVAIL, where)
        stack.port.spend(stack.prices.open)
        made.nodelay = self._nodelay
        self._connection = made
        self.tcp.has(made)
        stack.made(made)
        await stack.output(made)
        await stack.until(lambda: made.open or made.finished,
                          f"port {port} of node {node} to take its call")
        if made.error is not None:
            self._connection = None
            raise self._error(Errno[made.error.value], where)

    # Data

    @_call
    async def send_from(self, pieces: Pieces) -> int:
        """Send what is at ``pieces`` of the process's memory, as far as the send buffer has room,
        and at least a byte; the number of bytes. Waits for room."""
        connection = await self._sending("send")
        process, stack = self.tcp.process, self._stack
        self._check(pieces, "send")
        await stack.until(lambda: connection.room or not connection.writable,
                          lambda: f"room in the send buffer to node {connection.peer}")
        self._may_send(connection, "send")
        room = connection.room
        found = memoryview(bytearray(min(room, sum([length for _, length in pieces]))))
        begin = 0
        for at, length in pieces:
            part = min(length, len(found) - begin)
            await process.touch(at, part)
            process.read_into(at, found[begin:begin + part])
            begin += part
        await stack.write(connection, found)
        await stack.spend()
        self._may_send(connection, "send")
        return begin

    async def sendall_from(self, pieces: Pieces) -> None:
        """Send all of ``pieces``."""
        left = [*pieces]
        while left:
            sent = await self.send_from(left)
            while left and sent >= left[0][1]:
                sent -= left.pop(0)[1]
            if left:
                at, length = left[0]
                left[0] = at + sent, length - sent

    @_call
    async def recv_into(self, pieces: Pieces) -> int:
        """Receive up to as many bytes as ``pieces`` have, at least one; 0 if the peer has ended its
        sending. Waits for some."""
        connection = await self._receiving("recv")
        self._check(pieces, "recv")
        stack = self._stack
        incoming = connection.incoming
        await stack.until(lambda: self.readable, lambda: f"data of node {connection.peer}")
        if not incoming.readable and connection.error is not None:
            raise self._error(Errno[connection.error.value], "recv")
        process, port, taken = self.tcp.process, stack.port, 0
        for at, length in pieces:
            part = min(length, incoming.readable)
            if not part:
                break
            port.spend(stack.prices.read)
            port.work("copy_word", -(-part // 8))
            await stack.touch(connection, stack.unread(connection), part)
            await process.touch(at, part, store=True)
            for block in connection.read(part):
                process.write(at, block)
                at += len(block)
            taken += part
        await stack.output(connection)
        await stack.spend()
        return taken

    async def send(self, data: bytes) -> int:
        """Send the beginning of ``data``; the number of bytes. Waits for room."""
        return await self.send_from([self.tcp.stage(data)]) if data else 0

    async def sendall(self, data: bytes) -> None:
        """Send ``data``."""
        for at in range(0, len(data), self.tcp.staging_bytes):
            part = data[at:at + self.tcp.staging_bytes]
            await self.sendall_from([self.tcp.stage(part)])

    async def recv(self, count: int) -> bytes:
        """Up to ``count`` bytes; none if the peer has ended its sending. Waits for some."""
        at, room = self.tcp.stage(b"")
        length = await self.recv_into([(at, min(count, room))])
        return self.tcp.process.read(at, length)

    # Closing

    @_call
    async def shutdown(self) -> None:
        """End the sending: the peer reads what was sent, then nothing. Receiving goes on."""
        connection = await self._receiving("shutdown")
        connection.shutdown()
        await self._stack.output(connection)
        await self._stack.spend()

    async def close(self) -> None:
        """Done with the socket. What was sent still goes. A second close does nothing."""
        if self._closed:
            return
        async with self._stack.lock.guarded():
            await self._close()

    async def _close(self) -> None:
        stack = self._stack
        await stack.start()
        await stack.enter()
        await stack.attend()
        stack.port.spend(stack.prices.open)
        self._closed = True
        self.tcp.sockets.remove(self)
        if self._bound is not None:
            stack.endpoints.bound.discard(self._bound)
        if self._listener is not None:
            for connection in stack.endpoints.stop(self._listener):
                self.tcp.has(connection)
                connection.close()
                await stack.output(connection)
        elif self._connection is not None:
            self._connection.close()
            await stack.output(self._connection)
        await stack.spend()
        await stack.lock.leave()

    # Errors

    def _ends(self) -> str:
        here = f"node {self._stack.node.number}"
        if self.port is not None:
            here += f" port {self.port}"
        return here if self.peer is None else f"{here} to node {self.peer[0]} port {self.peer[1]}"

    def _error(self, code: Errno, call: str) -> TcpError:
        return TcpError(code, f"{self._ends()}: {call}")

    async def _enter(self, call: str) -> None:
        stack = self._stack
        if not stack.started:
            await stack.start()
        await stack.enter()
        if self._closed:
            raise self._error(Errno.EBADF, call)
        await stack.attend()

    async def _receiving(self, call: str) -> Connection:
        await self._enter(call)
        if self._connection is None:
            raise self._error(Errno.ENOTCONN, call)
        return self._connection

    async def _sending(self, call: str) -> Connection:
        connection = await self._receiving(call)
        self._may_send(connection, call)
        return connection

    def _may_send(self, connection: Connection, call: str) -> None:
        if connection.error is not None:
            raise self._error(Errno[connection.error.value], call)
        if not connection.writable:
            raise self._error(Errno.EPIPE, call)

    def _check(self, pieces: Pieces, call: str) -> None:
        process, some = self.tcp.process, False
        for at, length in pieces:
            if not process.mapped(at, length):
                raise self._error(Errno.EFAULT, call)
            some = some or length > 0
        if not some:
            raise self._error(Errno.EINVAL, call)


class Tcp:
    """TCP for the program of a node: ``async with Tcp(node) as tcp``. At its end all sockets are
    closed, and the program waits until the peers have, too.

    Attributes
    ----------
    stack
        The kernel's part.
    process
        Whose memory it is.
    sockets
        Open sockets.
    staging_bytes
        Bytes of the buffer in which :meth:`Socket.send` and :meth:`Socket.recv` have their data.
    """

    def __init__(self, node: Node, process: Process | None = None) -> None:
        self.stack = node.kernel(Stack)
        self.process = Process(node) if process is None else process
        self.sockets: list[Socket] = []
        self._connections: set[Connection] = set()
        """Those of its sockets, also of closed ones."""
        self.staging_bytes = self.stack.settings.buffer
        self._staging = 0

    async def __aenter__(self) -> "Tcp":
        await self.stack.start()
        return self

    async def __aexit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            await self.close()

    async def close(self) -> None:
        """Close all sockets, and wait until their connections have ended."""
        for socket in [*self.sockets]:
            await socket.close()
        stack = self.stack
        async with stack.lock.held():
            await stack.until(lambda: not self._left(), lambda: "the end of its connections to "
                              + ", ".join(sorted({f"node {one.peer}" for one in self._left()})))

    def has(self, connection: Connection) -> None:
        """``connection`` is one of its sockets'."""
        self._connections = {*self._left(), connection}

    def _left(self) -> list[Connection]:
        """Its connections that have not ended."""
        return [one for one in self.stack.endpoints if one in self._connections]

    async def socket(self) -> Socket:
        """A new socket."""
        stack = self.stack
        await stack.start()
        stack.port.spend(stack.prices.open)
        await stack.enter()
        found = Socket(self)
        self.sockets.append(found)
        await stack.lock.leave()
        return found

    async def call(self, node: int, port: int, again: int = 5000, local: int | None = None
                   ) -> Socket:
        """A socket that is connected to ``port`` of ``node``, from port ``local`` or any: where
        nobody listens yet, it calls again after ``again`` cycles."""
        while True:
            socket = await self.socket()
            try:
                if local is not None:
                    await socket.bind(local)
                await socket.connect(node, port)
                return socket
            except TcpError as error:
                await socket.close()
                if error.code is not Errno.ECONNREFUSED:
                    raise
            await self.stack.compute(again)

    async def select(self, reading: Iterable[Socket] = (), writing: Iterable[Socket] = (),
                     timeout: int | None = None) -> tuple[list[Socket], list[Socket]]:
        """Wait until one of ``reading`` can be read or one of ``writing`` written, at most
        ``timeout`` cycles (None: for ever; 0: not at all); those that can."""
        stack, port = self.stack, self.stack.port
        ends = reads, writes = [*reading], [*writing]
        count = len(reads) + len(writes)
        if not stack.started:
            await stack.start()
        port.spend(stack.prices.select)
        port.work("select", count)
        await stack.spend()
        async with stack.lock.held():
            await stack.attend()
            if timeout != 0 and not self._any_ready(reads, writes):
                deadline = FAR if timeout is None else port.cycle + timeout
                await stack.until(lambda: self._any_ready(reads, writes),
                                  lambda: f"one of {count} sockets, in select", deadline)
                port.work("select", count)
                await stack.spend()
        return self._ready(*ends)

    def awaits(self, reading: Iterable[Socket], writing: Iterable[Socket]
               ) -> tuple[list[Watch], int] | None:
        """For a process that also waits for something else: the words in memory that tell that a
        packet has come, with which the NIC interrupts the CPU, and cycles after which the kernel
        has something to do (0: it has not). None if :meth:`select` would find something now."""
        if self._any_ready(reading, writing):
            return None
        return self.stack.awaits()

    async def compute(self, cycles: int) -> None:
        """Compute for ``cycles`` target cycles, interrupted by packets that come."""
        await self.stack.start()
        await self.stack.compute(cycles)

    @staticmethod
    def _any_ready(reading: Iterable[Socket], writing: Iterable[Socket]) -> bool:
        for one in reading:
            if one.readable:
                return True
        return any([one.writable for one in writing])

    @staticmethod
    def _ready(reading: list[Socket], writing: list[Socket]
               ) -> tuple[list[Socket], list[Socket]]:
        return ([one for one in reading if one.readable], [one for one in writing if one.writable])

    def stage(self, data: bytes) -> tuple[int, int]:
        """The buffer for data that are bytes of Python, with ``data`` at its beginning: address and
        length, that of the data, or of the whole buffer for none."""
        if not self._staging:
            self._staging = self.process.allocate(self.staging_bytes)
        data = data[:self.staging_bytes]
        self.process.write(self._staging, data)
        return self._staging, len(data) or self.staging_bytes


if {one.value for one in Ended} - {one.name for one in Errno}:
    raise AssertionError("the reasons for which a connection ends have no error")
