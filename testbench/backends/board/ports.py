"""Serial ports: a board's, and the port of a board's top in a simulator."""

import array
import errno
import fcntl
import os
import select
import socket
import subprocess
import termios
from contextlib import suppress
from pathlib import Path
from typing import Any

from ....layouts.board import BAUD
from ...errors import UserError
from .line import LineError

__all__ = ["SocketPort", "open_port", "simulated_port"]


def open_port(path: str, baud: int = BAUD) -> Any:
    """The serial port at ``path``.

    Raises
    ------
    LineError
        The port cannot be opened.
    UserError
        pyserial is not installed.
    """
    try:
        import serial
    except ImportError:
        raise UserError("a board needs pyserial: pip install 'nicbed[board]'") from None
    try:
        port = serial.Serial(path, baud, timeout=0.1, write_timeout=5, exclusive=True)
    except (OSError, ValueError) as error:
        number = getattr(error, "errno", None)
        if number in (errno.EAGAIN, errno.EBUSY):
            raise LineError(f"{path}: another program has the serial port open: end it, or wait "
                            "until it is done") from None
        why = os.strerror(number) if number else str(error)
        raise LineError(f"{path}: the serial port cannot be opened: {why}") from None
    # FTDI's bridges hold received bytes for 16 ms unless this is changed.
    with suppress(Exception):
        port.set_low_latency_mode(True)
    return port


class SocketPort:
    """A stream socket with the interface of a serial port."""

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        self.timeout: float | None = None

    @property
    def in_waiting(self) -> int:
        """Number of bytes that have arrived."""
        waiting = array.array("i", [0])
        fcntl.ioctl(self._socket, termios.FIONREAD, waiting)
        return waiting[0]

    def read(self, size: int) -> bytes:
        """Up to ``size`` bytes; none after ``timeout`` seconds without one."""
        if not select.select([self._socket], [], [], self.timeout)[0]:
            return b""
        found = self._socket.recv(size)
        if not found:
            raise OSError("the other end is closed")
        return found

    def write(self, data: bytes) -> int:
        """Send all of ``data``."""
        self._socket.sendall(data)
        return len(data)

    def reset_input_buffer(self) -> None:
        """Drop all bytes that have arrived."""
        while self.in_waiting:
            self._socket.recv(self.in_waiting)


def simulated_port(executable: Path) -> Any:
    """A port to ``executable``, which runs a board's top at the other end and ends when the port is
    closed.

    The port is a pseudo-terminal, or a socket on a machine without pseudo-terminals, such as a bare
    container.
    """
    try:
        theirs, ours = os.openpty()
    except OSError:
        near, far = socket.socketpair()
        with far:
            _start(executable, far.fileno())
        return SocketPort(near)
    try:
        _start(executable, theirs)
        return open_port(os.ttyname(ours))
    finally:
        os.close(theirs)
        os.close(ours)


def _start(executable: Path, line: int) -> None:
    subprocess.Popen([str(executable)], pass_fds=[line], stdin=subprocess.DEVNULL,
                     env={**os.environ, "NICBED_UART_FD": str(line)})
