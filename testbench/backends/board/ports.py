"""Serial ports: a board's, and the pseudo-terminal of a board's top in a simulator."""

import os
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

from ...errors import UserError
from .. import BAUD
from .line import LineError

__all__ = ["open_port", "simulated_port"]


def open_port(path: str, baud: int = BAUD) -> Any:
    """The serial port at ``path``.

    Raises
    ------
    LineError
        It cannot be opened.
    UserError
        There is no pyserial.
    """
    try:
        import serial
    except ImportError:
        raise UserError("a board needs pyserial: pip install 'nicbed[board]'") from None
    try:
        port = serial.Serial(path, baud, timeout=0.1, write_timeout=5, exclusive=True)
    except (OSError, ValueError) as error:
        why = os.strerror(error.errno) if getattr(error, "errno", None) else str(error)
        raise LineError(f"{path}: the serial port cannot be opened: {why}") from None
    # Bridges of FTDI keep what comes for 16 ms unless they are told not to.
    with suppress(Exception):
        port.set_low_latency_mode(True)
    return port


def simulated_port(executable: Path) -> Any:
    """A port at whose other end ``executable`` runs a board's top. It ends when the port is closed.
    """
    master, slave = os.openpty()
    try:
        subprocess.Popen([str(executable)], pass_fds=[master], stdin=subprocess.DEVNULL,
                         env={**os.environ, "NICBED_UART_FD": str(master)})
        return open_port(os.ttyname(slave))
    finally:
        os.close(master)
        os.close(slave)
