"""Errors of sockets, under the names that the field has for them."""

from enum import Enum

__all__ = ["Errno", "TcpError"]


class Errno(Enum):
    """The reason for which a call on a socket failed."""

    ECONNRESET = "the peer has reset the connection"
    ECONNREFUSED = "nobody listens there"
    ETIMEDOUT = ("the peer does not answer through tcp.retries time-outs: a node answers while it "
                 "waits and in Tcp.compute, not while Port.delay occupies its CPU")
    EPIPE = "this end has ended its sending, or the peer has gone"
    ENOTCONN = "the socket is not connected"
    EISCONN = "the socket is connected or listens"
    EINVAL = "the call has no meaning for this socket"
    EADDRINUSE = "the port is taken"
    EADDRNOTAVAIL = "all ports for callers are taken, or this pair of ports is"
    EHOSTUNREACH = "there is no such node, or it is this one"
    EBADF = "the socket is closed"
    EFAULT = "the process has no memory there"


class TcpError(OSError):
    """A call on a socket failed: ``code`` is why. The text is one line that names node, call, both
    ends and the reason."""

    def __init__(self, code: Errno, where: str) -> None:
        super().__init__(f"{where}: {code.name}: {code.value}")
        self.code = code
